/* SPDX-License-Identifier: MIT */
/* | half d | 16 bytes of four 2-bit q, lowest first |; value = d * (q - 1) */
#include "quant.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q2_0_BYTES, dst += Q2_0_VALUES) {
		float d = get_half(b);

		for (int i = 0; i < Q2_0_VALUES; i++)
			dst[i] = d * (float)((b[2 + i / 4] >> i % 4 * 2 & 3) - 1);
	}
}

const struct quant quant_Q2_0 = { .decode = decode };
