/* SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>
#include "target.h"
#include "vec_type.h"

static bool supported(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}

KERNEL_BEGIN("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,f16c")
INLINE v16 fma16(v16 a, v16 b, v16 c)
{
	return (v16)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

INLINE v16 half16(const uint16_t *p)
{
	return (v16)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

INLINE void put_half16(uint16_t *p, v16 v)
{
	_mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT));
}

#define VEC(name) name##_avx512
enum { FUSED_ROWS = 8 };
#include "vec_body.h"
KERNEL_END

VEC_TIER(avx512, supported);
#endif
