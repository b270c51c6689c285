/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_FMA_H
#define KERNEL_FMA_H
#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * a * b + c, rounded once, also where the processor has no such instruction and the C library would take hundreds of
 * cycles: the product is exact in a double; the sum is rounded to odd, so that rounding it again to float is harmless.
 */
static inline float fma_exact(float a, float b, float c)
{
#if defined __FMA__ || defined __aarch64__
	return fmaf(a, b, c);
#else
	double p = (double)a * b, s = p + c, back = s - p, lost = (p - (s - back)) + (c - back);
	uint64_t bits;

	memcpy(&bits, &s, sizeof bits);
	if (isfinite(s) && lost != 0 && !(bits & 1)) {
		bits += (lost > 0) == (s > 0) ? 1 : -1;
		memcpy(&s, &bits, sizeof s);
	}
	return (float)s;
#endif
}
#endif
