/* SPDX-License-Identifier: MIT */
/* | float d | 256 signed bytes | 16 sums of 16 q each, 16 bits |; value = d * q. Made for activations; rare in files. */
#include "quant.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q8_K_BYTES, dst += Q8_K_VALUES) {
		const int8_t *q = (const int8_t *)b + 4;
		float d = get_float(b);

		for (int i = 0; i < Q8_K_VALUES; i++)
			dst[i] = d * (float)q[i];
	}
}

const struct quant quant_Q8_K = { .decode = decode };
