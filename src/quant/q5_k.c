/* SPDX-License-Identifier: MIT */
/*
 * | half d, dmin | 12 bytes: 8 scales and 8 minima of 6 bits | 32 bytes of fifth bits | 128 bytes of nibbles |
 * As Q4_K; the fifth bit of value i of 256 is bit i / 32 of byte i % 32.
 */
#include "k.h"
#include "quant.h"

static void decode_block(float *dst, const uint8_t *b)
{
	const uint8_t *high = b + 16;
	float d = get_half(b), dmin = get_half(b + 2);

	for (int g = 0; g < 8; g++) {
		const uint8_t *q = b + 48 + g / 2 * 32;
		int shift = g % 2 * 4;
		float scale = d * (float)k_scale(b + 4, g), min = dmin * (float)k_min(b + 4, g);

		for (int i = 0; i < 32; i++)
			dst[32 * g + i] = scale * (float)((q[i] >> shift & 15) | (high[i] >> g & 1) << 4) - min;
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q5_K_BYTES, dst += Q5_K_VALUES)
		decode_block(dst, b);
}

const struct quant quant_Q5_K = { .decode = decode };
