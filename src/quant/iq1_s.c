/* SPDX-License-Identifier: MIT */
/*
 * | half d | 32 bytes: place in the code book, low bits, 8 values each | 8 times 16 bits for 32 values: four times the
 * high 3 bits of a place, 3 bits scale, sign of the shift |; value = d * (1 + 2 * scale) * (entry +- 1/8)
 */
#include "grid/grid.h"
#include "iq.h"

static void decode_block(float *dst, const uint8_t *b)
{
	float d = get_half(b);

	for (int g = 0; g < 32; g++, dst += 8) {
		unsigned high = get16(b + 34 + g / 4 * 2);
		unsigned place = b[2 + g] | (high >> g % 4 * 3 & 7) << 8;

		iq_put1(dst, d * (float)(1 + 2 * (high >> 12 & 7)), grid_IQ1[place], high >> 15);
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += IQ1_S_BYTES, dst += IQ1_S_VALUES)
		decode_block(dst, b);
}

const struct quant quant_IQ1_S = { .decode = decode };
