/* SPDX-License-Identifier: MIT */
#include "integer.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *p = src;

	for (size_t i = 0; i < n; i++)
		dst[i] = (float)(int32_t)get32(p + I32_BYTES * i);
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *p = dst;

	for (size_t i = 0; i < n; i++)
		put32(p + I32_BYTES * i, (uint32_t)nearest_integer(x[i], 32));
}

const struct quant quant_I32 = { .decode = decode, .encode = encode };
