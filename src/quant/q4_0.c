/* SPDX-License-Identifier: MIT */
/* | half d | 16 bytes: low nibbles are values 0-15, high nibbles 16-31 |; value = d * (q - 8) */
#include "quant.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q4_0_BYTES, dst += Q4_0_VALUES) {
		float d = get_half(b);

		for (int i = 0; i < 16; i++) {
			dst[i] = d * (float)((b[2 + i] & 15) - 8);
			dst[i + 16] = d * (float)((b[2 + i] >> 4) - 8);
		}
	}
}

const struct quant quant_Q4_0 = { .decode = decode };
