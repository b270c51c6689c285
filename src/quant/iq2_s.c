/* SPDX-License-Identifier: MIT */
/*
 * | half d | 32 bytes: place in the code book, low bits | 32 bytes of signs | 8 bytes: high 2 bits of 32 places |
 * | 8 bytes: 16 scales of 4 bits |; value = d * (scale + 1/2) / 4 * entry
 */
#include "book.h"
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

static const struct fit_scheme scheme = {
	.groups = 16, .width = 16, .codes_per_group = 2, .low = 0, .high = 15, .step = 0.25f, .base = 0.125f,
	.top = 43, .from = 0.6f, .to = 1.3f, .tries = 8, .pick = book_pick,
};

static void encode_block(uint8_t *b, const float *src, const struct book *book)
{
	float x[IQ2_S_VALUES];
	struct fit f;

	fit_load(x, src, IQ2_S_VALUES);
	fit_block(&scheme, book, x, &f);
	put_half(b, f.d);
	memset(b + 66, 0, 8);
	for (int g = 0; g < 32; g++) {
		b[2 + g] = (uint8_t)f.code[g];
		b[34 + g] = (uint8_t)(f.code[g] >> 24);
		b[66 + g / 4] |= (uint8_t)((f.code[g] >> 8 & 3) << g % 4 * 2);
	}
	for (int g = 0; g < 8; g++)
		b[74 + g] = (uint8_t)(f.scale[2 * g] | f.scale[2 * g + 1] << 4);
}

static void encode(void *dst, const float *x, size_t n)
{
	struct book book = { .width = 16, .dims = 8, .count = 1024 };
	uint8_t *b = dst;

	book_load(&book, grid_IQ2_S);
	for (; n--; b += IQ2_S_BYTES, x += IQ2_S_VALUES)
		encode_block(b, x, &book);
}

const struct quant quant_IQ2_S = { .decode = decode, .encode = encode };
