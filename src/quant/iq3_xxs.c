/* SPDX-License-Identifier: MIT */
/*
 * | half d | 64 bytes: place in the code book, 4 values each | 8 times 32 bits: four times 7 signs, 4 bits scale |
 * value = d * (scale + 1/2) / 2 * entry
 */
#include "book.h"
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

static const struct fit_scheme scheme = {
	.groups = 8, .width = 32, .codes_per_group = 4, .low = 0, .high = 15, .step = 0.5f, .base = 0.25f,
	.top = 62, .from = 0.7f, .to = 1.2f, .tries = 10, .pick = book_pick,
};

static void encode_block(uint8_t *b, const float *src, const struct book *book)
{
	float x[IQ3_XXS_VALUES];
	struct fit f;

	fit_load(x, src, IQ3_XXS_VALUES);
	fit_block(&scheme, book, x, &f);
	put_half(b, f.d);
	for (int g = 0; g < 8; g++) {
		uint32_t rest = (uint32_t)f.scale[g] << 28;

		for (int i = 0; i < 4; i++) {
			uint32_t code = f.code[4 * g + i];

			b[2 + 8 * g + 2 * i] = (uint8_t)code;
			b[2 + 8 * g + 2 * i + 1] = (uint8_t)(code >> 12);
			rest |= (code >> 24 & 127) << 7 * i;
		}
		put32(b + 66 + 4 * g, rest);
	}
}

static void encode(void *dst, const float *x, size_t n)
{
	struct book book = { .width = 32, .dims = 4, .count = 256, .even = true };
	uint8_t *b = dst;

	book_load(&book, grid_IQ3_XXS);
	for (; n--; b += IQ3_XXS_BYTES, x += IQ3_XXS_VALUES)
		encode_block(b, x, &book);
}

const struct quant quant_IQ3_XXS = { .decode = decode, .encode = encode };
