/* SPDX-License-Identifier: MIT */
/* | float d | 256 signed bytes | 16 sums of 16 q, 16 bits |; value = d * q. Made for activations; rare in files. */
#include <math.h>
#include "fit.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q8_K_BYTES, dst += Q8_K_VALUES) {
		const int8_t *q = (const int8_t *)b + 4;
		float d = get_float(b);

		for (int i = 0; i < Q8_K_VALUES; i++)
			dst[i] = d * (float)q[i];
	}
}

static void encode_block(uint8_t *b, const float *x)
{
	float most = 0;

	for (int i = 0; i < Q8_K_VALUES; i++)
		most = fmaxf(most, fabsf(x[i]));
	most = fminf(most, 0x1p127f); /* so that d * 127 is finite */
	float d = most / 127;
	put32(b, bits_of_float(d));
	for (int g = 0; g < 16; g++) {
		int sum = 0;

		for (int i = 16 * g; i < 16 * g + 16; i++) {
			int q = d > 0 ? fit_nearest(fit_clamp(not_nan(x[i]) / d, -127, 127)) : 0;

			b[4 + i] = (uint8_t)q;
			sum += q;
		}
		put16(b + 260 + 2 * g, (uint16_t)sum);
	}
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *b = dst;

	for (; n--; b += Q8_K_BYTES, x += Q8_K_VALUES)
		encode_block(b, x);
}

const struct quant quant_Q8_K = { .decode = decode, .encode = encode };
