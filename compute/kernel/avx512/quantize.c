/* SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>
#include "avx512.h"

KERNEL_BEGIN(AVX512_TARGET)
/* The largest magnitude by its bits, which orders NaN above infinity. */
INLINE float largest(__m512 a, __m512 b)
{
	const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
	__m512i most = _mm512_max_epi32(_mm512_and_si512(_mm512_castps_si512(a), magnitude),
					_mm512_and_si512(_mm512_castps_si512(b), magnitude));

	return _mm_cvtss_f32(_mm_castsi128_ps(_mm_cvtsi32_si128(_mm512_reduce_max_epi32(most))));
}

INLINE __m512i round_to_int(__m512 v)
{
	return _mm512_max_epi32(_mm512_cvtps_epi32(v), _mm512_set1_epi32(-127));
}

void avx512_quantize(const struct act_row *row, const float *x, size_t from, size_t to)
{
	for (size_t b = from; b < to; b++) {
		size_t at = b * row->step;
		__m512 first = _mm512_loadu_ps(x + b * 32), last = _mm512_loadu_ps(x + b * 32 + 16);
		float most = largest(first, last), d = most / 127;
		__m512 inverse = _mm512_set1_ps(most == 0 ? 0 : 127 / most);
		__m512i q0 = round_to_int(_mm512_mul_ps(first, inverse)), q1 = round_to_int(_mm512_mul_ps(last, inverse));
		int32_t s0 = _mm512_reduce_add_epi32(q0), s1 = _mm512_reduce_add_epi32(q1);

		_mm_storeu_si128((__m128i *)(row->q + at * 32), _mm512_cvtsepi32_epi8(q0));
		_mm_storeu_si128((__m128i *)(row->q + at * 32 + 16), _mm512_cvtsepi32_epi8(q1));
		row->d[at] = d;
		row->dsum[at] = d * (float)(s0 + s1);
		row->bias[at] = -128 * (s0 + s1);
		row->half[2 * at] = -128 * s0;
		row->half[2 * at + 1] = -128 * s1;
	}
}
KERNEL_END
#endif
