/* SPDX-License-Identifier: MIT */
/*
 * | 4 scales as unsigned E4M3 floats | 4 times 8 bytes: low nibbles are values 0-7, high nibbles 8-15 |, each an E2M1
 * float. 16 values share a scale.
 */
#include <math.h>
#include "fit.h"
#include "fp4.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += NVFP4_BYTES, dst += NVFP4_VALUES)
		for (int g = 0; g < 4; g++) {
			const uint8_t *q = b + 4 + 8 * g;
			float d = e4m3_half(b[g]);

			for (int i = 0; i < 8; i++) {
				dst[16 * g + i] = d * (float)fp4_doubled[q[i] & 15];
				dst[16 * g + 8 + i] = d * (float)fp4_doubled[q[i] >> 4];
			}
		}
}

static const struct fit_table levels = { 16, fp4_doubled };

/* The greatest scale byte that means no more than v. */
static int scale_below(float v)
{
	int e = 0;

	while (e < 0x7e && e4m3_half((uint8_t)(e + 1)) <= v)
		e++;
	return e;
}

/* Chooses the scale of a group; returns its byte. */
static uint8_t fit_scale(const float *x, uint32_t *code)
{
	float most = 0;
	double least = INFINITY;
	int best = 0;

	for (int i = 0; i < 16; i++)
		most = fmaxf(most, fabsf(x[i]));
	int from = scale_below(most / 16), to = scale_below(most / 7);
	for (int e = from; e <= to + 1 && e <= 0x7e; e++) {
		double d = (double)e4m3_half((uint8_t)e);
		struct fit_sums s = fit_pick_table(&levels, x, (float)d, code);
		double error = d * (d * s.qq - 2 * s.xq);

		if (error < least) {
			least = error;
			best = e;
		}
	}
	fit_pick_table(&levels, x, e4m3_half((uint8_t)best), code);
	return (uint8_t)best;
}

static void encode_block(uint8_t *b, const float *src)
{
	float x[NVFP4_VALUES];

	fit_load(x, src, NVFP4_VALUES);
	for (int g = 0; g < 4; g++) {
		uint32_t code[16];

		b[g] = fit_scale(x + 16 * g, code);
		for (int i = 0; i < 8; i++)
			b[4 + 8 * g + i] = (uint8_t)(code[i] | code[i + 8] << 4);
	}
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *b = dst;

	for (; n--; b += NVFP4_BYTES, x += NVFP4_VALUES)
		encode_block(b, x);
}

const struct quant quant_NVFP4 = { .decode = decode, .encode = encode };
