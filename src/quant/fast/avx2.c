/* SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>
#include "target.h"
#include "tier.h"

static bool supported(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); /* none of them lacks f16c */
}

KERNEL_BEGIN("avx2,f16c")
#include "lanes.h"

static inline __m256 widen8(__m128i level)
{
	return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(level));
}

static inline lanes16 lanes_look(lanes16 table, lanes16 at)
{
	return (lanes16)_mm_shuffle_epi8((__m128i)table, (__m128i)at);
}

static inline void lanes_put(float *dst, lanes16 level, float scale)
{
	__m256 s = _mm256_set1_ps(scale);
	__m128i v = (__m128i)level;

	_mm256_storeu_ps(dst, _mm256_mul_ps(s, widen8(v)));
	_mm256_storeu_ps(dst + 8, _mm256_mul_ps(s, widen8(_mm_unpackhi_epi64(v, v))));
}

static inline void lanes_put_above(float *dst, lanes16 level, float scale, float min)
{
	__m256 s = _mm256_set1_ps(scale), m = _mm256_set1_ps(min);
	__m128i v = (__m128i)level;

	_mm256_storeu_ps(dst, _mm256_sub_ps(_mm256_mul_ps(s, widen8(v)), m));
	_mm256_storeu_ps(dst + 8, _mm256_sub_ps(_mm256_mul_ps(s, widen8(_mm_unpackhi_epi64(v, v))), m));
}

static inline void lanes_put_half(float *dst, const uint8_t *src)
{
	_mm256_storeu_ps(dst, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)src)));
	_mm256_storeu_ps(dst + 8, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(src + 16))));
}

static inline void lanes_put_bfloat(float *dst, const uint8_t *src)
{
	__m256i low = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)src));
	__m256i high = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(src + 16)));

	_mm256_storeu_ps(dst, _mm256_castsi256_ps(_mm256_slli_epi32(low, 16)));
	_mm256_storeu_ps(dst + 8, _mm256_castsi256_ps(_mm256_slli_epi32(high, 16)));
}

static inline void lanes_put_words(float *dst, const uint8_t *src)
{
	for (int i = 0; i < 16; i += 8) {
		__m128i v = _mm_loadu_si128((const __m128i *)(src + 2 * i));

		_mm256_storeu_ps(dst + i, _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(v)));
	}
}

static inline void lanes_put_longs(float *dst, const uint8_t *src)
{
	for (int i = 0; i < 16; i += 8)
		_mm256_storeu_ps(dst + i, _mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)(src + 4 * i))));
}

#include "nearest.h"
#include "types.h"
KERNEL_END

const struct quant_tier quant_tier_avx2 = {
	.name = "avx2",
	.also = "avxvnni",
	.supported = supported,
	.decode = { LANES_TABLE },
	.nearest = nearest_entry,
};
#endif
