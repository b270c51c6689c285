/* SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>
#include "target.h"
#define LANES 16
#include "vec_type.h"

extern const struct vec vec_avx512f;

static bool supported(void)
{
	return vec_avx512f.supported() && __builtin_cpu_supports("avx512vnni");
}

KERNEL_BEGIN("avx512f,avx512vl,avx512dq,avx512bw,avx512vnni,avx2,fma,f16c")
#include "vec_avx512.h"
#define VEC(name) name##_avx512
#define PAIR_PRODUCTS
#include "vec_body.h"

INLINE vi pairs_add(vi sum, vi a, vi b)
{
	return (vi)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
}

#include "attend_body.h"
KERNEL_END

VEC_TIER(avx512, supported);
#endif
