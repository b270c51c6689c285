/* SPDX-License-Identifier: MIT */
/*
 * | half d, dmin | 12 bytes: 8 scales and 8 minima of 6 bits | 32 bytes of fifth bits | 128 bytes of nibbles |
 * As Q4_K; the fifth bit of value i of 256 is bit i / 32 of byte i % 32.
 */
#include "k.h"
#include "fit.h"

static void decode_block(float *dst, const uint8_t *b)
{
	const uint8_t *high = b + 16;
	float d = get_half(b), dmin = get_half(b + 2);

	for (int g = 0; g < 8; g++) {
		const uint8_t *q = b + 48 + g / 2 * 32;
		int shift = g % 2 * 4;
		float scale = d * (float)k_scale(b + 4, g), min = dmin * (float)k_min(b + 4, g);

		for (int i = 0; i < 32; i++)
			dst[32 * g + i] = scale * (float)((q[i] >> shift & 15) | (high[i] >> g & 1) << 4) - min;
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q5_K_BYTES, dst += Q5_K_VALUES)
		decode_block(dst, b);
}

static const struct affine_scheme scheme = {
	.groups = 8, .width = 32, .top = 31, .low = 0, .high = 63, .tries = 12,
};

static void encode_block(uint8_t *b, const float *src)
{
	float x[Q5_K_VALUES];
	struct affine a;

	fit_load(x, src, Q5_K_VALUES);
	affine_block(&scheme, x, &a);
	put_half(b, a.d);
	put_half(b + 2, a.dmin);
	k_put(b + 4, a.scale, a.min);
	memset(b + 16, 0, 32);
	for (int i = 0; i < Q5_K_VALUES; i++)
		b[16 + i % 32] |= (uint8_t)(a.q[i] >> 4 << i / 32);
	for (int i = 0; i < 128; i++) {
		const int32_t *q = a.q + i / 32 * 64 + i % 32;

		b[48 + i] = (uint8_t)((q[0] & 15) | q[32] << 4);
	}
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *b = dst;

	for (; n--; b += Q5_K_BYTES, x += Q5_K_VALUES)
		encode_block(b, x);
}

const struct quant quant_Q5_K = { .decode = decode, .encode = encode };
