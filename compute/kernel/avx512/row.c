/* SPDX-License-Identifier: MIT */
/*
 * One token: rows are read one after another, straight through memory, which is what its prefetchers like best. A row
 * gives the exact sums of its blocks, sixteen to a vector; when sixteen rows are there, the vectors are transposed, and
 * the sums are added up in the order of all kernels, a row in each lane.
 */
#ifdef __x86_64__
#include <immintrin.h>
#include <string.h>
#include "rows.h"
#include "kernel/stream.h"
#include "quant/fp4.h"
#include "quant/iq.h"

enum { ROWS = 16, GROUP = 16, PART = 128 }; /* rows; blocks of a vector, at a time */

/* How a kernel wants four blocks of activations: as they are, first halves then last ones, or blocks 0 2 1 3. */
enum order { AS_IS, IN_PAIRS, HALVES, EVEN_ODD };

struct values {
	const int8_t *q;
	const int32_t *bias;
	_Alignas(64) int8_t arranged[PART * 32];
	int32_t init[PART * 8]; /* IN_PAIRS: -32 times the sum of 16 values, in one of the four lanes that add them up */
};

/* Of 16 blocks of a row: exact sums, and scales, where those do not come later for all rows. */
struct group {
	__m512 sum, d;
};
typedef struct group group_fn(const uint8_t *p, const struct values *x, size_t block);

struct scratch {
	_Alignas(64) float sum[ROWS][PART], d[ROWS][PART];
};

/* Scales and offsets of 16 blocks from bytes at on, or number block in the scratch; false: there are no offsets. */
typedef bool scales_fn(__m512 d[16], __m512 m[16], const struct scratch *s, size_t block, const struct panel_rows *r, size_t at);

KERNEL_BEGIN(AVX512_TARGET ",bmi2")
INLINE __m512i load(const void *p)
{
	return _mm512_loadu_si512(p);
}

/* In halves: whole vectors that cross lines are slower when these come from memory. */
INLINE __m512i load_halves(const uint8_t *p)
{
	__m512i v = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)p));

	return _mm512_inserti64x4(v, _mm256_loadu_si256((const __m256i *)(p + 32)), 1);
}

INLINE __m512i x_at(const struct values *x, size_t block, int i)
{
	return load(x->q + block * 32 + 64 * i);
}

INLINE __m512i add32(__m512i a, __m512i b)
{
	return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
}

INLINE __m512i add64(__m512i a, __m512i b)
{
	return _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
}

/* The sums of the quarters of four vectors: vector i, quarter q to lane 4 * q + i. */
INLINE __m512i sum_quarters(const __m512i v[4])
{
	return add64(add32(v[0], v[1]), add32(v[2], v[3]));
}

/* The sums of the halves of eight vectors: vector i, half h to lane 8 * (i / 4) + 4 * h + i % 4. */
INLINE __m512i sum_halves(const __m512i v[8])
{
	__m512i a = sum_quarters(v), b = sum_quarters(v + 4);

	return _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
}

/* sum_halves, where vector i has blocks 2 * i and 2 * i + 1 */
INLINE __m512i sum_neighbours(const __m512i v[8])
{
	return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15), sum_halves(v));
}

/* sum_quarters, where vector i has blocks 4 * i to 4 * i + 3 */
INLINE __m512i sum_fours(const __m512i v[4])
{
	return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), sum_quarters(v));
}

/* sum_halves, where vectors 4i to 4i + 3 have of blocks 8i ..: 0 2, 1 3, 4 6, 5 7 */
INLINE __m512i sum_even_odd(const __m512i v[8])
{
	return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15), sum_halves(v));
}

INLINE __m512 with_bias(__m512i sum, const struct values *x, size_t block, unsigned shift)
{
	return _mm512_cvtepi32_ps(_mm512_add_epi32(sum, _mm512_srai_epi32(load(x->bias + block), shift)));
}

/* Four blocks of nibbles, 16 bytes each, size bytes apart. */
INLINE __m512i load_four(const uint8_t *p, size_t size)
{
	__m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)p));

	v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(p + size)), 1);
	v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(p + 2 * size)), 2);
	return _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(p + 3 * size)), 3);
}

INLINE struct group group_q8_0(const uint8_t *p, const struct values *x, size_t block)
{
	__m512i s[8];

	UNROLL
	for (int i = 0; i < 8; i++) {
		__m512i w = _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)(p + 68 * i + 2)));

		w = _mm512_inserti64x4(w, _mm256_loadu_si256((const __m256i *)(p + 68 * i + 36)), 1);
		w = _mm512_xor_si512(w, _mm512_set1_epi8((char)0x80));
		s[i] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), w, x_at(x, block, i));
	}
	return (struct group){ with_bias(sum_neighbours(s), x, block, 0), scales34(p) };
}

/* 64 bytes of nibbles of four blocks. */
INLINE __m512i dot_four(__m512i w, const struct values *x, size_t block, int i)
{
	__m512i s = _mm512_dpbusd_epi32(_mm512_setzero_si512(), low_nibbles(w), x_at(x, block, 2 * i));

	return _mm512_dpbusd_epi32(s, high_nibbles(w), x_at(x, block, 2 * i + 1));
}

INLINE __m512i dot_four_table(__m512i w, __m512i table, const struct values *x, size_t block, int i)
{
	__m512i low = _mm512_shuffle_epi8(table, low_nibbles(w)), high = _mm512_shuffle_epi8(table, high_nibbles(w));
	__m512i s = _mm512_dpbusd_epi32(_mm512_setzero_si512(), low, x_at(x, block, 2 * i));

	return _mm512_dpbusd_epi32(s, high, x_at(x, block, 2 * i + 1));
}

INLINE struct group group_q4_0(const uint8_t *p, const struct values *x, size_t block)
{
	__m512i s[4];

	UNROLL
	for (int i = 0; i < 4; i++)
		s[i] = dot_four(load_four(p + 72 * i + 2, 18), x, block, i);
	return (struct group){ with_bias(sum_fours(s), x, block, 4), scales18(p) };
}

INLINE struct group group_iq4_nl(const uint8_t *p, const struct values *x, size_t block)
{
	__m512i s[4], table = table_of(iq4_values);

	UNROLL
	for (int i = 0; i < 4; i++)
		s[i] = dot_four_table(load_four(p + 72 * i + 2, 18), table, x, block, i);
	return (struct group){ with_bias(sum_fours(s), x, block, 0), scales18(p) };
}

INLINE struct group group_mxfp4(const uint8_t *p, const struct values *x, size_t block)
{
	__m512i s[4], table = table_of(fp4_doubled);

	UNROLL
	for (int i = 0; i < 4; i++)
		s[i] = dot_four_table(load_four(p + 68 * i + 1, 17), table, x, block, i);
	return (struct group){ with_bias(sum_fours(s), x, block, 0), _mm512_castsi512_ps(exponents17(p)) };
}

INLINE struct group sums(__m512i sum)
{
	return (struct group){ _mm512_cvtepi32_ps(sum), _mm512_setzero_ps() };
}

INLINE struct group group_q4_k(const uint8_t *p, const struct values *x, size_t block)
{
	__m512i s[8];

	UNROLL
	for (int i = 0; i < 4; i++) {
		__m512i w = load_halves(p + i / 2 * 144 + 16 + i % 2 * 64);

		s[2 * i] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), low_nibbles(w), x_at(x, block, 2 * i));
		s[2 * i + 1] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), high_nibbles(w), x_at(x, block, 2 * i + 1));
	}
	return sums(sum_even_odd(s));
}

/* Adds 16 where the bytes of v have bit first, or in the upper half bit first + 2. */
INLINE __m512i add_fifth(__m512i q, __m512i v, int first)
{
	__m512i bits = _mm512_mask_blend_epi8(0xffffffff00000000, _mm512_set1_epi8((char)(1 << first)),
					      _mm512_set1_epi8((char)(1 << (first + 2))));

	return _mm512_mask_add_epi8(q, _mm512_test_epi8_mask(v, bits), q, _mm512_set1_epi8(16));
}

INLINE struct group group_q5_k(const uint8_t *p, const struct values *x, size_t block)
{
	__m512i s[8];

	UNROLL
	for (int i = 0; i < 4; i++) {
		const uint8_t *b = p + i / 2 * 176;
		__m512i w = load_halves(b + 48 + i % 2 * 64), fifth = _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)(b + 16)));
		__m512i low = add_fifth(low_nibbles(w), fifth, i % 2 * 4), high = add_fifth(high_nibbles(w), fifth, i % 2 * 4 + 1);

		s[2 * i] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), low, x_at(x, block, 2 * i));
		s[2 * i + 1] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), high, x_at(x, block, 2 * i + 1));
	}
	return sums(sum_even_odd(s));
}

/* Two blocks of Q6_K, with their four scales. */
INLINE __m512i dot_q6(__m512i q, __m128i scales, int i, const struct values *x, size_t block)
{
	const __m128i four = _mm_setr_epi8(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
	__m128i of_lanes = _mm_shuffle_epi8(scales, _mm_add_epi8(four, _mm_set1_epi8((char)(i % 4 * 4))));
	__m512i s = _mm512_dpbusd_epi32(_mm512_load_si512(x->init + block * 8 + 16 * i), q, x_at(x, block, i));

	return _mm512_mullo_epi32(s, _mm512_cvtepi8_epi32(of_lanes));
}

INLINE struct group group_q6_k(const uint8_t *p, const struct values *x, size_t block)
{
	const __m512i top_bits = _mm512_set1_epi8(0x30);
	__m512i s[8];

	UNROLL
	for (int i = 0; i < 4; i++) {
		const uint8_t *b = p + i / 2 * 210;
		__m128i scales = _mm_loadu_si128((const __m128i *)(b + 192));
		__m512i low = load_halves(b + i % 2 * 64);
		__m256i t = _mm256_loadu_si256((const __m256i *)(b + 128 + i % 2 * 32));
		__m512i first = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_slli_epi16(t, 4)), _mm256_slli_epi16(t, 2), 1);
		__m512i last = _mm512_inserti64x4(_mm512_castsi256_si512(t), _mm256_srli_epi16(t, 2), 1);

		s[2 * i] = dot_q6(_mm512_or_si512(low_nibbles(low), _mm512_and_si512(first, top_bits)), scales, 2 * i, x, block);
		s[2 * i + 1] = dot_q6(_mm512_or_si512(high_nibbles(low), _mm512_and_si512(last, top_bits)), scales, 2 * i + 1, x,
				      block);
	}
	return sums(sum_neighbours(s));
}

INLINE struct group group_iq4_xs(const uint8_t *p, const struct values *x, size_t block)
{
	__m512i s[4], table = table_of(iq4_values);

	UNROLL
	for (int i = 0; i < 4; i++)
		s[i] = dot_four_table(load_halves(p + i / 2 * 136 + 8 + i % 2 * 64), table, x, block, i);
	return (struct group){ with_bias(sum_fours(s), x, block, 0), _mm512_setzero_ps() };
}

INLINE void load_transposed(__m512 v[16], const float from[ROWS][PART], size_t block)
{
	UNROLL
	for (int r = 0; r < ROWS; r++)
		v[r] = _mm512_load_ps(&from[r][block]);
	transpose(v);
}

#define SCALES(name) \
	INLINE bool name(__m512 d[16], __m512 m[16], const struct scratch *s, size_t block, const struct panel_rows *r, size_t at)

SCALES(scales_of_rows)
{
	(void)m, (void)r, (void)at;
	load_transposed(d, s->d, block);
	return false;
}

/* Decoded only here, as that is cheaper where nothing waits for memory. */
SCALES(scales_of_exponents)
{
	(void)m, (void)r, (void)at;
	UNROLL
	for (int i = 0; i < ROWS; i++)
		d[i] = decode17(_mm512_castps_si512(_mm512_load_ps(&s->d[i][block])));
	transpose(d);
	return false;
}

SCALES(scales_q4_k)
{
	(void)s, (void)block;
	k_scales(d, m, r, at);
	k_scales(d + 8, m + 8, r, at + 144);
	return true;
}

SCALES(scales_q5_k)
{
	(void)s, (void)block;
	k_scales(d, m, r, at);
	k_scales(d + 8, m + 8, r, at + 176);
	return true;
}

SCALES(scales_q6_k)
{
	(void)m, (void)s, (void)block;
	UNROLL
	for (size_t i = 0; i < 2; i++) {
		__m512i tail[4];

		load16(tail, r, at + 210 * i + 194);
		UNROLL
		for (size_t k = 0; k < 8; k++)
			d[8 * i + k] = high_half(tail[3]);
	}
	return false;
}

SCALES(scales_iq4_xs)
{
	(void)m, (void)s, (void)block;
	iq4_xs_scales(d, r, at);
	iq4_xs_scales(d + 8, r, at + 136);
	return false;
}

/* Adds up n blocks of sixteen rows, which start at byte at. */
INLINE __m512 add_up(__m512 acc, const struct scratch *s, const struct panel_rows *r, size_t at, const float *d,
		     const float *dsum, size_t n, size_t size, scales_fn *scales)
{
	for (size_t block = 0; block < n; block += GROUP, at += size) {
		__m512 sum[16], scale[16], m[16];
		bool offset = scales(scale, m, s, block, r, at);

		load_transposed(sum, s->sum, block);
		UNROLL
		for (int i = 0; i < 16; i++) {
			acc = _mm512_fmadd_ps(sum[i], _mm512_mul_ps(scale[i], _mm512_set1_ps(d[block + (size_t)i])), acc);
			if (offset)
				acc = _mm512_fmadd_ps(m[i], _mm512_set1_ps(dsum[block + (size_t)i]), acc);
		}
	}
	return acc;
}

/* n blocks of activations from number first, a multiple of four. */
INLINE void arrange(struct values *x, const struct act *a, size_t first, size_t n, enum order order)
{
	x->q = a->q + first * 32;
	x->bias = a->bias + first;
	for (size_t b = 0; b < n && (order == HALVES || order == EVEN_ODD); b += 4) {
		__m512i v[2] = { load(x->q + b * 32), load(x->q + b * 32 + 64) };
		__m512i low = order == HALVES ? _mm512_shuffle_i32x4(v[0], v[1], 0x88) : _mm512_shuffle_i32x4(v[0], v[1], 0x44);
		__m512i high = order == HALVES ? _mm512_shuffle_i32x4(v[0], v[1], 0xdd) : _mm512_shuffle_i32x4(v[0], v[1], 0xee);

		_mm512_store_si512(x->arranged + b * 32, low);
		_mm512_store_si512(x->arranged + b * 32 + 64, high);
	}
	if (order == HALVES || order == EVEN_ODD)
		x->q = x->arranged;
	for (size_t i = 0; i < 2 * n && order == IN_PAIRS; i++)
		_mm_storeu_si128((__m128i *)(x->init + 4 * i), _mm_cvtsi32_si128(a->half[2 * first + i] / 4));
}

/* n blocks of one row, size bytes for sixteen. */
INLINE void sum_row(struct scratch *s, size_t r, const uint8_t *p, const struct values *x, size_t n, size_t size,
		    group_fn *group)
{
	for (size_t b = 0; b < n; b += GROUP, p += size) {
		struct group g = group(p, x, b);

		stream_fetch(p, size);
		_mm512_store_ps(&s->sum[r][b], g.sum);
		_mm512_store_ps(&s->d[r][b], g.d);
	}
}

/* Blocks first .. first+n-1 of rows from .. to-1, added to y. */
INLINE void sum_rows(const struct mat *w, const struct act *a, float *y, size_t from, size_t to, size_t first, size_t n,
		     enum order order, size_t size, group_fn *group, scales_fn *scales)
{
	struct scratch s;
	struct values x;

	arrange(&x, a, first, n, order);
	if (to - from < ROWS)
		memset(&s, 0, sizeof s);
	struct panel_rows rows = panel_rows_at(w, from, to, ROWS);

	for (size_t row = from; row < to; row += ROWS, rows.base += ROWS * w->row_bytes) {
		if (to - row < ROWS)
			rows = panel_rows_at(w, row, to, ROWS);
		const uint8_t *p = rows.base + first / GROUP * size;
		__mmask16 some = (__mmask16)(0xffff >> (ROWS - rows.count));
		__m512 acc = first ? _mm512_maskz_loadu_ps(some, y + row) : _mm512_setzero_ps();

		for (size_t r = 0; r < rows.count; r++)
			sum_row(&s, r, p + r * w->row_bytes, &x, n, size, group);
		acc = add_up(acc, &s, &rows, first / GROUP * size, a->d + first, a->dsum + first, n, size, scales);
		_mm512_mask_storeu_ps(y + row, some, acc);
	}
}

/* Whole groups of blocks; what is left at the end of rows is left to the panels. */
INLINE void mul_rows(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to,
		     enum order order, size_t size, group_fn *group, scales_fn *scales)
{
	size_t whole = a->blocks / GROUP * GROUP, n;

	if (a->tokens > 1) {
		avx512_mul_int(w, a, y, stride, from, to);
		return;
	}
	for (size_t first = 0; first < whole; first += n) {
		n = whole - first < PART ? whole - first : PART;
		sum_rows(w, a, y, from, to, first, n, order, size, group, scales);
	}
	if (whole < a->blocks)
		avx512_mul_rest(w, a, y, stride, from, to, whole);
}

#define ROW_KERNEL(name, order, size, scales) \
	void avx512_mul_##name(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to) \
	{ \
		mul_rows(w, a, y, stride, from, to, order, size, group_##name, scales); \
	}
AVX512_ROW_KERNELS(ROW_KERNEL)
KERNEL_END
#endif
