/* SPDX-License-Identifier: MIT */
/* AVX-512 of processors without VNNI. */
#ifdef __x86_64__
#include <immintrin.h>
#include "target.h"
#define LANES 16
#include "vec_type.h"

static bool supported(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}

KERNEL_BEGIN("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,f16c")
#include "vec_avx512.h"
#define VEC(name) name##_avx512f
#define PAIR_PRODUCTS
#include "vec_body.h"

INLINE vi pairs_add(vi sum, vi a, vi b)
{
	return (vi)((vu)sum + (vu)_mm512_madd_epi16((__m512i)a, (__m512i)b));
}

#include "attend_body.h"
KERNEL_END

VEC_TIER(avx512f, supported);
#endif
