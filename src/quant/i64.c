/* SPDX-License-Identifier: MIT */
#include "integer.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *p = src;

	for (size_t i = 0; i < n; i++)
		dst[i] = (float)(int64_t)get64(p + I64_BYTES * i);
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *p = dst;

	for (size_t i = 0; i < n; i++)
		put64(p + I64_BYTES * i, (uint64_t)nearest_integer(x[i], 64));
}

const struct quant quant_I64 = { .decode = decode, .encode = encode };
