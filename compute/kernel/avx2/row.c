/* SPDX-License-Identifier: MIT */
/*
 * One token, as in avx512/row.c: rows are read one after another, straight through memory. Eight blocks of a row give a
 * vector of exact sums, and one of scales; when eight rows are there, these are transposed, so that rows stand in lanes,
 * and the sums are added up in the order of all kernels.
 */
#ifdef __x86_64__
#include <string.h>
#include "avx2.h"
#include "kernel/block.h"
#include "kernel/stream.h"
#include "quant/fp4.h"
#include "quant/iq.h"
#include "quant/quant.h"

enum { ROWS = 8, GROUP = 8, PART = 128 }; /* rows; blocks of a vector, at a time */

/* How a kernel wants two blocks of activations: as they are, or first halves, then last ones. */
enum order { AS_IS, IN_PAIRS, HALVES };

struct values {
	const int8_t *q;
	const float *d, *dsum;
	const int32_t *bias;
	_Alignas(32) int8_t arranged[PART * 32];
	int16_t half[PART * 2]; /* IN_PAIRS: sums of 16 values */
};

/* Of eight blocks of a row. */
struct group {
	__m256i sum;
	__m256 d, m;
};
typedef struct group group_fn(const uint8_t *p, const struct values *x, size_t block);

struct scratch {
	_Alignas(32) float sum[ROWS][PART], d[ROWS][PART], m[ROWS][PART];
};

KERNEL_BEGIN(AVX2_TARGET)
INLINE __m256i x_at(const struct values *x, size_t block)
{
	return load32(x->q + block * 32);
}

INLINE __m256i low_nibbles(__m256i v)
{
	return _mm256_and_si256(v, _mm256_set1_epi8(15));
}

INLINE __m256i high_nibbles(__m256i v)
{
	return low_nibbles(_mm256_srli_epi16(v, 4));
}

/* 16 bytes each of two blocks. */
INLINE __m256i load_two(const uint8_t *p, size_t size)
{
	return _mm256_set_m128i(_mm_loadu_si128((const __m128i *)(p + size)), _mm_loadu_si128((const __m128i *)p));
}

INLINE __m256i ones(__m256i v)
{
	return _mm256_madd_epi16(v, _mm256_set1_epi16(1));
}

/* Products of values with signs, two to a sum. */
INLINE __m256i dot_signed(__m256i w, __m256i x)
{
	return _mm256_maddubs_epi16(_mm256_abs_epi8(w), _mm256_sign_epi8(x, w));
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

/* The same of four numbers each. */
INLINE __m256i sum_ints(__m256i a, __m256i b, __m256i c, __m256i d)
{
	__m256i ab = _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
	__m256i cd = _mm256_add_epi32(_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));

	return _mm256_add_epi32(_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd));
}

/* Blocks 0 2 4 6 and 1 3 5 7 to their order. */
INLINE __m256i in_order(__m256i v)
{
	return _mm256_permutevar8x32_epi32(v, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* a has parts of blocks 0 to 3 in both halves, b of 4 to 7. */
INLINE __m256i add_halves(__m256i a, __m256i b)
{
	return _mm256_add_epi32(_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31));
}

INLINE __m256i eight_words(const __m256i s[8])
{
	return add_halves(sum_words(s[0], s[1], s[2], s[3]), sum_words(s[4], s[5], s[6], s[7]));
}

INLINE __m256i eight_ints(const __m256i s[8])
{
	return add_halves(sum_ints(s[0], s[1], s[2], s[3]), sum_ints(s[4], s[5], s[6], s[7]));
}

INLINE short word_at(const uint8_t *p)
{
	return (short)get16(p);
}

/* Eight that stand size bytes apart. */
INLINE __m128i words(const uint8_t *p, size_t size)
{
	return _mm_setr_epi16(word_at(p), word_at(p + size), word_at(p + 2 * size), word_at(p + 3 * size), word_at(p + 4 * size),
			      word_at(p + 5 * size), word_at(p + 6 * size), word_at(p + 7 * size));
}

INLINE __m256 halves(const uint8_t *p, size_t size)
{
	return _mm256_cvtph_ps(words(p, size));
}

INLINE __m256 half_of_all(const uint8_t *p)
{
	return _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(get16(p))));
}

INLINE struct group scaled(__m256i sum, __m256 d)
{
	return (struct group){ sum, d, _mm256_setzero_ps() };
}

INLINE struct group group_q8_0(const uint8_t *p, const struct values *x, size_t block)
{
	__m256i s[8];

	UNROLL
	for (size_t i = 0; i < 8; i++)
		s[i] = ones(dot_signed(load32(p + 34 * i + 2), x_at(x, block + i)));
	return scaled(eight_ints(s), halves(p, 34));
}

INLINE struct group group_q4_0(const uint8_t *p, const struct values *x, size_t block)
{
	__m256i s[4], bias = _mm256_srai_epi32(load32(x->bias + block), 4);

	UNROLL
	for (size_t i = 0; i < 4; i++) {
		__m256i w = load_two(p + 36 * i + 2, 18);

		s[i] = _mm256_add_epi16(_mm256_maddubs_epi16(low_nibbles(w), x_at(x, block + 2 * i)),
					_mm256_maddubs_epi16(high_nibbles(w), x_at(x, block + 2 * i + 1)));
	}
	return scaled(_mm256_add_epi32(in_order(sum_words(s[0], s[1], s[2], s[3])), bias), halves(p, 18));
}

/* Two blocks whose nibbles stand for numbers up to 127. */
INLINE __m256i dot_table(__m256i w, __m256i table, const struct values *x, size_t block)
{
	__m256i low = _mm256_shuffle_epi8(table, low_nibbles(w)), high = _mm256_shuffle_epi8(table, high_nibbles(w));

	return _mm256_add_epi32(ones(dot_signed(low, x_at(x, block))), ones(dot_signed(high, x_at(x, block + 1))));
}

INLINE __m256i table_of(const int8_t *values)
{
	return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)values));
}

INLINE struct group group_iq4_nl(const uint8_t *p, const struct values *x, size_t block)
{
	__m256i s[4], table = table_of(iq4_values);

	UNROLL
	for (size_t i = 0; i < 4; i++)
		s[i] = dot_table(load_two(p + 36 * i + 2, 18), table, x, block + 2 * i);
	return scaled(in_order(sum_ints(s[0], s[1], s[2], s[3])), halves(p, 18));
}

/* Half of 2^(e - 127), of exponents 17 bytes apart. */
INLINE __m256 exponents(const uint8_t *p)
{
	__m256i e = _mm256_cvtepu16_epi32(_mm_and_si128(words(p, 17), _mm_set1_epi16(255)));
	__m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(e, _mm256_set1_epi32(1)), 23);
	__m256i small = _mm256_sllv_epi32(_mm256_set1_epi32(0x200000), e), is_small = _mm256_cmpgt_epi32(_mm256_set1_epi32(2), e);

	return _mm256_castsi256_ps(_mm256_blendv_epi8(normal, small, is_small));
}

INLINE struct group group_mxfp4(const uint8_t *p, const struct values *x, size_t block)
{
	__m256i s[4], table = table_of(fp4_doubled);

	UNROLL
	for (size_t i = 0; i < 4; i++) {
		__m256i w = load_two(p + 34 * i + 1, 17);
		__m256i low = _mm256_shuffle_epi8(table, low_nibbles(w)), high = _mm256_shuffle_epi8(table, high_nibbles(w));

		s[i] = _mm256_add_epi16(dot_signed(low, x_at(x, block + 2 * i)), dot_signed(high, x_at(x, block + 2 * i + 1)));
	}
	return scaled(in_order(sum_words(s[0], s[1], s[2], s[3])), exponents(p));
}

/* Four bits at place 4 * i and two at 2 * i, 32 too high. */
INLINE struct group group_iq4_xs(const uint8_t *p, const struct values *x, size_t block)
{
	__m256i low = _mm256_srlv_epi32(_mm256_set1_epi32((int)get32(p + 4)), _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
	__m256i high = _mm256_srlv_epi32(_mm256_set1_epi32(get16(p + 2)), _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
	__m256i scale = _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi32(15)),
					_mm256_slli_epi32(_mm256_and_si256(high, _mm256_set1_epi32(3)), 4));
	__m256 d = _mm256_cvtepi32_ps(_mm256_sub_epi32(scale, _mm256_set1_epi32(32)));
	__m256i s[4], table = table_of(iq4_values);

	UNROLL
	for (size_t i = 0; i < 4; i++)
		s[i] = dot_table(load32(p + 8 + 32 * i), table, x, block + 2 * i);
	return scaled(in_order(sum_ints(s[0], s[1], s[2], s[3])), _mm256_mul_ps(half_of_all(p), d));
}

INLINE __m256 bytes_to_floats(uint32_t first, uint32_t last)
{
	return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)((uint64_t)last << 32 | first))));
}

/* Scales and offsets of eight blocks, as src/quant/k.h has them. */
INLINE struct group k_group(__m256i sum, const uint8_t *p)
{
	uint32_t s = get32(p + 4), o = get32(p + 8), low = get32(p + 12);
	__m256 scale = bytes_to_floats(s & 0x3f3f3f3f, (low & 0x0f0f0f0f) | (s >> 2 & 0x30303030));
	__m256 offset = bytes_to_floats(o & 0x3f3f3f3f, (low >> 4 & 0x0f0f0f0f) | (o >> 2 & 0x30303030));
	__m256 m = _mm256_mul_ps(half_of_all(p + 2), offset);

	return (struct group){ sum, _mm256_mul_ps(half_of_all(p), scale), _mm256_xor_ps(m, _mm256_set1_ps(-0.0f)) };
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
	return k_group(eight_words(s), p);
}

/* Adds 16 where v has bit i. */
INLINE __m256i add_fifth(__m256i q, __m256i v, size_t i)
{
	__m256i bit = _mm256_set1_epi8((char)(1 << i)), set = _mm256_cmpeq_epi8(_mm256_and_si256(v, bit), bit);

	return _mm256_or_si256(q, _mm256_and_si256(set, _mm256_set1_epi8(16)));
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
	return k_group(eight_words(s), p);
}

/* Block i of eight; scales: first those of the first 16 values of each, then those of the last 16. */
INLINE __m256i dot_q6(__m256i low, __m256i top, __m256i scales, size_t i, const struct values *x, size_t block)
{
	__m256i q = _mm256_or_si256(low, _mm256_and_si256(top, _mm256_set1_epi8(0x30)));
	__m256i scale = _mm256_shuffle_epi8(scales, _mm256_set1_epi16((short)(2 * i + ((2 * i + 1) << 8))));

	return _mm256_madd_epi16(_mm256_maddubs_epi16(q, x_at(x, block + i)), scale);
}

INLINE struct group group_q6_k(const uint8_t *p, const struct values *x, size_t block)
{
	__m128i scale = _mm_loadu_si128((const __m128i *)(p + 192));
	__m256i scales = _mm256_cvtepi8_epi16(_mm_shuffle_epi8(scale, _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11,
										   13, 15)));
	__m256i offset = _mm256_madd_epi16(_mm256_cvtepi8_epi16(scale), load32(x->half + 2 * block)), s[8];

	UNROLL
	for (size_t i = 0; i < 2; i++) {
		__m256i a = load32(p + 64 * i), b = load32(p + 64 * i + 32), top = load32(p + 128 + 32 * i);

		s[4 * i] = dot_q6(low_nibbles(a), _mm256_slli_epi16(top, 4), scales, 4 * i, x, block);
		s[4 * i + 1] = dot_q6(low_nibbles(b), _mm256_slli_epi16(top, 2), scales, 4 * i + 1, x, block);
		s[4 * i + 2] = dot_q6(high_nibbles(a), top, scales, 4 * i + 2, x, block);
		s[4 * i + 3] = dot_q6(high_nibbles(b), _mm256_srli_epi16(top, 2), scales, 4 * i + 3, x, block);
	}
	return scaled(_mm256_sub_epi32(eight_ints(s), _mm256_slli_epi32(offset, 5)), half_of_all(p + 208));
}

/* n blocks of one row, size bytes for eight. */
INLINE void sum_row(struct scratch *s, size_t r, const uint8_t *p, const struct values *x, size_t n, size_t size, bool offset,
		    group_fn *group)
{
	for (size_t b = 0; b < n; b += GROUP, p += size) {
		struct group g = group(p, x, b);

		stream_fetch(p, size);
		_mm256_store_ps(&s->sum[r][b], _mm256_cvtepi32_ps(g.sum));
		_mm256_store_ps(&s->d[r][b], _mm256_mul_ps(g.d, _mm256_loadu_ps(x->d + b)));
		if (offset)
			_mm256_store_ps(&s->m[r][b], g.m);
	}
}

/* Number block + i of eight rows to vector i. */
INLINE void load_transposed(__m256 v[8], const float from[ROWS][PART], size_t block)
{
	__m256 a[8], b[8];

	UNROLL
	for (int i = 0; i < 8; i++)
		v[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(&from[i % 4][block + (size_t)i / 4 * 4])),
					    _mm_load_ps(&from[i % 4 + 4][block + (size_t)i / 4 * 4]), 1);
	UNROLL
	for (int i = 0; i < 8; i += 2) {
		a[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
		a[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
	}
	UNROLL
	for (int i = 0; i < 8; i += 4) {
		b[i] = _mm256_shuffle_ps(a[i], a[i + 2], 0x44);
		b[i + 1] = _mm256_shuffle_ps(a[i], a[i + 2], 0xee);
		b[i + 2] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0x44);
		b[i + 3] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0xee);
	}
	UNROLL
	for (int i = 0; i < 8; i++)
		v[i] = b[i];
}

/* Adds up n blocks of eight rows. */
INLINE __m256 add_up(__m256 acc, const struct scratch *s, const float *dsum, size_t n, bool offset)
{
	for (size_t block = 0; block < n; block += GROUP) {
		__m256 sum[8], d[8], m[8];

		load_transposed(sum, s->sum, block);
		load_transposed(d, s->d, block);
		if (offset)
			load_transposed(m, s->m, block);
		UNROLL
		for (size_t i = 0; i < 8; i++) {
			acc = _mm256_fmadd_ps(sum[i], d[i], acc);
			if (offset)
				acc = _mm256_fmadd_ps(m[i], _mm256_broadcast_ss(dsum + block + i), acc);
		}
	}
	return acc;
}

/* n blocks of activations from number first, a multiple of eight. */
INLINE void arrange(struct values *x, const struct act *a, size_t first, size_t n, enum order order)
{
	x->q = a->q + first * 32;
	x->d = a->d + first;
	x->dsum = a->dsum + first;
	x->bias = a->bias + first;
	for (size_t b = 0; b < n && order == HALVES; b += 2) {
		__m256i v[2] = { x_at(x, b), x_at(x, b + 1) };

		_mm256_store_si256((__m256i *)(x->arranged + b * 32), _mm256_permute2x128_si256(v[0], v[1], 0x20));
		_mm256_store_si256((__m256i *)(x->arranged + b * 32 + 32), _mm256_permute2x128_si256(v[0], v[1], 0x31));
	}
	if (order == HALVES)
		x->q = x->arranged;
	for (size_t i = 0; i < 2 * n && order == IN_PAIRS; i++)
		x->half[i] = (int16_t)(a->half[2 * first + i] / -128);
}

/* Blocks first .. first+n-1 of rows from .. to-1, added to y. */
INLINE void sum_rows(const struct mat *w, const struct act *a, float *y, size_t from, size_t to, size_t first, size_t n,
		     enum order order, size_t size, bool offset, group_fn *group)
{
	struct scratch s;
	struct values x;

	arrange(&x, a, first, n, order);
	if (to - from < ROWS)
		memset(&s, 0, sizeof s);
	for (size_t row = from; row < to; row += ROWS) {
		const uint8_t *p = (const uint8_t *)w->data + row * w->row_bytes + first / GROUP * size;
		size_t count = to - row < ROWS ? to - row : ROWS;
		float out[ROWS] = { 0 };

		if (first)
			memcpy(out, y + row, count * sizeof *y);
		for (size_t r = 0; r < count; r++)
			sum_row(&s, r, p + r * w->row_bytes, &x, n, size, offset, group);
		_mm256_storeu_ps(out, add_up(_mm256_loadu_ps(out), &s, x.dsum, n, offset));
		memcpy(y + row, out, count * sizeof *y);
	}
}

/* Whole groups of blocks; the caller adds what is left at the end of rows. */
INLINE size_t sum_groups(const struct mat *w, const struct act *a, float *y, size_t from, size_t to, enum order order,
			 size_t size, bool offset, group_fn *group)
{
	size_t whole = a->blocks / GROUP * GROUP;

	for (size_t first = 0, n; first < whole; first += n) {
		n = whole - first < PART ? whole - first : PART;
		sum_rows(w, a, y, from, to, first, n, order, size, offset, group);
	}
	return whole;
}

#define ROW_KERNEL(NAME, name, kind, order, size) \
	size_t avx2_sum_##NAME(const struct mat *w, const struct act *a, float *y, size_t from, size_t to) \
	{ \
		return sum_groups(w, a, y, from, to, order, size, kind == BLOCK_OFFSET, group_##name); \
	}
AVX2_INT_KERNELS(ROW_KERNEL)
KERNEL_END
#endif
