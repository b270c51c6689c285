/* SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>
#include "fold.h"

enum { GROUP = 16 };

KERNEL_BEGIN(AVX512_TARGET)
INLINE __m512i magnitudes(const float *x)
{
	return _mm512_and_si512(_mm512_loadu_si512(x), _mm512_set1_epi32(0x7fffffff));
}

/* The largest magnitudes of a block by their bits, which order NaN above infinity: one of 16 places has that of all. */
INLINE __m512i largest(const float *x)
{
	return _mm512_max_epi32(magnitudes(x), magnitudes(x + 16));
}

INLINE __m512i largest_of_parts(__m512i a, __m512i b, int step)
{
	__m512 x = _mm512_castsi512_ps(a), y = _mm512_castsi512_ps(b);

	switch (step) {
	case 8:
		return _mm512_max_epi32(_mm512_shuffle_i32x4(a, b, 0x44), _mm512_shuffle_i32x4(a, b, 0xee));
	case 4:
		return _mm512_max_epi32(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
	case 2:
		return _mm512_max_epi32(_mm512_castps_si512(_mm512_shuffle_ps(x, y, 0x44)),
					_mm512_castps_si512(_mm512_shuffle_ps(x, y, 0xee)));
	default:
		return _mm512_max_epi32(_mm512_castps_si512(_mm512_shuffle_ps(x, y, 0x88)),
					_mm512_castps_si512(_mm512_shuffle_ps(x, y, 0xdd)));
	}
}

/* Those of 16 vectors, number i to place folded(i). */
INLINE __m512 largest_of_16(__m512i v[16])
{
	UNROLL
	for (int step = 8; step; step /= 2)
		UNROLL
		for (int i = 0; i < step; i++)
			v[i] = largest_of_parts(v[2 * i], v[2 * i + 1], step);
	return _mm512_castsi512_ps(v[0]);
}

INLINE __m512i round_to_int(__m512 v)
{
	return _mm512_max_epi32(_mm512_cvtps_epi32(v), _mm512_set1_epi32(-127));
}

/* Block number at of the entries: its integers, which are values times inverse, and their sums. */
INLINE void put_block(const struct act_row *row, size_t at, const float *x, float d, float inverse)
{
	__m512 scale = _mm512_set1_ps(inverse);
	__m128i q0 = _mm512_cvtsepi32_epi8(round_to_int(_mm512_mul_ps(_mm512_loadu_ps(x), scale)));
	__m128i q1 = _mm512_cvtsepi32_epi8(round_to_int(_mm512_mul_ps(_mm512_loadu_ps(x + 16), scale)));
	__m256i q = _mm256_inserti128_si256(_mm256_castsi128_si256(q0), q1, 1);
	__m256i eights = _mm256_sad_epu8(_mm256_xor_si256(q, _mm256_set1_epi8((char)0x80)), _mm256_setzero_si256());
	__m256i halves = _mm256_add_epi64(eights, _mm256_unpackhi_epi64(eights, eights));
	int32_t s0 = _mm256_cvtsi256_si32(halves) - 16 * 128, s1 = _mm256_extract_epi32(halves, 4) - 16 * 128;

	_mm256_storeu_si256((__m256i *)(row->q + at * 32), q);
	row->d[at] = d;
	row->dsum[at] = d * (float)(s0 + s1);
	row->bias[at] = -128 * (s0 + s1);
	row->half[2 * at] = -128 * s0;
	row->half[2 * at + 1] = -128 * s1;
}

/* Sixteen blocks, or the first n of them. */
INLINE void put_blocks(const struct act_row *row, const float *x, size_t from, size_t n)
{
	const __m512 limit = _mm512_set1_ps(127);
	_Alignas(64) float d[GROUP], inverse[GROUP];
	__m512i v[GROUP];

	UNROLL
	for (size_t i = 0; i < GROUP; i++)
		v[i] = i < n ? largest(x + (from + i) * 32) : _mm512_setzero_si512();
	__m512 most = largest_of_16(v);

	_mm512_store_ps(d, _mm512_div_ps(most, limit));
	_mm512_store_ps(inverse, _mm512_maskz_div_ps(_mm512_cmp_ps_mask(most, _mm512_setzero_ps(), _CMP_NEQ_UQ), limit, most));
	for (size_t i = 0; i < n; i++) {
		int at = folded((int)i);

		put_block(row, (from + i) * row->step, x + (from + i) * 32, d[at], inverse[at]);
	}
}

void avx512_quantize(const struct act_row *row, const float *x, size_t from, size_t to)
{
	for (; from + GROUP <= to; from += GROUP)
		put_blocks(row, x, from, GROUP);
	if (from < to)
		put_blocks(row, x, from, to - from);
}
KERNEL_END
#endif
