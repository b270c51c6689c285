/* SPDX-License-Identifier: MIT */
/*
 * | half d | 32 times 16 bits for 8 values: 9 bits place in the code book, 7 signs | 8 bytes: 16 scales of 4 bits |
 * value = d * (scale + 1/2) / 4 * entry
 */
#include "book.h"
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

static const struct fit_scheme scheme = {
	.groups = 16, .width = 16, .codes_per_group = 2, .low = 0, .high = 15, .step = 0.25f, .base = 0.125f,
	.top = 43, .from = 0.6f, .to = 1.3f, .tries = 8, .pick = book_pick,
};

static void encode_block(uint8_t *b, const float *src, const struct book *book)
{
	float x[IQ2_XS_VALUES];
	struct fit f;

	fit_load(x, src, IQ2_XS_VALUES);
	fit_block(&scheme, book, x, &f);
	put_half(b, f.d);
	for (int g = 0; g < 32; g++)
		put16(b + 2 + 2 * g, (uint16_t)((f.code[g] & 511) | (f.code[g] >> 24 & 127) << 9));
	for (int g = 0; g < 8; g++)
		b[66 + g] = (uint8_t)(f.scale[2 * g] | f.scale[2 * g + 1] << 4);
}

static void encode(void *dst, const float *x, size_t n)
{
	struct book book = { .width = 16, .dims = 8, .count = 512, .even = true };
	uint8_t *b = dst;

	book_load(&book, grid_IQ2_XS);
	for (; n--; b += IQ2_XS_BYTES, x += IQ2_XS_VALUES)
		encode_block(b, x, &book);
}

const struct quant quant_IQ2_XS = { .decode = decode, .encode = encode };
