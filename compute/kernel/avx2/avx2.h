/* SPDX-License-Identifier: MIT */
/* AVX2 with FMA: Haswell, Zen and later. */
#ifndef KERNEL_AVX2_H
#define KERNEL_AVX2_H
#include <immintrin.h>
#include "kernel/kernel.h"
#include "target.h"

#define AVX2_TARGET "avx2,fma,f16c"

/* int.c: any type, and the types that are decoded with vectors: names, kind, order of activations, bytes of 8 blocks. */
kernel_mul_fn avx2_mul_int;
#define AVX2_INT_KERNELS(X) \
	X(Q8_0, q8_0, BLOCK_SCALE, AS_IS, 272) X(Q4_0, q4_0, BLOCK_SCALE, HALVES, 144) X(IQ4_NL, iq4_nl, BLOCK_SCALE, HALVES, 144) \
	X(MXFP4, mxfp4, BLOCK_SCALE, HALVES, 136) X(IQ4_XS, iq4_xs, BLOCK_SCALE, HALVES, 136) \
	X(Q4_K, q4_k, BLOCK_OFFSET, AS_IS, 144) X(Q5_K, q5_k, BLOCK_OFFSET, AS_IS, 176) X(Q6_K, q6_k, BLOCK_PAIR, IN_PAIRS, 210)
/* row.c: one token times rows from .. to-1; returns how many blocks of each it has summed up to y. */
typedef size_t avx2_sum_fn(const struct mat *w, const struct act *a, float *y, size_t from, size_t to);
/* panel.c: many tokens */
kernel_mul_fn avx2_panels_int;
#define AVX2_DECLARE(NAME, ...) kernel_mul_fn avx2_mul_##NAME, avx2_panels_##NAME; avx2_sum_fn avx2_sum_##NAME;
AVX2_INT_KERNELS(AVX2_DECLARE)
/* float.c */
kernel_mul_fn avx2_mul_f32, avx2_mul_f16, avx2_mul_bf16;
kernel_round_fn avx2_round;

KERNEL_BEGIN(AVX2_TARGET)
INLINE __m256i load32(const void *p)
{
	return _mm256_loadu_si256(p);
}

/* Sums of four products each; a's magnitudes are up to 128, b's up to 127, so two fit 16 bits. */
INLINE __m256i dot4(__m256i a, __m256i b)
{
	return _mm256_madd_epi16(_mm256_maddubs_epi16(_mm256_abs_epi8(a), _mm256_sign_epi8(b, a)), _mm256_set1_epi16(1));
}
KERNEL_END
#endif
