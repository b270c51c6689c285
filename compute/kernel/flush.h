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
#elif defined __aarch64__
static inline unsigned flush_begin(void)
{
	uint64_t mode;

	__asm__ volatile("mrs %0, fpcr" : "=r"(mode));
	__asm__ volatile("msr fpcr, %0" : : "r"(mode | 1 << 24) : "memory");
	return (unsigned)mode;
}

static inline void flush_end(unsigned mode)
{
	__asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)mode) : "memory");
}
#else
static inline unsigned flush_begin(void)
{
	return 0;
}

static inline void flush_end(unsigned mode)
{
	(void)mode;
}
#endif
#endif
