/* SPDX-License-Identifier: MIT */
/*
 * | half d | 64 bytes: place in the code book, low bits, 4 values each | 8 bytes: ninth bits of 64 places |
 * | 32 bytes of signs | 4 bytes: 8 scales of 4 bits |; value = d * (1 + 2 * scale) * entry
 */
#include "grid/grid.h"
#include "iq.h"

static void decode_block(float *dst, const uint8_t *b)
{
	float d = get_half(b);

	for (int g = 0; g < 64; g++, dst += 4) {
		unsigned place = b[2 + g] | (b[66 + g / 8] >> g % 8 & 1u) << 8;
		unsigned scale = b[106 + g / 16] >> g % 16 / 8 * 4 & 15;

		iq_put4(dst, d * (float)(1 + 2 * scale), grid_IQ3_S[place], b[74 + g / 2] >> g % 2 * 4);
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += IQ3_S_BYTES, dst += IQ3_S_VALUES)
		decode_block(dst, b);
}

const struct quant quant_IQ3_S = { .decode = decode };
