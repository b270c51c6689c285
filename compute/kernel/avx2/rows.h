/* SPDX-License-Identifier: MIT */
/*
 * One token, as in avx512/row.c: rows are read one after another, straight through memory. Eight blocks of a row give a
 * vector of exact sums, and one of scales; when eight rows are there, these are transposed, so that rows stand in lanes,
 * and the sums are added up in the order of all kernels. How products are summed is up to the tier.
 */
#ifndef KERNEL_AVX2_ROWS_H
#define KERNEL_AVX2_ROWS_H
#include <string.h>
#include "kernel/stream.h"
#include "part.h"

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

/* Sums of the lanes of four vectors, as sum_ints has them. */
typedef __m256i sum4_fn(__m256i a, __m256i b, __m256i c, __m256i d);

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
	if (size == 16)
		return load32(p);
	return _mm256_set_m128i(_mm_loadu_si128((const __m128i *)(p + size)), _mm_loadu_si128((const __m128i *)p));
}

/* Sums of the lanes of four vectors: those of vector i to place i. */
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

INLINE __m256i sum8(const __m256i s[8], sum4_fn *sum4)
{
	return add_halves(sum4(s[0], s[1], s[2], s[3]), sum4(s[4], s[5], s[6], s[7]));
}

/* Products from the start of a sum. */
INLINE __m256i first(products_fn *products, __m256i w, __m256i x)
{
	return products(_mm256_setzero_si256(), w, x);
}

/* Makes up for weights that were 128 too high. */
INLINE __m256i lower(__m256i sum, const struct values *x, size_t block, int high)
{
	return high ? _mm256_add_epi32(sum, load32(x->bias + block)) : sum;
}

INLINE __m256i raised(__m256i w, int high)
{
	return high ? _mm256_xor_si256(w, _mm256_set1_epi8((char)high)) : w;
}

INLINE __m128i load16(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i *)p);
}

/* Eight halves, 18 bytes apart: number i is word i of the 16 bytes with that number. */
INLINE __m256 halves18(const uint8_t *p)
{
	__m256i v = _mm256_blend_epi16(load32(p), load32(p + 32), 0x0c);

	v = _mm256_blend_epi16(_mm256_blend_epi16(v, load32(p + 64), 0x30), load32(p + 96), 0xc0);
	return _mm256_cvtph_ps(_mm_blend_epi16(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1), 0xaa));
}

/* 34 bytes apart: number i is word i from byte 32 * i on. */
INLINE __m256 halves34(const uint8_t *p)
{
	__m128i a = _mm_blend_epi16(load16(p), load16(p + 32), 0x02);
	__m128i b = _mm_blend_epi16(load16(p + 64), load16(p + 96), 0x08);
	__m128i c = _mm_blend_epi16(load16(p + 128), load16(p + 160), 0x20);
	__m128i d = _mm_blend_epi16(load16(p + 192), load16(p + 224), 0x80);

	return _mm256_cvtph_ps(_mm_blend_epi16(_mm_blend_epi16(a, b, 0x0c), _mm_blend_epi16(c, d, 0xc0), 0xf0));
}

/* Eight bytes, 17 bytes apart: number i is byte i of the 16 bytes with that number. */
INLINE __m256i bytes17(const uint8_t *p)
{
	__m256i v = _mm256_blend_epi16(load32(p), load32(p + 32), 0x02);

	v = _mm256_blend_epi16(_mm256_blend_epi16(v, load32(p + 64), 0x04), load32(p + 96), 0x08);
	return _mm256_cvtepu8_epi32(_mm_blendv_epi8(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1),
						    _mm_set1_epi16((short)0xff00)));
}

INLINE struct group scaled(__m256i sum, __m256 d)
{
	return (struct group){ sum, d, _mm256_setzero_ps() };
}

INLINE struct group q8_0_group(const uint8_t *p, const struct values *x, size_t block, products_fn *products, int high)
{
	__m256i s[8];

	UNROLL
	for (size_t i = 0; i < 8; i++)
		s[i] = first(products, raised(load32(p + 34 * i + 2), high), x_at(x, block + i));
	return scaled(lower(sum8(s, sum_ints), x, block, high), halves34(p));
}

/* Eight blocks whose nibbles stand for numbers up to 127; they are step bytes apart. */
INLINE __m256i table_sum(const uint8_t *p, size_t step, const int8_t *values, const struct values *x, size_t block,
			 products_fn *products, int high)
{
	__m256i s[4], table = raised(_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)values)), high);

	UNROLL
	for (size_t i = 0; i < 4; i++) {
		__m256i w = load_two(p + 2 * step * i, step);

		s[i] = first(products, _mm256_shuffle_epi8(table, low_nibbles(w)), x_at(x, block + 2 * i));
		s[i] = products(s[i], _mm256_shuffle_epi8(table, high_nibbles(w)), x_at(x, block + 2 * i + 1));
	}
	return lower(in_order(sum_ints(s[0], s[1], s[2], s[3])), x, block, high);
}

INLINE struct group iq4_nl_group(const uint8_t *p, const struct values *x, size_t block, products_fn *products, int high)
{
	return scaled(table_sum(p + 2, 18, iq4_values, x, block, products, high), halves18(p));
}

/* Half of 2^(e - 127), of exponents 17 bytes apart. */
INLINE __m256 exponents(const uint8_t *p)
{
	__m256i e = bytes17(p);
	__m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(e, _mm256_set1_epi32(1)), 23);
	__m256i small = _mm256_sllv_epi32(_mm256_set1_epi32(0x200000), e), is_small = _mm256_cmpgt_epi32(_mm256_set1_epi32(2), e);

	return _mm256_castsi256_ps(_mm256_blendv_epi8(normal, small, is_small));
}

INLINE struct group mxfp4_group(const uint8_t *p, const struct values *x, size_t block, products_fn *products, int high)
{
	return scaled(table_sum(p + 1, 17, fp4_doubled, x, block, products, high), exponents(p));
}

INLINE struct group iq4_xs_group(const uint8_t *p, const struct values *x, size_t block, products_fn *products, int high)
{
	return scaled(table_sum(p + 8, 16, iq4_values, x, block, products, high), iq4_xs_scales(p));
}

/* Values 0 to 63 of block i of eight. */
INLINE __m256i q6_values(const uint8_t *p, size_t i)
{
	__m256i w = load32(p + 64 * (i / 4) + 32 * (i % 2)), top = load32(p + 128 + 32 * (i / 4));
	__m256i high = i % 4 == 3 ? _mm256_srli_epi16(top, 2) : _mm256_slli_epi16(top, i % 4 == 2 ? 0 : 4 - 2 * (int)(i % 4));

	return _mm256_or_si256(i % 4 < 2 ? low_nibbles(w) : high_nibbles(w), _mm256_and_si256(high, _mm256_set1_epi8(0x30)));
}

/* 32 times the sums of activations with the scales of the halves they are in. */
INLINE __m256i q6_offset(const uint8_t *p, const struct values *x, size_t block)
{
	__m256i scales = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(p + 192)));

	return _mm256_slli_epi32(_mm256_madd_epi16(scales, load32(x->half + 2 * block)), 5);
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

KERNEL_END
#endif
