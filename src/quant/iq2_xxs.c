/* SPDX-License-Identifier: MIT */
/*
 * | half d | 8 groups of 32 values: 4 bytes of places in the code book, then 32 bits: four times 7 signs, 4 bits scale |
 * value = d * (scale + 1/2) / 4 * entry
 */
#include "grid/grid.h"
#include "iq.h"

static void decode_block(float *dst, const uint8_t *b)
{
	float d = get_half(b);

	for (int g = 0; g < 8; g++) {
		const uint8_t *place = b + 2 + 8 * g;
		uint32_t rest = get32(place + 4);
		float scale = d * ((float)(rest >> 28) + 0.5f) * 0.25f;

		for (int i = 0; i < 4; i++, dst += 8)
			iq_put8(dst, scale, grid_IQ2_XXS[place[i]], even_signs(rest >> 7 * i & 127));
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += IQ2_XXS_BYTES, dst += IQ2_XXS_VALUES)
		decode_block(dst, b);
}

const struct quant quant_IQ2_XXS = { .decode = decode };
