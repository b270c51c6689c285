/* SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>
#include "target.h"
#include "vec_type.h"

/* f16c has no name of its own in every compiler; processors with AVX2 have it. */
static bool supported(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

KERNEL_BEGIN("avx2,fma,f16c")
union halves {
	v16 v;
	__m256 h[2];
};

INLINE v16 fma16(v16 a, v16 b, v16 c)
{
	union halves x = { a }, y = { b }, z = { c };

	z.h[0] = _mm256_fmadd_ps(x.h[0], y.h[0], z.h[0]);
	z.h[1] = _mm256_fmadd_ps(x.h[1], y.h[1], z.h[1]);
	return z.v;
}

INLINE v16 half16(const uint16_t *p)
{
	union halves y;

	y.h[0] = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
	y.h[1] = _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p + 8)));
	return y.v;
}

INLINE void put_half16(uint16_t *p, v16 v)
{
	union halves x = { v };

	_mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph(x.h[0], _MM_FROUND_TO_NEAREST_INT));
	_mm_storeu_si128((__m128i *)(p + 8), _mm256_cvtps_ph(x.h[1], _MM_FROUND_TO_NEAREST_INT));
}

#define VEC(name) name##_avx2
enum { FUSED_ROWS = 4 };
#include "vec_body.h"
KERNEL_END

VEC_TIER(avx2, supported);
#endif
