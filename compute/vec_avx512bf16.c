/* SPDX-License-Identifier: MIT */
/* AVX-512 with products of pairs of BFloat16, for attention. */
#ifdef __x86_64__
#include <immintrin.h>
#include "target.h"
#define LANES 16
#include "vec_type.h"

extern const struct vec vec_avx512;

static bool supported(void)
{
	return vec_avx512.supported() && __builtin_cpu_supports("avx512bf16");
}

KERNEL_BEGIN("avx512f,avx512vl,avx512dq,avx512bw,avx512bf16,avx2,fma,f16c")
#include "vec_avx512.h"
#define VEC(name) name##_avx512bf16
#define PAIR_PRODUCTS
#include "vec_body.h"

INLINE vf pairs_add(vf sum, vf a, vf b)
{
	return (vf)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
}

INLINE vf load_pairs(const void *p)
{
	return (vf)_mm512_loadu_si512(p);
}

INLINE vf splat_pair(const uint32_t *p)
{
	return (vf)_mm512_set1_epi32((int)*p);
}

INLINE void put_weights(float *s, const vf *p)
{
UNROLL
	for (int v = 0; v < CACHE_GROUP / LANES; v += 2)
		_mm512_storeu_si512((char *)s + v * 32, (__m512i)_mm512_cvtne2ps_pbh((__m512)p[v + 1], (__m512)p[v]));
}

INLINE void round_query(uint32_t *q, const float *x, size_t n)
{
	for (size_t i = 0; i < n; i += LANES) {
		__m256i half = (__m256i)_mm512_cvtneps_pbh((__m512)load_some(x + i, n - i < LANES ? n - i : LANES));

		_mm256_storeu_si256((__m256i *)(q + i / 2), half);
	}
}

#include "attend_body.h"
KERNEL_END

VEC_TIER(avx512bf16, supported);
#endif
