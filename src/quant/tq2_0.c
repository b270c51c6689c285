/* SPDX-License-Identifier: MIT */
/*
 * | 64 bytes of 2-bit q | half d |; value = d * (q - 1)
 * Of each 128 values, value i has its q in byte i % 32 at 2 * (i / 32).
 */
#include "quant.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += TQ2_0_BYTES, dst += TQ2_0_VALUES) {
		float d = get_half(b + 64);

		for (int g = 0; g < 8; g++)
			for (int i = 0; i < 32; i++)
				dst[32 * g + i] = d * (float)((b[g / 4 * 32 + i] >> g % 4 * 2 & 3) - 1);
	}
}

const struct quant quant_TQ2_0 = { .decode = decode };
