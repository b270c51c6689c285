/* SPDX-License-Identifier: MIT */
/*
 * | half d | 64 bytes: place in the code book, 4 values each | 8 times 32 bits: four times 7 signs, 4 bits scale |
 * value = d * (scale + 1/2) / 2 * entry
 */
#include "grid/grid.h"
#include "iq.h"

static void decode_block(float *dst, const uint8_t *b)
{
	float d = get_half(b);

	for (int g = 0; g < 8; g++) {
		const uint8_t *place = b + 2 + 8 * g;
		uint32_t rest = get32(b + 66 + 4 * g);
		float scale = d * ((float)(rest >> 28) + 0.5f) * 0.5f;

		for (int i = 0; i < 4; i++, dst += 8) {
			unsigned signs = even_signs(rest >> 7 * i & 127);

			iq_put4(dst, scale, grid_IQ3_XXS[place[2 * i]], signs);
			iq_put4(dst + 4, scale, grid_IQ3_XXS[place[2 * i + 1]], signs >> 4);
		}
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += IQ3_XXS_BYTES, dst += IQ3_XXS_VALUES)
		decode_block(dst, b);
}

const struct quant quant_IQ3_XXS = { .decode = decode };
