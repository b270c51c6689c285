/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_AVX2_LIMITS_H
#define KERNEL_AVX2_LIMITS_H
#include "avx2.h"

KERNEL_BEGIN(AVX2_TARGET)
/* Chains of products, n times on; how many multiply-adds that were. */
INLINE uint64_t chain_products(size_t n, products_fn *products)
{
	enum { CHAINS = 12 };
	__m256i s[CHAINS], a = _mm256_set1_epi8(1);

	UNROLL
	for (int k = 0; k < CHAINS; k++)
		s[k] = _mm256_set1_epi32(k); /* alike, they would be computed once */
	__asm__ volatile("" : "+x"(a));
	for (size_t i = 0; i < n; i++)
		UNROLL
		for (int k = 0; k < CHAINS; k++)
			s[k] = products(s[k], s[k], a);
	UNROLL
	for (int k = 0; k < CHAINS; k++)
		__asm__ volatile("" : : "x"(s[k]));
	return (uint64_t)n * CHAINS * 32;
}
KERNEL_END
#endif
