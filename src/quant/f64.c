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

static void put_double(uint8_t *p, double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof bits);
	put64(p, bits);
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *p = dst;

	for (size_t i = 0; i < n; i++)
		put_double(p + F64_BYTES * i, (double)not_nan(x[i]));
}

const struct quant quant_F64 = { .decode = decode, .encode = encode };
