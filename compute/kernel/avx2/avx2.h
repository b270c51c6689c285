/* SPDX-License-Identifier: MIT */
/* AVX2 with FMA: Haswell, Zen and later. */
#ifndef KERNEL_AVX2_H
#define KERNEL_AVX2_H
#include <immintrin.h>
#include "kernel/kernel.h"
#include "target.h"

#define AVX2_TARGET "avx2,fma,f16c"

/* Types that are decoded with vectors, with and without signs: names, kind, order of activations, bytes of 8 blocks. */
#define AVX2_SIGNED_KERNELS(X) \
	X(Q8_0, q8_0, BLOCK_SCALE, AS_IS, 272) X(IQ4_NL, iq4_nl, BLOCK_SCALE, HALVES, 144) \
	X(MXFP4, mxfp4, BLOCK_SCALE, HALVES, 136) X(IQ4_XS, iq4_xs, BLOCK_SCALE, HALVES, 136) \
	X(Q6_K, q6_k, BLOCK_PAIR, IN_PAIRS, 210)
#define AVX2_UNSIGNED_KERNELS(X) \
	X(Q4_0, q4_0, BLOCK_SCALE, HALVES, 144) X(Q4_K, q4_k, BLOCK_OFFSET, AS_IS, 144) X(Q5_K, q5_k, BLOCK_OFFSET, AS_IS, 176)
#define AVX2_INT_KERNELS(X) AVX2_SIGNED_KERNELS(X) AVX2_UNSIGNED_KERNELS(X)

/* row.c: one token times rows from .. to-1; returns how many blocks of each it has summed up to y. */
typedef size_t avx2_sum_fn(const struct mat *w, const struct act *a, float *y, size_t from, size_t to);
/* int.c: the same of blocks from number start on, which are added to y if there are others before them. */
typedef void avx2_rest_fn(const struct mat *w, const struct act *a, float *y, size_t from, size_t to, size_t start);

/* int.c, panel.c for many tokens, row.c: these types, and any. */
#define AVX2_DECLARE(NAME, ...) \
	kernel_mul_fn avx2_mul_##NAME, avx2_panels_##NAME; avx2_sum_fn avx2_sum_##NAME; avx2_rest_fn avx2_rest_##NAME;
AVX2_INT_KERNELS(AVX2_DECLARE)
kernel_mul_fn avx2_mul_int, avx2_panels_int;
avx2_rest_fn avx2_rest_int;
/* float.c */
kernel_mul_fn avx2_mul_f32, avx2_mul_f16, avx2_mul_bf16;
kernel_round_fn avx2_round;
/* tier.c */
uint64_t avx2_float_peak(size_t n);
void avx2_read(const void *p, size_t n);

/* Many tokens by panels; one by sum, which may be NULL, and by rest what that leaves at the end of rows. */
static inline void avx2_mul_by(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to,
			       kernel_mul_fn *panels, avx2_sum_fn *sum, avx2_rest_fn *rest)
{
	size_t done;

	if (a->tokens > 1) {
		panels(w, a, y, stride, from, to);
		return;
	}
	done = sum ? sum(w, a, y, from, to) : 0;
	if (done < a->blocks || !done)
		rest(w, a, y, from, to, done);
}

/* s and the sums of four products each; of words that hold them, of two. */
typedef __m256i products_fn(__m256i s, __m256i w, __m256i x);

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

INLINE __m256i signed_products(__m256i s, __m256i w, __m256i x)
{
	return _mm256_add_epi32(s, dot4(w, x));
}
KERNEL_END
#endif
