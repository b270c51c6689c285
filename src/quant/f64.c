/* SPDX-License-Identifier: MIT */
#include "quant.h"

static double get_double(const uint8_t *p)
{
	uint64_t bits = get64(p);
	double d;

	memcpy(&d, &bits, sizeof d);
	return d;
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *p = src;

	for (size_t i = 0; i < n; i++)
		dst[i] = (float)get_double(p + F64_BYTES * i);
}

const struct quant quant_F64 = { .decode = decode };
