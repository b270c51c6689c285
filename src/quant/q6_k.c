/* SPDX-License-Identifier: MIT */
/*
 * | 128 bytes of low nibbles | 64 bytes of high 2 bits | 16 signed scales | half d |
 * 16 values share a scale; value = d * scale * (q - 32). Of each 128 values, value i has its low bits in byte i % 64,
 * low nibble first, its high bits in byte i % 32 at 2 * (i / 32).
 */
#include "fit.h"

static void decode_block(float *dst, const uint8_t *b)
{
	const int8_t *scales = (const int8_t *)b + 192;
	float d = get_half(b + 208);

	for (int g = 0; g < 16; g++) {
		const uint8_t *low = b + g / 8 * 64 + g % 4 * 16, *high = b + 128 + g / 8 * 32 + g % 2 * 16;
		int nibble = g % 8 / 4 * 4, pair = g % 8 / 2 * 2;
		float scale = d * (float)scales[g];

		for (int i = 0; i < 16; i++)
			dst[16 * g + i] = scale * (float)(((low[i] >> nibble & 15) | (high[i] >> pair & 3) << 4) - 32);
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q6_K_BYTES, dst += Q6_K_VALUES)
		decode_block(dst, b);
}

static const struct fit_range levels = { 16, -32, 31 };
static const struct fit_scheme scheme = {
	.groups = 16, .width = 16, .codes_per_group = 16, .low = -128, .high = 127, .step = 1,
	.top = 32, .from = 0.95f, .to = 1.04f, .tries = 12, .both = true, .pick = fit_pick_range, .set = &levels,
};

static void encode_block(uint8_t *b, const float *src)
{
	float x[Q6_K_VALUES];
	struct fit f;

	fit_load(x, src, Q6_K_VALUES);
	fit_block(&scheme, NULL, x, &f);
	memset(b, 0, 192);
	for (int i = 0; i < Q6_K_VALUES; i++) {
		b[i / 128 * 64 + i % 64] |= (uint8_t)((f.code[i] & 15) << i % 128 / 64 * 4);
		b[128 + i / 128 * 32 + i % 32] |= (uint8_t)(f.code[i] >> 4 << i % 128 / 32 * 2);
	}
	for (int g = 0; g < 16; g++)
		b[192 + g] = (uint8_t)f.scale[g];
	put_half(b + 208, f.d);
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *b = dst;

	for (; n--; b += Q6_K_BYTES, x += Q6_K_VALUES)
		encode_block(b, x);
}

const struct quant quant_Q6_K = { .decode = decode, .encode = encode };
