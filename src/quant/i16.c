/* SPDX-License-Identifier: MIT */
#include "integer.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *p = src;

	for (size_t i = 0; i < n; i++)
		dst[i] = (float)(int16_t)get16(p + I16_BYTES * i);
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *p = dst;

	for (size_t i = 0; i < n; i++)
		put16(p + I16_BYTES * i, (uint16_t)nearest_integer(x[i], 16));
}

const struct quant quant_I16 = { .decode = decode, .encode = encode };
