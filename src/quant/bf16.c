/* SPDX-License-Identifier: MIT */
/* The upper half of a float. */
#include "quant.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *p = src;

	for (size_t i = 0; i < n; i++)
		dst[i] = float_of_bits((uint32_t)get16(p + BF16_BYTES * i) << 16);
}

/* Nearest, ties to even; not for NaN. */
static uint16_t bfloat_bits(float f)
{
	uint32_t bits = bits_of_float(f);

	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *p = dst;

	for (size_t i = 0; i < n; i++)
		put16(p + BF16_BYTES * i, bfloat_bits(not_nan(x[i])));
}

const struct quant quant_BF16 = { .decode = decode, .encode = encode };
