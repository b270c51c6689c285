/* SPDX-License-Identifier: MIT */
/* One token: pairs of products are summed in words as long as these hold them. */
#ifdef __x86_64__
#include "rows.h"

KERNEL_BEGIN(AVX2_TARGET)
INLINE __m256i ones(__m256i v)
{
	return _mm256_madd_epi16(v, _mm256_set1_epi16(1));
}

/* Sums of the lanes of four vectors, whose eight words each are small enough: those of vector i to place i. */
INLINE __m256i sum_words(__m256i a, __m256i b, __m256i c, __m256i d)
{
	__m256i ab = _mm256_add_epi16(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
	__m256i cd = _mm256_add_epi16(_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d));
	__m256 first = _mm256_castsi256_ps(ab), last = _mm256_castsi256_ps(cd);

	return ones(_mm256_add_epi16(_mm256_castps_si256(_mm256_shuffle_ps(first, last, 0x88)),
				     _mm256_castps_si256(_mm256_shuffle_ps(first, last, 0xdd))));
}

/* The same of words of which a word holds the sum of two. */
INLINE __m256i sum_large_words(__m256i a, __m256i b, __m256i c, __m256i d)
{
	__m256i ab = ones(_mm256_add_epi16(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)));
	__m256i cd = ones(_mm256_add_epi16(_mm256_unpacklo_epi64(c, d), _mm256_unpackhi_epi64(c, d)));
	__m256 first = _mm256_castsi256_ps(ab), last = _mm256_castsi256_ps(cd);

	return _mm256_add_epi32(_mm256_castps_si256(_mm256_shuffle_ps(first, last, 0x88)),
				_mm256_castps_si256(_mm256_shuffle_ps(first, last, 0xdd)));
}

#define GROUP_FN(name, ...) \
	INLINE struct group group_##name(const uint8_t *p, const struct values *x, size_t block) \
	{ \
		return name##_group(p, x, block, __VA_ARGS__); \
	}
GROUP_FN(q8_0, signed_products, 0)
GROUP_FN(iq4_nl, signed_products, 0)
GROUP_FN(iq4_xs, signed_products, 0)

INLINE struct group group_q4_0(const uint8_t *p, const struct values *x, size_t block)
{
	__m256i s[4], bias = _mm256_srai_epi32(load32(x->bias + block), 4);

	UNROLL
	for (size_t i = 0; i < 4; i++) {
		__m256i w = load_two(p + 36 * i + 2, 18);

		s[i] = _mm256_add_epi16(_mm256_maddubs_epi16(low_nibbles(w), x_at(x, block + 2 * i)),
					_mm256_maddubs_epi16(high_nibbles(w), x_at(x, block + 2 * i + 1)));
	}
	return scaled(_mm256_add_epi32(in_order(sum_words(s[0], s[1], s[2], s[3])), bias), halves18(p));
}

/* Numbers from -12 to 12, raised by 12: without signs. */
INLINE struct group group_mxfp4(const uint8_t *p, const struct values *x, size_t block)
{
	__m256i table = _mm256_add_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)fp4_doubled)),
					_mm256_set1_epi8(12));
	__m256i s[4], bias = _mm256_srai_epi32(load32(x->bias + block), 5);

	UNROLL
	for (size_t i = 0; i < 4; i++) {
		__m256i w = load_two(p + 34 * i + 1, 17);
		__m256i low = _mm256_shuffle_epi8(table, low_nibbles(w)), high = _mm256_shuffle_epi8(table, high_nibbles(w));

		s[i] = _mm256_add_epi16(_mm256_maddubs_epi16(low, x_at(x, block + 2 * i)),
					_mm256_maddubs_epi16(high, x_at(x, block + 2 * i + 1)));
	}
	bias = _mm256_add_epi32(bias, _mm256_add_epi32(bias, bias));
	return scaled(_mm256_add_epi32(in_order(sum_large_words(s[0], s[1], s[2], s[3])), bias), exponents(p));
}

INLINE struct group k_group(__m256i sum, const uint8_t *p)
{
	struct scales s = k_scales(p);

	return (struct group){ sum, s.d, s.m };
}

INLINE struct group group_q4_k(const uint8_t *p, const struct values *x, size_t block)
{
	__m256i s[8];

	UNROLL
	for (size_t i = 0; i < 4; i++) {
		__m256i w = load32(p + 16 + 32 * i);

		s[2 * i] = _mm256_maddubs_epi16(low_nibbles(w), x_at(x, block + 2 * i));
		s[2 * i + 1] = _mm256_maddubs_epi16(high_nibbles(w), x_at(x, block + 2 * i + 1));
	}
	return k_group(sum8(s, sum_words), p);
}

/* Adds 16 where v has bit i. */
INLINE __m256i add_fifth(__m256i q, __m256i v, size_t i)
{
	__m256i at4 = i < 4 ? _mm256_slli_epi16(v, 4 - (int)i) : _mm256_srli_epi16(v, (int)i - 4);

	return _mm256_or_si256(q, _mm256_and_si256(at4, _mm256_set1_epi8(16)));
}

INLINE struct group group_q5_k(const uint8_t *p, const struct values *x, size_t block)
{
	__m256i s[8], fifth = load32(p + 16);

	UNROLL
	for (size_t i = 0; i < 4; i++) {
		__m256i w = load32(p + 48 + 32 * i);

		s[2 * i] = _mm256_maddubs_epi16(add_fifth(low_nibbles(w), fifth, 2 * i), x_at(x, block + 2 * i));
		s[2 * i + 1] = _mm256_maddubs_epi16(add_fifth(high_nibbles(w), fifth, 2 * i + 1), x_at(x, block + 2 * i + 1));
	}
	return k_group(sum8(s, sum_words), p);
}

INLINE struct group group_q6_k(const uint8_t *p, const struct values *x, size_t block)
{
	__m128i scale = _mm_loadu_si128((const __m128i *)(p + 192));
	__m256i scales = _mm256_cvtepi8_epi16(_mm_shuffle_epi8(scale, _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11,
										   13, 15))), s[8];

	UNROLL
	for (size_t i = 0; i < 8; i++) {
		__m256i each = _mm256_shuffle_epi8(scales, _mm256_set1_epi16((short)(2 * i + ((2 * i + 1) << 8))));

		s[i] = _mm256_madd_epi16(_mm256_maddubs_epi16(q6_values(p, i), x_at(x, block + i)), each);
	}
	return scaled(_mm256_sub_epi32(sum8(s, sum_ints), q6_offset(p, x, block)), half_of_all(p + 208));
}

#define ROW_KERNEL(NAME, name, kind, order, size) \
	size_t avx2_sum_##NAME(const struct mat *w, const struct act *a, float *y, size_t from, size_t to) \
	{ \
		return sum_groups(w, a, y, from, to, order, size, kind == BLOCK_OFFSET, group_##name); \
	}
AVX2_INT_KERNELS(ROW_KERNEL)
KERNEL_END
#endif
