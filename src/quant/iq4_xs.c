/* SPDX-License-Identifier: MIT */
/*
 * | half d | 16 bits: high 2 bits of 8 scales | 4 bytes: their low 4 bits | 8 times 16 bytes of nibbles as in IQ4_NL |
 * 32 values share a scale; value = d * (scale - 32) * iq4_values[q]
 */
#include "iq.h"

static void decode_block(float *dst, const uint8_t *b)
{
	float d = get_half(b);
	unsigned high = get16(b + 2);

	for (int g = 0; g < 8; g++, dst += 32) {
		const uint8_t *q = b + 8 + 16 * g;
		unsigned s = (b[4 + g / 2] >> g % 2 * 4 & 15) | (high >> 2 * g & 3) << 4;
		float scale = d * (float)((int)s - 32);

		for (int i = 0; i < 16; i++) {
			dst[i] = scale * (float)iq4_values[q[i] & 15];
			dst[i + 16] = scale * (float)iq4_values[q[i] >> 4];
		}
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += IQ4_XS_BYTES, dst += IQ4_XS_VALUES)
		decode_block(dst, b);
}

const struct quant quant_IQ4_XS = { .decode = decode };
