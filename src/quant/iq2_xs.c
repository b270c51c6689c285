/* SPDX-License-Identifier: MIT */
/*
 * | half d | 32 times 16 bits for 8 values: 9 bits place in the code book, 7 signs | 8 bytes: 16 scales of 4 bits |
 * value = d * (scale + 1/2) / 4 * entry
 */
#include "grid/grid.h"
#include "iq.h"

static void decode_block(float *dst, const uint8_t *b)
{
	float d = get_half(b);

	for (int g = 0; g < 32; g++, dst += 8) {
		unsigned q = get16(b + 2 + 2 * g), scale = b[66 + g / 4] >> g % 4 / 2 * 4 & 15;

		iq_put8(dst, d * ((float)scale + 0.5f) * 0.25f, grid_IQ2_XS[q & 511], even_signs(q >> 9));
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += IQ2_XS_BYTES, dst += IQ2_XS_VALUES)
		decode_block(dst, b);
}

const struct quant quant_IQ2_XS = { .decode = decode };
