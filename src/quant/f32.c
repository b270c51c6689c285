/* SPDX-License-Identifier: MIT */
#include "quant.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *p = src;

	for (size_t i = 0; i < n; i++)
		dst[i] = get_float(p + F32_BYTES * i);
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *p = dst;

	for (size_t i = 0; i < n; i++)
		put32(p + F32_BYTES * i, bits_of_float(not_nan(x[i])));
}

const struct quant quant_F32 = { .decode = decode, .encode = encode };
