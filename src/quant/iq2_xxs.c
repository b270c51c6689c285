/* SPDX-License-Identifier: MIT */
/*
 * | half d | 8 groups of 32 values: 4 bytes of places in the code book, 32 bits: four times 7 signs, 4 bits scale |
 * value = d * (scale + 1/2) / 4 * entry
 */
#include "book.h"
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

static const struct fit_scheme scheme = {
	.groups = 8, .width = 32, .codes_per_group = 4, .low = 0, .high = 15, .step = 0.25f, .base = 0.125f,
	.top = 43, .from = 0.6f, .to = 1.3f, .tries = 8, .pick = book_pick,
};

static void encode_block(uint8_t *b, const float *src, const struct book *book)
{
	float x[IQ2_XXS_VALUES];
	struct fit f;

	fit_load(x, src, IQ2_XXS_VALUES);
	fit_block(&scheme, book, x, &f);
	put_half(b, f.d);
	for (int g = 0; g < 8; g++) {
		uint32_t rest = (uint32_t)f.scale[g] << 28;

		for (int i = 0; i < 4; i++) {
			b[2 + 8 * g + i] = (uint8_t)f.code[4 * g + i];
			rest |= (f.code[4 * g + i] >> 24 & 127) << 7 * i;
		}
		put32(b + 2 + 8 * g + 4, rest);
	}
}

static void encode(void *dst, const float *x, size_t n)
{
	struct book book = { .width = 32, .dims = 8, .count = 256, .even = true };
	uint8_t *b = dst;

	book_load(&book, grid_IQ2_XXS);
	for (; n--; b += IQ2_XXS_BYTES, x += IQ2_XXS_VALUES)
		encode_block(b, x, &book);
}

const struct quant quant_IQ2_XXS = { .decode = decode, .encode = encode };
