/* SPDX-License-Identifier: MIT */
/* Blocks of sixteen rows to a panel, weights 128 too high. The layouts are described in src/quant. */
#ifdef __x86_64__
#include <immintrin.h>
#include "rows.h"
#include "kernel/stream.h"
#include "quant/fp4.h"
#include "quant/iq.h"
#include <string.h>

enum { GROUP = 16 };

KERNEL_BEGIN(AVX512_TARGET)
/* Asks for what the next rows have, in file order, where these have size bytes at. */
INLINE void fetch(const struct panel_rows *r, size_t at, size_t size)
{
	if (r->next)
		stream_fetch(r->next - STREAM_AHEAD + at * PANEL_ROWS, size * PANEL_ROWS);
}

INLINE __m512 signed_byte_of(__m512i v, int i)
{
	return _mm512_cvtepi32_ps(_mm512_srai_epi32(_mm512_slli_epi32(v, (unsigned)(24 - 8 * i)), 24));
}

INLINE void put(struct panel *p, size_t b, int k, __m512i v)
{
	_mm512_store_si512(p->q[b][k], v);
}

INLINE void put_d(struct panel *p, size_t b, __m512 v)
{
	_mm512_store_ps(p->d[b], v);
}

INLINE void put_m(struct panel *p, size_t b, __m512 v)
{
	_mm512_store_ps(p->m[b], v);
}

/* Scales that are at the front of blocks of 32, of so many bytes: sixteen of a row at once. */
typedef __m512 row_scales_fn(const uint8_t *p);

INLINE void put_scales(struct panel *p, const struct panel_rows *rows, size_t at, size_t n, size_t size, row_scales_fn *of_row)
{
	size_t b = 0;

	for (; b + GROUP <= n; b += GROUP) {
		__m512 v[GROUP];

		UNROLL
		for (size_t r = 0; r < PANEL_ROWS; r++)
			v[r] = of_row(rows->base + rows->at[r] + at + b * size);
		transpose(v);
		UNROLL
		for (size_t i = 0; i < GROUP; i++)
			put_d(p, b + i, v[i]);
	}
	for (; b < n; b++)
		for (size_t r = 0; r < PANEL_ROWS; r++) {
			const uint8_t *d = rows->base + rows->at[r] + at + b * size;

			p->d[b][r] = size == 17 ? e8m0_half(d[0]) : get_half(d);
		}
}

/* Sixteen bytes of nibbles are 32 weights: the low ones come first. */
INLINE void put_nibbles(struct panel *p, size_t b, const struct panel_rows *r, size_t at, int offset)
{
	__m512i v[4];

	load16(v, r, at);
	UNROLL
	for (int k = 0; k < 4; k++) {
		put(p, b, k, _mm512_add_epi8(low_nibbles(v[k]), bytes(128 - offset)));
		put(p, b, k + 4, _mm512_add_epi8(high_nibbles(v[k]), bytes(128 - offset)));
	}
}

INLINE void put_table(struct panel *p, size_t b, const struct panel_rows *r, size_t at, __m512i table)
{
	__m512i v[4];

	load16(v, r, at);
	UNROLL
	for (int k = 0; k < 4; k++) {
		put(p, b, k, _mm512_shuffle_epi8(table, low_nibbles(v[k])));
		put(p, b, k + 4, _mm512_shuffle_epi8(table, high_nibbles(v[k])));
	}
}

/* Bits 4k .. 4k+3 of each dword to bit 4 of its bytes. */
INLINE __m512i fifth_bits(__m512i v, int k)
{
	__m512i four = _mm512_and_si512(_mm512_srli_epi32(v, (unsigned)(4 * k)), _mm512_set1_epi32(15));
	__m512i spread = _mm512_mullo_epi32(four, _mm512_set1_epi32(0x00204081));

	return _mm512_slli_epi32(_mm512_and_si512(spread, _mm512_set1_epi32(0x01010101)), 4);
}

INLINE void put_five_bits(struct panel *p, size_t b, const struct panel_rows *r, size_t at, __m512i fifth, int offset)
{
	__m512i v[4];

	load16(v, r, at);
	UNROLL
	for (int k = 0; k < 4; k++) {
		__m512i low = _mm512_or_si512(low_nibbles(v[k]), fifth_bits(fifth, k));
		__m512i high = _mm512_or_si512(high_nibbles(v[k]), fifth_bits(fifth, k + 4));

		put(p, b, k, _mm512_add_epi8(low, bytes(128 - offset)));
		put(p, b, k + 4, _mm512_add_epi8(high, bytes(128 - offset)));
	}
}

static void unpack_q4_0(struct panel *p, const struct panel_rows *r, size_t first, size_t n)
{
	put_scales(p, r, first * 18, n, 18, scales18);
	for (size_t b = 0, at = first * 18; b < n; b++, at += 18) {
		fetch(r, at, 18);
		put_nibbles(p, b, r, at + 2, 8);
	}
}

static void unpack_q4_1(struct panel *p, const struct panel_rows *r, size_t first, size_t n)
{
	for (size_t b = 0, at = first * 20; b < n; b++, at += 20) {
		__m512i head[4];

		fetch(r, at, 20);
		load16(head, r, at);
		put_d(p, b, low_half(head[0]));
		put_m(p, b, high_half(head[0]));
		put_nibbles(p, b, r, at + 4, 0);
	}
}

static void unpack_q5_0(struct panel *p, const struct panel_rows *r, size_t first, size_t n)
{
	for (size_t b = 0, at = first * 22; b < n; b++, at += 22) {
		__m512i head[4];

		fetch(r, at, 22);
		load16(head, r, at);
		put_d(p, b, low_half(head[0]));
		put_five_bits(p, b, r, at + 6, join(head[0], head[1]), 16);
	}
}

static void unpack_q5_1(struct panel *p, const struct panel_rows *r, size_t first, size_t n)
{
	for (size_t b = 0, at = first * 24; b < n; b++, at += 24) {
		__m512i head[4];

		fetch(r, at, 24);
		load16(head, r, at);
		put_d(p, b, low_half(head[0]));
		put_m(p, b, high_half(head[0]));
		put_five_bits(p, b, r, at + 8, head[1], 0);
	}
}

static void unpack_q8_0(struct panel *p, const struct panel_rows *r, size_t first, size_t n)
{
	put_scales(p, r, first * 34, n, 34, scales34);
	for (size_t b = 0, at = first * 34; b < n; b++, at += 34) {
		__m512i v[8];

		fetch(r, at, 34);
		load16(v, r, at + 2);
		load16(v + 4, r, at + 18);
		UNROLL
		for (int k = 0; k < 8; k++)
			put(p, b, k, _mm512_xor_si512(v[k], bytes(0x80)));
	}
}

static void unpack_iq4_nl(struct panel *p, const struct panel_rows *r, size_t first, size_t n)
{
	__m512i table = table_of(iq4_values);

	put_scales(p, r, first * 18, n, 18, scales18);
	for (size_t b = 0, at = first * 18; b < n; b++, at += 18) {
		fetch(r, at, 18);
		put_table(p, b, r, at + 2, table);
	}
}

static void unpack_mxfp4(struct panel *p, const struct panel_rows *r, size_t first, size_t n)
{
	__m512i table = table_of(fp4_doubled);

	put_scales(p, r, first * 17, n, 17, scales17);
	for (size_t b = 0, at = first * 17; b < n; b++, at += 17) {
		fetch(r, at, 17);
		put_table(p, b, r, at + 1, table);
	}
}

/* Blocks of 256: only whole ones are unpacked. */
#define SUPER_BLOCKS(p, first, n, size, at) \
	for (size_t b = 0, at = (first) / 8 * (size); b < (n); b += 8, at += (size))

INLINE void put_k_scales(struct panel *p, size_t b, const struct panel_rows *r, size_t at)
{
	__m512 d[8], m[8];

	k_scales(d, m, r, at);
	UNROLL
	for (size_t i = 0; i < 8; i++) {
		put_d(p, b + i, d[i]);
		put_m(p, b + i, m[i]);
	}
}

static void unpack_q4_k(struct panel *p, const struct panel_rows *r, size_t first, size_t n)
{
	SUPER_BLOCKS(p, first, n, 144, at) {
		put_k_scales(p, b, r, at);
		for (size_t i = 0; i < 8; i++) {
			__m512i v[4];

			fetch(r, at + 18 * i, 18);
			load16(v, r, at + 16 + 16 * i);
			UNROLL
			for (int k = 0; k < 4; k++) {
				int to = k + (int)(i % 2) * 4;

				put(p, b + i / 2 * 2, to, _mm512_xor_si512(low_nibbles(v[k]), bytes(0x80)));
				put(p, b + i / 2 * 2 + 1, to, _mm512_xor_si512(high_nibbles(v[k]), bytes(0x80)));
			}
		}
	}
}

INLINE __m512i bit_to_fourth(__m512i v, unsigned bit)
{
	__m512i at4 = bit < 4 ? _mm512_slli_epi16(v, 4 - bit) : _mm512_srli_epi16(v, bit - 4);

	return _mm512_and_si512(at4, bytes(16));
}

static void unpack_q5_k(struct panel *p, const struct panel_rows *r, size_t first, size_t n)
{
	SUPER_BLOCKS(p, first, n, 176, at) {
		put_k_scales(p, b, r, at);
		for (int half = 0; half < 2; half++) {
			__m512i fifth[4], v[4];

			load16(fifth, r, at + 16 + 16 * (size_t)half);
			for (unsigned i = 0; i < 4; i++) {
				fetch(r, at + 22 * (4 * (size_t)half + i), 22);
				load16(v, r, at + 48 + 32 * i + 16 * (size_t)half);
				UNROLL
				for (int k = 0; k < 4; k++) {
					__m512i low = _mm512_or_si512(low_nibbles(v[k]), bit_to_fourth(fifth[k], 2 * i));
					__m512i high = _mm512_or_si512(high_nibbles(v[k]), bit_to_fourth(fifth[k], 2 * i + 1));

					put(p, b + 2 * i, 4 * half + k, _mm512_xor_si512(low, bytes(0x80)));
					put(p, b + 2 * i + 1, 4 * half + k, _mm512_xor_si512(high, bytes(0x80)));
				}
			}
		}
	}
}

/* Four of the 16 scales: those of two blocks. */
INLINE void put_pair_scales(struct panel *p, size_t b, __m512i four)
{
	UNROLL
	for (int i = 0; i < 4; i++)
		_mm512_store_ps(p->s[b + (size_t)i / 2][i % 2], signed_byte_of(four, i));
}

INLINE __m512i two_bits(__m512i v, unsigned shift)
{
	return _mm512_and_si512(_mm512_srli_epi16(v, shift), bytes(3));
}

/* Half h of the four blocks of 128 weights that start at low and high. */
INLINE void put_q6(struct panel *p, size_t b, const struct panel_rows *r, size_t low, size_t high, int h)
{
	__m512i even[4], odd[4], top[4];

	load16(even, r, low + 16 * (size_t)h);
	load16(odd, r, low + 32 + 16 * (size_t)h);
	load16(top, r, high + 16 * (size_t)h);
	UNROLL
	for (int k = 0; k < 4; k++) {
		__m512i q[4] = { low_nibbles(even[k]), low_nibbles(odd[k]), high_nibbles(even[k]), high_nibbles(odd[k]) };

		UNROLL
		for (unsigned i = 0; i < 4; i++) {
			__m512i v = _mm512_or_si512(q[i], _mm512_slli_epi16(two_bits(top[k], 2 * i), 4));

			put(p, b + i, 4 * h + k, _mm512_add_epi8(v, bytes(128 - 32)));
		}
	}
}

static void unpack_q6_k(struct panel *p, const struct panel_rows *r, size_t first, size_t n)
{
	SUPER_BLOCKS(p, first, n, 210, at) {
		__m512i scales[4], tail[4];

		load16(scales, r, at + 192);
		load16(tail, r, at + 194);
		for (size_t i = 0; i < 8; i++)
			put_d(p, b + i, high_half(tail[3]));
		for (size_t i = 0; i < 4; i++)
			put_pair_scales(p, b + 2 * i, scales[i]);
		for (size_t i = 0; i < 2; i++) {
			fetch(r, at + 105 * i, 105);
			put_q6(p, b + 4 * i, r, at + 64 * i, at + 128 + 32 * i, 0);
			put_q6(p, b + 4 * i, r, at + 64 * i, at + 128 + 32 * i, 1);
		}
	}
}

static void unpack_iq4_xs(struct panel *p, const struct panel_rows *r, size_t first, size_t n)
{
	__m512i table = table_of(iq4_values);

	SUPER_BLOCKS(p, first, n, 136, at) {
		__m512 d[8];

		iq4_xs_scales(d, r, at);
		UNROLL
		for (unsigned i = 0; i < 8; i++) {
			fetch(r, at + 17 * i, 17);
			put_d(p, b + i, d[i]);
			put_table(p, b + i, r, at + 8 + 16 * i, table);
		}
	}
}

static void unpack_q3_k(struct panel *p, const struct panel_rows *r, size_t first, size_t n)
{
	SUPER_BLOCKS(p, first, n, 110, at) {
		__m512i tail[4];

		load16(tail, r, at + 94);
		__m512i low[2] = { join(tail[0], tail[1]), join(tail[1], tail[2]) }, high = join(tail[2], tail[3]);
		__m512 d = high_half(tail[3]);

		UNROLL
		for (unsigned i = 0; i < 4; i++) {
			__m512i l = i < 2 ? low_nibbles(low[i]) : high_nibbles(low[i - 2]);
			__m512i s = _mm512_or_si512(l, _mm512_slli_epi16(two_bits(high, 2 * i), 4));

			put_pair_scales(p, b + 2 * i, _mm512_sub_epi8(s, bytes(32)));
		}
		for (size_t i = 0; i < 8; i++)
			put_d(p, b + i, d);
		for (int part = 0; part < 4; part++) {
			int h = part % 2;
			unsigned first_block = part / 2 * 4;
			__m512i top[4], v[4];

			fetch(r, at + 27 * (size_t)part, 28);
			load16(top, r, at + 16 * (size_t)h);
			load16(v, r, at + 32 + 8 * first_block + 16 * (size_t)h);
			UNROLL
			for (int k = 0; k < 4; k++)
				for (unsigned i = 0; i < 4; i++) {
					__m512i third = _mm512_srl_epi16(top[k], _mm_cvtsi32_si128((int)(first_block + i)));
					__m512i q = _mm512_or_si512(_mm512_and_si512(_mm512_srl_epi16(v[k], _mm_cvtsi32_si128((int)(2 * i))), bytes(3)),
								    _mm512_slli_epi16(_mm512_and_si512(third, bytes(1)), 2));

					put(p, b + first_block + i, 4 * h + k, _mm512_add_epi8(q, bytes(128 - 4)));
				}
		}
	}
}

INLINE void put_q2_scales(struct panel *p, size_t b, __m512i four)
{
	__m512i s = low_nibbles(four), o = high_nibbles(four);

	put_pair_scales(p, b, s);
	UNROLL
	for (int i = 0; i < 4; i++)
		_mm512_store_ps(p->o[b + (size_t)i / 2][i % 2], byte_of(o, i));
}

static void unpack_q2_k(struct panel *p, const struct panel_rows *r, size_t first, size_t n)
{
	SUPER_BLOCKS(p, first, n, 84, at) {
		__m512i scales[4], tail[4];

		load16(scales, r, at);
		load16(tail, r, at + 68);
		for (size_t i = 0; i < 8; i++) {
			put_d(p, b + i, low_half(tail[3]));
			put_m(p, b + i, negative(high_half(tail[3])));
		}
		for (size_t i = 0; i < 4; i++)
			put_q2_scales(p, b + 2 * i, scales[i]);
		for (size_t i = 0; i < 4; i++) {
			__m512i v[4];

			fetch(r, at + 21 * i, 21);
			load16(v, r, at + 16 + 16 * i);
			UNROLL
			for (int k = 0; k < 4; k++)
				UNROLL
				for (unsigned g = 0; g < 4; g++)
					put(p, b + i / 2 * 4 + g, (int)(i % 2) * 4 + k,
					    _mm512_xor_si512(two_bits(v[k], 2 * g), bytes(0x80)));
		}
	}
}
KERNEL_END

panel_unpack_fn *const avx512_unpack[GGUF_TYPE_LIMIT] = {
	[GGUF_TYPE_Q4_0] = unpack_q4_0,
	[GGUF_TYPE_Q4_1] = unpack_q4_1,
	[GGUF_TYPE_Q5_0] = unpack_q5_0,
	[GGUF_TYPE_Q5_1] = unpack_q5_1,
	[GGUF_TYPE_Q8_0] = unpack_q8_0,
	[GGUF_TYPE_Q2_K] = unpack_q2_k,
	[GGUF_TYPE_Q3_K] = unpack_q3_k,
	[GGUF_TYPE_Q4_K] = unpack_q4_k,
	[GGUF_TYPE_Q5_K] = unpack_q5_k,
	[GGUF_TYPE_Q6_K] = unpack_q6_k,
	[GGUF_TYPE_IQ4_NL] = unpack_iq4_nl,
	[GGUF_TYPE_IQ4_XS] = unpack_iq4_xs,
	[GGUF_TYPE_MXFP4] = unpack_mxfp4,
};
#endif
