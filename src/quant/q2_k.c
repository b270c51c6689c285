/* SPDX-License-Identifier: MIT */
/*
 * | 16 bytes: a scale in the low nibble, a minimum in the high one | 64 bytes of 2-bit q | half d, dmin |
 * 16 values share scale and minimum; value = d * scale * q - dmin * minimum. Of each 128 values, value i has its q in
 * byte i % 32, bits 2 * (i / 32).
 */
#include "quant.h"

static void decode_block(float *dst, const uint8_t *b)
{
	const uint8_t *q = b + 16;
	float d = get_half(b + 80), dmin = get_half(b + 82);

	for (int g = 0; g < 16; g++) {
		const uint8_t *p = q + g / 8 * 32 + g % 2 * 16;
		int shift = g % 8 / 2 * 2;
		float scale = d * (float)(b[g] & 15), min = dmin * (float)(b[g] >> 4);

		for (int i = 0; i < 16; i++)
			dst[16 * g + i] = scale * (float)(p[i] >> shift & 3) - min;
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q2_K_BYTES, dst += Q2_K_VALUES)
		decode_block(dst, b);
}

const struct quant quant_Q2_K = { .decode = decode };
