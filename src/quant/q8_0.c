/* SPDX-License-Identifier: MIT */
/* | half d | 32 signed bytes |; value = d * q */
#include "quant.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q8_0_BYTES, dst += Q8_0_VALUES) {
		const int8_t *q = (const int8_t *)b + 2;
		float d = get_half(b);

		for (int i = 0; i < Q8_0_VALUES; i++)
			dst[i] = d * (float)q[i];
	}
}

const struct quant quant_Q8_0 = { .decode = decode };
