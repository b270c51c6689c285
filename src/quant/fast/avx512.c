/* SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>
#include "target.h"
#include "tier.h"

static bool supported(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

KERNEL_BEGIN("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")
#include "lanes.h"

static inline __m512 widen16(lanes16 level)
{
	return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32((__m128i)level));
}

static inline lanes16 lanes_look(lanes16 table, lanes16 at)
{
	return (lanes16)_mm_shuffle_epi8((__m128i)table, (__m128i)at);
}

static inline void lanes_put(float *dst, lanes16 level, float scale)
{
	_mm512_storeu_ps(dst, _mm512_mul_ps(_mm512_set1_ps(scale), widen16(level)));
}

static inline void lanes_put_above(float *dst, lanes16 level, float scale, float min)
{
	__m512 v = _mm512_mul_ps(_mm512_set1_ps(scale), widen16(level));

	_mm512_storeu_ps(dst, _mm512_sub_ps(v, _mm512_set1_ps(min)));
}

static inline void lanes_put_half(float *dst, const uint8_t *src)
{
	_mm512_storeu_ps(dst, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)src)));
}

static inline void lanes_put_bfloat(float *dst, const uint8_t *src)
{
	__m512i v = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)src));

	_mm512_storeu_ps(dst, _mm512_castsi512_ps(_mm512_slli_epi32(v, 16)));
}

static inline void lanes_put_words(float *dst, const uint8_t *src)
{
	_mm512_storeu_ps(dst, _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)src))));
}

static inline void lanes_put_longs(float *dst, const uint8_t *src)
{
	_mm512_storeu_ps(dst, _mm512_cvtepi32_ps(_mm512_loadu_si512(src)));
}

#include "nearest.h"
#include "types.h"
KERNEL_END

const struct quant_tier quant_tier_avx512 = {
	.name = "avx512",
	.supported = supported,
	.decode = { LANES_TABLE },
	.nearest = nearest_entry,
};
#endif
