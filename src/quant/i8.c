/* SPDX-License-Identifier: MIT */
#include "integer.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *p = src;

	for (size_t i = 0; i < n; i++)
		dst[i] = (float)(int8_t)p[i];
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *p = dst;

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)nearest_integer(x[i], 8);
}

const struct quant quant_I8 = { .decode = decode, .encode = encode };
