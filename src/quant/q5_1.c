/* SPDX-License-Identifier: MIT */
/* | half d, m | 32 fifth bits | 16 bytes: low nibbles are values 0-15, high nibbles 16-31 |; value = d * q + m */
#include "quant.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q5_1_BYTES, dst += Q5_1_VALUES) {
		float d = get_half(b), m = get_half(b + 2);
		uint32_t high = get32(b + 4);

		for (int i = 0; i < 16; i++) {
			dst[i] = d * (float)((b[8 + i] & 15) | (high >> i & 1) << 4) + m;
			dst[i + 16] = d * (float)(b[8 + i] >> 4 | (high >> (i + 16) & 1) << 4) + m;
		}
	}
}

const struct quant quant_Q5_1 = { .decode = decode };
