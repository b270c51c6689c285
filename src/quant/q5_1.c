/* SPDX-License-Identifier: MIT */
/* | half d, m | 32 fifth bits | 16 bytes: low nibbles are values 0-15, high nibbles 16-31 |; value = d * q + m */
#include "fit.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q5_1_BYTES, dst += Q5_1_VALUES) {
		float d = get_half(b), m = get_half(b + 2);
		uint32_t high = get32(b + 4);

		for (int i = 0; i < 16; i++) {
			dst[i] = d * (float)((b[8 + i] & 15) | (high >> i & 1) << 4) + m;
			dst[i + 16] = d * (float)(b[8 + i] >> 4 | (high >> (i + 16) & 1) << 4) + m;
		}
	}
}

static const struct affine_scheme scheme = {
	.groups = 1, .width = Q5_1_VALUES, .top = 31, .low = 1, .high = 1, .free = true, .tries = 16,
};

static void encode_block(uint8_t *b, const float *src)
{
	float x[Q5_1_VALUES];
	uint32_t high = 0;
	struct affine a;

	fit_load(x, src, Q5_1_VALUES);
	affine_block(&scheme, x, &a);
	put_half(b, a.d);
	put_half(b + 2, -a.dmin);
	for (int i = 0; i < Q5_1_VALUES; i++)
		high |= (uint32_t)a.q[i] >> 4 << i;
	put32(b + 4, high);
	for (int i = 0; i < 16; i++)
		b[8 + i] = (uint8_t)((a.q[i] & 15) | a.q[i + 16] << 4);
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *b = dst;

	for (; n--; b += Q5_1_BYTES, x += Q5_1_VALUES)
		encode_block(b, x);
}

const struct quant quant_Q5_1 = { .decode = decode, .encode = encode };
