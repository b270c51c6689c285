/* SPDX-License-Identifier: MIT */
/* | scale 2^(e - 127) as byte e | 16 bytes: low nibbles are values 0-15, high nibbles 16-31 |, each an E2M1 float */
#include <float.h>
#include <math.h>
#include "fit.h"
#include "fp4.h"

const int8_t fp4_doubled[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += MXFP4_BYTES, dst += MXFP4_VALUES) {
		float d = e8m0_half(b[0]);

		for (int i = 0; i < 16; i++) {
			dst[i] = d * (float)fp4_doubled[b[1 + i] & 15];
			dst[i + 16] = d * (float)fp4_doubled[b[1 + i] >> 4];
		}
	}
}

enum { MOST_EXPONENT = 125 }; /* 6 * 2^125 is the greatest product that is finite */

/* The code of the number nearest to v, counted in the doubled unit. */
static unsigned nearest_code(double v)
{
	unsigned at = 0;

	for (unsigned k = 1; k < 16; k++)
		if (fabs(v - fp4_doubled[k]) < fabs(v - fp4_doubled[at]))
			at = k;
	return at;
}

/* Fills the block for the scale byte e; returns the squared error. */
static double try_scale(uint8_t *b, const double *x, uint8_t e)
{
	double d = (double)e8m0_half(e), error = 0;

	memset(b, 0, MXFP4_BYTES);
	b[0] = e;
	for (int i = 0; i < MXFP4_VALUES; i++) {
		unsigned q = nearest_code(x[i] / d);
		double off = x[i] - d * fp4_doubled[q];

		b[1 + i % 16] |= (uint8_t)(q << i / 16 * 4);
		error += off * off;
	}
	return error;
}

static void encode_block(uint8_t *b, const float *src)
{
	double x[MXFP4_VALUES], most = 0, least = INFINITY;
	int exponent;

	for (int i = 0; i < MXFP4_VALUES; i++) {
		x[i] = (double)fit_clamp(not_nan(src[i]), -FLT_MAX, FLT_MAX);
		most = fmax(most, fabs(x[i]));
	}
	if (most == 0) {
		memset(b, 0, MXFP4_BYTES);
		return;
	}
	frexp(most, &exponent); /* most < 2^exponent: above a scale of 2^(exponent - 2) nothing is clipped */
	for (int e = exponent - 4; e <= exponent - 2 && e <= MOST_EXPONENT; e++) {
		uint8_t now[MXFP4_BYTES];
		double error = try_scale(now, x, (uint8_t)(e < -127 ? 0 : e + 127));

		if (error < least) {
			least = error;
			memcpy(b, now, MXFP4_BYTES);
		}
	}
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *b = dst;

	for (; n--; b += MXFP4_BYTES, x += MXFP4_VALUES)
		encode_block(b, x);
}

const struct quant quant_MXFP4 = { .decode = decode, .encode = encode };
