/* SPDX-License-Identifier: MIT */
/* | half d | 16 bytes: low nibbles are values 0-15, high nibbles 16-31 |; value = d * iq4_values[q] */
#include "iq.h"

const int8_t iq4_values[16] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += IQ4_NL_BYTES, dst += IQ4_NL_VALUES) {
		float d = get_half(b);

		for (int i = 0; i < 16; i++) {
			dst[i] = d * (float)iq4_values[b[2 + i] & 15];
			dst[i + 16] = d * (float)iq4_values[b[2 + i] >> 4];
		}
	}
}

const struct quant quant_IQ4_NL = { .decode = decode };
