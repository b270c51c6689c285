/* SPDX-License-Identifier: MIT */
/* | half d | 32 fifth bits | 16 bytes: low nibbles are values 0-15, high nibbles 16-31 |; value = d * (q - 16) */
#include "quant.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q5_0_BYTES, dst += Q5_0_VALUES) {
		float d = get_half(b);
		uint32_t high = get32(b + 2);

		for (int i = 0; i < 16; i++) {
			dst[i] = d * (float)((int)((b[6 + i] & 15) | (high >> i & 1) << 4) - 16);
			dst[i + 16] = d * (float)((int)(b[6 + i] >> 4 | (high >> (i + 16) & 1) << 4) - 16);
		}
	}
}

const struct quant quant_Q5_0 = { .decode = decode };
