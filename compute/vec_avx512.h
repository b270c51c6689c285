/* SPDX-License-Identifier: MIT */
/* What vec_body.h asks for, in AVX-512. Included between KERNEL_BEGIN and KERNEL_END. */
INLINE vf fma_v(vf a, vf b, vf c)
{
	return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

INLINE vf max_v(vf a, vf b)
{
	return (vf)_mm512_max_ps((__m512)a, (__m512)b);
}

INLINE float max_lane(vf v)
{
	__m256 y = _mm256_max_ps(_mm512_castps512_ps256((__m512)v), _mm512_extractf32x8_ps((__m512)v, 1));
	__m128 x = _mm_max_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1));

	x = _mm_max_ps(x, _mm_movehl_ps(x, x));
	return _mm_cvtss_f32(_mm_max_ss(x, _mm_movehdup_ps(x)));
}

INLINE bool is_above(vf v, float limit)
{
	return _mm512_cmp_ps_mask((__m512)v, _mm512_set1_ps(limit), _CMP_GT_OQ);
}

INLINE float sum_lanes(vf v)
{
	__m256 y = _mm256_add_ps(_mm512_castps512_ps256((__m512)v), _mm512_extractf32x8_ps((__m512)v, 1));
	__m128 x = _mm_add_ps(_mm256_castps256_ps128(y), _mm256_extractf128_ps(y, 1));

	x = _mm_add_ps(x, _mm_movehl_ps(x, x));
	return _mm_cvtss_f32(_mm_add_ss(x, _mm_movehdup_ps(x)));
}

INLINE vf half_v(const uint16_t *p)
{
	return (vf)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

INLINE void put_half(uint16_t *p, vf v)
{
	_mm256_storeu_si256((__m256i *)p, _mm512_cvtps_ph((__m512)v, _MM_FROUND_TO_NEAREST_INT));
}

enum { FUSED_ROWS = 8, PAIR_WIDE = 4 };
