/* SPDX-License-Identifier: MIT */
#include "quant.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *p = src;

	for (size_t i = 0; i < n; i++)
		dst[i] = (float)(int8_t)p[i];
}

const struct quant quant_I8 = { .decode = decode };
