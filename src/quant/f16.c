/* SPDX-License-Identifier: MIT */
#include "quant.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *p = src;

	for (size_t i = 0; i < n; i++)
		dst[i] = get_half(p + F16_BYTES * i);
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *p = dst;

	for (size_t i = 0; i < n; i++)
		put16(p + F16_BYTES * i, half_bits(not_nan(x[i])));
}

const struct quant quant_F16 = { .decode = decode, .encode = encode };
