/* SPDX-License-Identifier: MIT */
/*
 * | half d, dmin | 12 bytes: 8 scales and 8 minima of 6 bits | 128 bytes of nibbles |
 * 32 values share scale and minimum; value = d * scale * q - dmin * minimum. Of each 64 values the low nibbles of 32
 * bytes are the first half, the high ones the second.
 */
#include "k.h"
#include "quant.h"

static void decode_block(float *dst, const uint8_t *b)
{
	float d = get_half(b), dmin = get_half(b + 2);

	for (int g = 0; g < 8; g++) {
		const uint8_t *q = b + 16 + g / 2 * 32;
		int shift = g % 2 * 4;
		float scale = d * (float)k_scale(b + 4, g), min = dmin * (float)k_min(b + 4, g);

		for (int i = 0; i < 32; i++)
			dst[32 * g + i] = scale * (float)(q[i] >> shift & 15) - min;
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q4_K_BYTES, dst += Q4_K_VALUES)
		decode_block(dst, b);
}

const struct quant quant_Q4_K = { .decode = decode };
