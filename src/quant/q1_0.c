/* SPDX-License-Identifier: MIT */
/* | half d | 16 bytes of 128 bits, lowest first |; value = d where the bit is set, else -d */
#include "quant.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q1_0_BYTES, dst += Q1_0_VALUES) {
		float d = get_half(b);

		for (int i = 0; i < Q1_0_VALUES; i++)
			dst[i] = b[2 + i / 8] >> i % 8 & 1 ? d : -d;
	}
}

const struct quant quant_Q1_0 = { .decode = decode };
