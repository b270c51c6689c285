/* SPDX-License-Identifier: MIT */
/*
 * | 32 bytes of third bits | 64 bytes of 2-bit q | 12 bytes: 16 scales of 6 bits, offset 32 | half d |
 * 16 values share a scale; value = d * scale * (q - 4). Of each 128 values, value i has its low bits in byte i % 32 at
 * 2 * (i / 32); the third bit of value i of 256 is bit i / 32 of byte i % 32.
 */
#include "quant.h"

static int scale_of(const uint8_t *s, int g)
{
	int low = s[g % 8] >> g / 8 * 4 & 15, high = s[8 + g % 4] >> g / 4 * 2 & 3;

	return (low | high << 4) - 32;
}

static void decode_block(float *dst, const uint8_t *b)
{
	float d = get_half(b + 108);

	for (int g = 0; g < 16; g++) {
		const uint8_t *high = b + g % 2 * 16, *low = b + 32 + g / 8 * 32 + g % 2 * 16;
		int shift = g % 8 / 2 * 2, bit = g / 2;
		float scale = d * (float)scale_of(b + 96, g);

		for (int i = 0; i < 16; i++)
			dst[16 * g + i] = scale * (float)((low[i] >> shift & 3) + (high[i] >> bit & 1) * 4 - 4);
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q3_K_BYTES, dst += Q3_K_VALUES)
		decode_block(dst, b);
}

const struct quant quant_Q3_K = { .decode = decode };
