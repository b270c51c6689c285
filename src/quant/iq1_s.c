/* SPDX-License-Identifier: MIT */
/*
 * | half d | 32 bytes: place in the code book, low bits, 8 values each | 8 times 16 bits for 32 values: four times the
 * high 3 bits of a place, 3 bits scale, sign of the shift |; value = d * (1 + 2 * scale) * (entry +- 1/8)
 */
#include "book.h"
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

static const struct fit_scheme scheme = {
	.groups = 8, .width = 32, .codes_per_group = 4, .low = 0, .high = 7, .step = 0.25f, .base = 0.125f,
	.top = 9, .from = 0.4f, .to = 1.2f, .tries = 8, .pick = book_pick_shifted,
};

static void encode_block(uint8_t *b, const float *src, const struct book *book)
{
	float x[IQ1_S_VALUES];
	struct fit f;

	fit_load(x, src, IQ1_S_VALUES);
	fit_block(&scheme, book, x, &f);
	put_half(b, f.d);
	for (int g = 0; g < 8; g++) {
		uint32_t high = (uint32_t)f.scale[g] << 12 | f.code[4 * g] >> 24 << 15;

		for (int i = 0; i < 4; i++) {
			b[2 + 4 * g + i] = (uint8_t)f.code[4 * g + i];
			high |= (f.code[4 * g + i] >> 8 & 7) << 3 * i;
		}
		put16(b + 34 + 2 * g, (uint16_t)high);
	}
}

static void encode(void *dst, const float *x, size_t n)
{
	struct book book = { .width = 32, .dims = 8, .count = 2048, .shift_width = 32 };
	uint8_t *b = dst;

	book_load(&book, grid_IQ1);
	for (; n--; b += IQ1_S_BYTES, x += IQ1_S_VALUES)
		encode_block(b, x, &book);
}

const struct quant quant_IQ1_S = { .decode = decode, .encode = encode };
