/* SPDX-License-Identifier: MIT */
/* What vec_body.h asks for, in AVX2. Included between KERNEL_BEGIN and KERNEL_END. */
INLINE vf fma_v(vf a, vf b, vf c)
{
	return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}

INLINE vf max_v(vf a, vf b)
{
	return (vf)_mm256_max_ps((__m256)a, (__m256)b);
}

INLINE float max_lane(vf v)
{
	__m128 x = _mm_max_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));

	x = _mm_max_ps(x, _mm_movehl_ps(x, x));
	return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
}

INLINE bool is_above(vf v, float limit)
{
	return _mm256_movemask_ps(_mm256_cmp_ps((__m256)v, _mm256_set1_ps(limit), _CMP_GT_OQ));
}

INLINE float sum_lanes(vf v)
{
	__m128 x = _mm_add_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));

	x = _mm_add_ps(x, _mm_movehl_ps(x, x));
	return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}

INLINE vf half_v(const uint16_t *p)
{
	return (vf)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}

INLINE void put_half(uint16_t *p, vf v)
{
	_mm_storeu_si128((__m128i *)p, _mm256_cvtps_ph((__m256)v, _MM_FROUND_TO_NEAREST_INT));
}

enum { FUSED_ROWS = 6, PAIR_WIDE = 2 };
