/* SPDX-License-Identifier: MIT */
/* | half d | 16 bytes of 128 bits, lowest first |; value = d where the bit is set, else -d */
#include <math.h>
#include "fit.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q1_0_BYTES, dst += Q1_0_VALUES) {
		float d = get_half(b);

		for (int i = 0; i < Q1_0_VALUES; i++)
			dst[i] = b[2 + i / 8] >> i % 8 & 1 ? d : -d;
	}
}

static void encode_block(uint8_t *b, const float *src)
{
	float x[Q1_0_VALUES];
	double sum = 0;

	fit_load(x, src, Q1_0_VALUES);
	memset(b, 0, Q1_0_BYTES);
	for (int i = 0; i < Q1_0_VALUES; i++) {
		sum += fabs((double)x[i]);
		b[2 + i / 8] |= (uint8_t)((x[i] >= 0) << i % 8);
	}
	put_half(b, fit_half((float)(sum / Q1_0_VALUES)));
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *b = dst;

	for (; n--; b += Q1_0_BYTES, x += Q1_0_VALUES)
		encode_block(b, x);
}

const struct quant quant_Q1_0 = { .decode = decode, .encode = encode };
