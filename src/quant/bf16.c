/* SPDX-License-Identifier: MIT */
/* The upper half of a float. */
#include "quant.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *p = src;

	for (size_t i = 0; i < n; i++)
		dst[i] = float_of_bits((uint32_t)get16(p + BF16_BYTES * i) << 16);
}

const struct quant quant_BF16 = { .decode = decode };
