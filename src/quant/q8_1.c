/* SPDX-License-Identifier: MIT */
/* | half d | half d * (sum of q) | 32 signed bytes |; value = d * q. Made for activations; rare in files. */
#include "quant.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q8_1_BYTES, dst += Q8_1_VALUES) {
		const int8_t *q = (const int8_t *)b + 4;
		float d = get_half(b);

		for (int i = 0; i < Q8_1_VALUES; i++)
			dst[i] = d * (float)q[i];
	}
}

const struct quant quant_Q8_1 = { .decode = decode };
