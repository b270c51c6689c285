/* SPDX-License-Identifier: MIT */
/*
 * | 16 bytes: a scale in the low nibble, a minimum in the high one | 64 bytes of 2-bit q | half d, dmin |
 * 16 values share scale and minimum; value = d * scale * q - dmin * minimum. Of each 128 values, value i has its q in
 * byte i % 32, bits 2 * (i / 32).
 */
#include "fit.h"

static void decode_block(float *dst, const uint8_t *b)
{
	const uint8_t *q = b + 16;
	float d = get_half(b + 80), dmin = get_half(b + 82);

	for (int g = 0; g < 16; g++) {
		const uint8_t *p = q + g / 8 * 32 + g % 2 * 16;
		int shift = g % 8 / 2 * 2;
		float scale = d * (float)(b[g] & 15), min = dmin * (float)(b[g] >> 4);

		for (int i = 0; i < 16; i++)
			dst[16 * g + i] = scale * (float)(p[i] >> shift & 3) - min;
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q2_K_BYTES, dst += Q2_K_VALUES)
		decode_block(dst, b);
}

static const struct affine_scheme scheme = {
	.groups = 16, .width = 16, .top = 3, .low = 0, .high = 15, .tries = 16,
};

static void encode_block(uint8_t *b, const float *src)
{
	float x[Q2_K_VALUES];
	struct affine a;

	fit_load(x, src, Q2_K_VALUES);
	affine_block(&scheme, x, &a);
	for (int g = 0; g < 16; g++)
		b[g] = (uint8_t)(a.scale[g] | a.min[g] << 4);
	for (int i = 0; i < 64; i++) {
		const int32_t *q = a.q + i / 32 * 128 + i % 32;

		b[16 + i] = (uint8_t)(q[0] | q[32] << 2 | q[64] << 4 | q[96] << 6);
	}
	put_half(b + 80, a.d);
	put_half(b + 82, a.dmin);
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *b = dst;

	for (; n--; b += Q2_K_BYTES, x += Q2_K_VALUES)
		encode_block(b, x);
}

const struct quant quant_Q2_K = { .decode = decode, .encode = encode };
