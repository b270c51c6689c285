/* SPDX-License-Identifier: MIT */
/* Four values at once, on any processor: what the encoders' inner loops are made of. */
#ifndef GGUF_QUANT_FOUR_H
#define GGUF_QUANT_FOUR_H
#include <stdint.h>
#include <string.h>

typedef float four __attribute__((vector_size(16)));
typedef int32_t four_int __attribute__((vector_size(16)));
typedef double four_double __attribute__((vector_size(32)));

static inline four four_load(const float *p)
{
	four v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline four four_of(float f)
{
	return (four){ f, f, f, f };
}

static inline four four_select(four_int mask, four yes, four no)
{
	return (four)((mask & (four_int)yes) | (~mask & (four_int)no));
}

static inline four four_clamp(four v, float low, float high)
{
	v = four_select(v < four_of(low), four_of(low), v);
	return four_select(v > four_of(high), four_of(high), v);
}

/* Nearest integers of |v| < 2^22, halves to even: beyond 2^23 a float has no fraction. */
static inline four four_nearest(four v)
{
	return v + 0x1.8p23f - 0x1.8p23f;
}

static inline four four_abs(four v)
{
	return (four)((four_int)v & 0x7fffffff);
}

/* By pointer, as an argument of that width would depend on the ISA. */
static inline double four_sum(const four_double *v)
{
	return (*v)[0] + (*v)[1] + (*v)[2] + (*v)[3];
}

#define four_to_int(v) __builtin_convertvector(v, four_int)
#define four_to_double(v) __builtin_convertvector(v, four_double)
#endif
