/* SPDX-License-Identifier: MIT */
/*
 * | 32 bytes: place in the code book, low bits, 8 values each | 16 bytes, a nibble for 8 values: high 3 bits of the
 * place, sign of the shift | 4 times 16 bits: four scales of 3 bits, 4 bits of the half d, lowest first |
 * value = d * (1 + 2 * scale) * (entry +- 1/8)
 */
#include "book.h"
#include "grid/grid.h"
#include "iq.h"

static void decode_block(float *dst, const uint8_t *b)
{
	const uint8_t *scales = b + 48;
	float d = iq1_m_d(scales);

	for (int g = 0; g < 32; g++, dst += 8) {
		unsigned nibble = b[32 + g / 2] >> g % 2 * 4;
		unsigned place = b[g] | (nibble & 7) << 8;
		unsigned scale = get16(scales + g / 8 * 2) >> g % 8 / 2 * 3 & 7;

		iq_put1(dst, d * (float)(1 + 2 * scale), grid_IQ1[place], nibble >> 3 & 1);
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += IQ1_M_BYTES, dst += IQ1_M_VALUES)
		decode_block(dst, b);
}

static const struct fit_scheme scheme = {
	.groups = 16, .width = 16, .codes_per_group = 2, .low = 0, .high = 7, .step = 0.25f, .base = 0.125f,
	.top = 9, .from = 0.4f, .to = 1.2f, .tries = 8, .pick = book_pick_shifted,
};

static void encode_block(uint8_t *b, const float *src, const struct book *book)
{
	float x[IQ1_M_VALUES];
	struct fit f;

	fit_load(x, src, IQ1_M_VALUES);
	fit_block(&scheme, book, x, &f);
	uint16_t d = half_bits(f.d);
	memset(b + 32, 0, 16);
	for (int g = 0; g < 32; g++) {
		b[g] = (uint8_t)f.code[g];
		b[32 + g / 2] |= (uint8_t)(((f.code[g] >> 8 & 7) | f.code[g] >> 24 << 3) << g % 2 * 4);
	}
	for (int i = 0; i < 4; i++) {
		const int *s = f.scale + 4 * i;

		put16(b + 48 + 2 * i, (uint16_t)(s[0] | s[1] << 3 | s[2] << 6 | s[3] << 9 | (d >> 4 * i & 15) << 12));
	}
}

static void encode(void *dst, const float *x, size_t n)
{
	struct book book = { .width = 16, .dims = 8, .count = 2048, .shift_width = 8 };
	uint8_t *b = dst;

	book_load(&book, grid_IQ1);
	for (; n--; b += IQ1_M_BYTES, x += IQ1_M_VALUES)
		encode_block(b, x, &book);
}

const struct quant quant_IQ1_M = { .decode = decode, .encode = encode };
