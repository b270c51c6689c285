/* SPDX-License-Identifier: MIT */
/*
 * | half d | 32 bytes: place in the code book, low bits | 32 bytes of signs | 8 bytes: high 2 bits of 32 places |
 * | 8 bytes: 16 scales of 4 bits |; value = d * (scale + 1/2) / 4 * entry
 */
#include "grid/grid.h"
#include "iq.h"

static void decode_block(float *dst, const uint8_t *b)
{
	float d = get_half(b);

	for (int g = 0; g < 32; g++, dst += 8) {
		unsigned place = b[2 + g] | (b[66 + g / 4] >> g % 4 * 2 & 3u) << 8;
		unsigned scale = b[74 + g / 4] >> g % 4 / 2 * 4 & 15;

		iq_put8(dst, d * ((float)scale + 0.5f) * 0.25f, grid_IQ2_S[place], b[34 + g]);
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += IQ2_S_BYTES, dst += IQ2_S_VALUES)
		decode_block(dst, b);
}

const struct quant quant_IQ2_S = { .decode = decode };
