/* SPDX-License-Identifier: MIT */
/* The sums of the lanes of vectors, in the order of all kernels: 8 of 8 + 8, 4 of 4 + 4, 2 of 2 + 2, 1. */
#ifndef KERNEL_AVX512_FOLD_H
#define KERNEL_AVX512_FOLD_H
#include <immintrin.h>
#include "avx512.h"

KERNEL_BEGIN(AVX512_TARGET)
/* Sums of the halves of a, then of b. */
INLINE __m512 fold8(__m512 a, __m512 b)
{
	return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
}

/* Sums of the quarters of each half. */
INLINE __m512 fold4(__m512 a, __m512 b)
{
	return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
}

INLINE __m512 fold2(__m512 a, __m512 b)
{
	return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x44), _mm512_shuffle_ps(a, b, 0xee));
}

INLINE __m512 fold1(__m512 a, __m512 b)
{
	return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xdd));
}

/* The sums of the lanes of 16 vectors, in the order that folded() tells. */
INLINE __m512 fold16(const __m512 v[16])
{
	__m512 h[8], q[4], p[2];

	UNROLL
	for (int i = 0; i < 8; i++)
		h[i] = fold8(v[2 * i], v[2 * i + 1]);
	UNROLL
	for (int i = 0; i < 4; i++)
		q[i] = fold4(h[2 * i], h[2 * i + 1]);
	UNROLL
	for (int i = 0; i < 2; i++)
		p[i] = fold2(q[2 * i], q[2 * i + 1]);
	return fold1(p[0], p[1]);
}

/* Where fold16 puts the sum of vector i. */
INLINE int folded(int i)
{
	return i % 4 * 4 + i / 4;
}

/* The same of one vector. */
INLINE float fold(__m512 v)
{
	v = fold8(v, v);
	v = fold4(v, v);
	v = fold2(v, v);
	return _mm512_cvtss_f32(fold1(v, v));
}
KERNEL_END
#endif
