/* SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>
#include "target.h"
#define LANES 8
#include "vec_type.h"

/* f16c has no name of its own in every compiler; processors with AVX2 have it. */
static bool supported(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

KERNEL_BEGIN("avx2,fma,f16c")
#include "vec_avx2.h"
#define VEC(name) name##_avx2
#define PAIR_PRODUCTS
#include "vec_body.h"

INLINE vi pairs_add(vi sum, vi a, vi b)
{
	return (vi)((vu)sum + (vu)_mm256_madd_epi16((__m256i)a, (__m256i)b));
}

#include "attend_body.h"
KERNEL_END

VEC_TIER(avx2, supported);
#endif
