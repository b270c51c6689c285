/* SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>
#include "avx512.h"

enum { CHAINS = 12 };

KERNEL_BEGIN(AVX512_TARGET)
static uint64_t int_peak(size_t n)
{
	uint64_t done = (uint64_t)n * CHAINS * 64;
	__m512i s[CHAINS], a = _mm512_set1_epi8(1);

	UNROLL
	for (int k = 0; k < CHAINS; k++)
		s[k] = _mm512_set1_epi32(k); /* alike, they would be computed once */
	__asm__ volatile("" : "+v"(a));
	for (; n; n--)
		UNROLL
		for (int k = 0; k < CHAINS; k++)
			s[k] = _mm512_dpbusd_epi32(s[k], a, a);
	UNROLL
	for (int k = 0; k < CHAINS; k++)
		__asm__ volatile("" : : "v"(s[k]));
	return done;
}

static uint64_t float_peak(size_t n)
{
	uint64_t done = (uint64_t)n * CHAINS * 16;
	__m512 s[CHAINS], a = _mm512_set1_ps(0.5f);

	UNROLL
	for (int k = 0; k < CHAINS; k++)
		s[k] = _mm512_set1_ps((float)k);
	__asm__ volatile("" : "+v"(a));
	for (; n; n--)
		UNROLL
		for (int k = 0; k < CHAINS; k++)
			s[k] = _mm512_fmadd_ps(s[k], a, a);
	UNROLL
	for (int k = 0; k < CHAINS; k++)
		__asm__ volatile("" : : "v"(s[k]));
	return done;
}

static void read_bytes(const void *p, size_t n)
{
	const char *at = p;
	__m512i all[4] = { _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512() };

	for (size_t i = 0; i + 256 <= n; i += 256)
		UNROLL
		for (int k = 0; k < 4; k++)
			all[k] = _mm512_or_si512(all[k], _mm512_loadu_si512(at + i + 64 * k));
	all[0] = _mm512_or_si512(_mm512_or_si512(all[0], all[1]), _mm512_or_si512(all[2], all[3]));
	__asm__ volatile("" : : "v"(all[0]));
}
KERNEL_END

const struct kernel_limits avx512_limits = { int_peak, float_peak, read_bytes };
#endif
