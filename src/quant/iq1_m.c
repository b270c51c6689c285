/* SPDX-License-Identifier: MIT */
/*
 * | 32 bytes: place in the code book, low bits, 8 values each | 16 bytes, a nibble for 8 values: high 3 bits of the
 * place, sign of the shift | 4 times 16 bits: four scales of 3 bits, 4 bits of the half d, lowest first |
 * value = d * (1 + 2 * scale) * (entry +- 1/8)
 */
#include "grid/grid.h"
#include "iq.h"

static float scale_of_block(const uint8_t *scales)
{
	unsigned d = 0;

	for (int i = 0; i < 4; i++)
		d |= (get16(scales + 2 * i) >> 12u) << 4 * i;
	return half_value((uint16_t)d);
}

static void decode_block(float *dst, const uint8_t *b)
{
	const uint8_t *scales = b + 48;
	float d = scale_of_block(scales);

	for (int g = 0; g < 32; g++, dst += 8) {
		unsigned nibble = b[32 + g / 2] >> g % 2 * 4;
		unsigned place = b[g] | (nibble & 7) << 8;
		unsigned scale = get16(scales + g / 8 * 2) >> g % 8 / 2 * 3 & 7;

		iq_put1(dst, d * (float)(1 + 2 * scale), grid_IQ1[place], nibble >> 3 & 1);
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += IQ1_M_BYTES, dst += IQ1_M_VALUES)
		decode_block(dst, b);
}

const struct quant quant_IQ1_M = { .decode = decode };
