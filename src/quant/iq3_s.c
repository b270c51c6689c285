/* SPDX-License-Identifier: MIT */
/*
 * | half d | 64 bytes: place in the code book, low bits, 4 values each | 8 bytes: ninth bits of 64 places |
 * | 32 bytes of signs | 4 bytes: 8 scales of 4 bits |; value = d * (1 + 2 * scale) * entry
 */
#include "book.h"
#include "grid/grid.h"
#include "iq.h"

static void decode_block(float *dst, const uint8_t *b)
{
	float d = get_half(b);

	for (int g = 0; g < 64; g++, dst += 4) {
		unsigned place = b[2 + g] | (b[66 + g / 8] >> g % 8 & 1u) << 8;
		unsigned scale = b[106 + g / 16] >> g % 16 / 8 * 4 & 15;

		iq_put4(dst, d * (float)(1 + 2 * scale), grid_IQ3_S[place], b[74 + g / 2] >> g % 2 * 4);
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += IQ3_S_BYTES, dst += IQ3_S_VALUES)
		decode_block(dst, b);
}

static const struct fit_scheme scheme = {
	.groups = 8, .width = 32, .codes_per_group = 4, .low = 0, .high = 15, .step = 2, .base = 1,
	.top = 15, .from = 0.7f, .to = 1.2f, .tries = 10, .pick = book_pick,
};

static void encode_block(uint8_t *b, const float *src, const struct book *book)
{
	float x[IQ3_S_VALUES];
	struct fit f;

	fit_load(x, src, IQ3_S_VALUES);
	fit_block(&scheme, book, x, &f);
	put_half(b, f.d);
	memset(b + 66, 0, 8);
	for (int g = 0; g < 32; g++) {
		uint32_t first = f.code[g] & 511, second = f.code[g] >> 12 & 511;

		b[2 + 2 * g] = (uint8_t)first;
		b[2 + 2 * g + 1] = (uint8_t)second;
		b[66 + g / 4] |= (uint8_t)((first >> 8 | second >> 8 << 1) << g % 4 * 2);
		b[74 + g] = (uint8_t)(f.code[g] >> 24);
	}
	for (int g = 0; g < 4; g++)
		b[106 + g] = (uint8_t)(f.scale[2 * g] | f.scale[2 * g + 1] << 4);
}

static void encode(void *dst, const float *x, size_t n)
{
	struct book book = { .width = 32, .dims = 4, .count = 512 };
	uint8_t *b = dst;

	book_load(&book, grid_IQ3_S);
	for (; n--; b += IQ3_S_BYTES, x += IQ3_S_VALUES)
		encode_block(b, x, &book);
}

const struct quant quant_IQ3_S = { .decode = decode, .encode = encode };
