/* SPDX-License-Identifier: MIT */
/*
 * | 48 bytes of five ternary digits | 4 bytes of four | half d |; value = d * (digit - 1)
 * A byte is the digits as a fraction of 256 in base 3, rounded up: three times it, modulo 256, has the next digit on top.
 * Digit k of bytes 0-31 is value 32 * k + byte, of bytes 32-47 160 + 16 * k + byte - 32, of the last 240 + 4 * k + byte.
 */
#include "quant.h"

/* count bytes of digits digits each: digit k of byte i to dst[count * k + i] */
static float *decode_digits(float *dst, const uint8_t *b, int count, int digits, float d)
{
	static const uint8_t power[5] = { 1, 3, 9, 27, 81 };

	for (int k = 0; k < digits; k++)
		for (int i = 0; i < count; i++) {
			uint8_t q = (uint8_t)(b[i] * power[k]);

			*dst++ = d * (float)((q * 3 >> 8) - 1);
		}
	return dst;
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += TQ1_0_BYTES) {
		float d = get_half(b + 52);

		dst = decode_digits(dst, b, 32, 5, d);
		dst = decode_digits(dst, b + 32, 16, 5, d);
		dst = decode_digits(dst, b + 48, 4, 4, d);
	}
}

const struct quant quant_TQ1_0 = { .decode = decode };
