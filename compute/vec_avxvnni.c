/* SPDX-License-Identifier: MIT */
/* AVX2 with vpdpwssd. What a compiler makes that does not know it is never chosen. */
#ifdef __x86_64__
#include <immintrin.h>
#include "kernel/avxvnni/avxvnni.h"
#include "target.h"
#define LANES 8
#include "vec_type.h"

static bool supported(void)
{
	return kernel_avxvnni.supported();
}

#ifdef AVXVNNI_KNOWN
KERNEL_BEGIN("avx2,fma,f16c,avxvnni")
#else
KERNEL_BEGIN("avx2,fma,f16c")
#endif
#include "vec_avx2.h"
#define VEC(name) name##_avxvnni
#define PAIR_PRODUCTS
#include "vec_body.h"

INLINE vi pairs_add(vi sum, vi a, vi b)
{
#ifdef AVXVNNI_KNOWN
	return (vi)_mm256_dpwssd_avx_epi32((__m256i)sum, (__m256i)a, (__m256i)b);
#else
	return (vi)((vu)sum + (vu)_mm256_madd_epi16((__m256i)a, (__m256i)b));
#endif
}

#include "attend_body.h"
KERNEL_END

VEC_TIER(avxvnni, supported);
#endif
