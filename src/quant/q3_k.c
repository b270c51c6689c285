/* SPDX-License-Identifier: MIT */
/*
 * | 32 bytes of third bits | 64 bytes of 2-bit q | 12 bytes: 16 scales of 6 bits, offset 32 | half d |
 * 16 values share a scale; value = d * scale * (q - 4). Of each 128 values, value i has its low bits in byte i % 32 at
 * 2 * (i / 32); the third bit of value i of 256 is bit i / 32 of byte i % 32.
 */
#include "fit.h"
#include "k.h"

static void decode_block(float *dst, const uint8_t *b)
{
	float d = get_half(b + 108);

	for (int g = 0; g < 16; g++) {
		const uint8_t *high = b + g % 2 * 16, *low = b + 32 + g / 8 * 32 + g % 2 * 16;
		int shift = g % 8 / 2 * 2, bit = g / 2;
		float scale = d * (float)q3_k_scale(b + 96, g);

		for (int i = 0; i < 16; i++)
			dst[16 * g + i] = scale * (float)((low[i] >> shift & 3) + (high[i] >> bit & 1) * 4 - 4);
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q3_K_BYTES, dst += Q3_K_VALUES)
		decode_block(dst, b);
}

static const struct fit_range levels = { 16, -4, 3 };
static const struct fit_scheme scheme = {
	.groups = 16, .width = 16, .codes_per_group = 16, .low = -32, .high = 31, .step = 1,
	.top = 4, .from = 0.6f, .to = 1.25f, .tries = 16, .both = true, .pick = fit_pick_range, .set = &levels,
};

static void encode_block(uint8_t *b, const float *src)
{
	float x[Q3_K_VALUES];
	struct fit f;

	fit_load(x, src, Q3_K_VALUES);
	fit_block(&scheme, NULL, x, &f);
	memset(b, 0, Q3_K_BYTES);
	for (int i = 0; i < Q3_K_VALUES; i++) {
		b[i % 32] |= (uint8_t)(f.code[i] >> 2 << i / 32);
		b[32 + i / 128 * 32 + i % 32] |= (uint8_t)((f.code[i] & 3) << i % 128 / 32 * 2);
	}
	for (int g = 0; g < 16; g++) {
		int s = f.scale[g] + 32;

		b[96 + g % 8] |= (uint8_t)((s & 15) << g / 8 * 4);
		b[104 + g % 4] |= (uint8_t)(s >> 4 << g / 4 * 2);
	}
	put_half(b + 108, f.d);
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *b = dst;

	for (; n--; b += Q3_K_BYTES, x += Q3_K_VALUES)
		encode_block(b, x);
}

const struct quant quant_Q3_K = { .decode = decode, .encode = encode };
