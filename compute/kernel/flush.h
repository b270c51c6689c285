/* SPDX-License-Identifier: MIT */
/* Products of BFloat16 have no subnormal numbers, neither as values nor as results: the processors' own have not. */
#ifndef KERNEL_FLUSH_H
#define KERNEL_FLUSH_H
#include "quant/quant.h"

/* A subnormal number as zero. */
static inline float flushed(float f)
{
	return bits_of_float(f) & 0x7f800000 ? f : float_of_bits(bits_of_float(f) & 0x80000000);
}

#ifdef __x86_64__
#include <xmmintrin.h>

/* The same for all that this thread computes until flush_end, which takes what flush_begin gave. */
static inline unsigned flush_begin(void)
{
	unsigned mode = _mm_getcsr();

	_mm_setcsr(mode | 0x8040);
	return mode;
}

static inline void flush_end(unsigned mode)
{
	_mm_setcsr(mode);
}
#endif
#endif
