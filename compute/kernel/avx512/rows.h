/* SPDX-License-Identifier: MIT */
/* Sixteen rows at once: what is at the same place of each, a row in each lane. For use between KERNEL_BEGIN and _END. */
#ifndef KERNEL_AVX512_ROWS_H
#define KERNEL_AVX512_ROWS_H
#include "avx512.h"

KERNEL_BEGIN(AVX512_TARGET)
/* Sixteen bytes of each of four rows. */
INLINE __m512i load4(const struct panel_rows *r, int first, size_t at)
{
	const uint8_t *p = r->base + at;
	__m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(p + r->at[first])));

	v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(p + r->at[first + 4])), 1);
	v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(p + r->at[first + 8])), 2);
	return _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(p + r->at[first + 12])), 3);
}

/* Sixteen bytes of each row, as four vectors with four successive bytes of every row. */
INLINE void load16(__m512i v[4], const struct panel_rows *r, size_t at)
{
	__m512i a = load4(r, 0, at), b = load4(r, 1, at), c = load4(r, 2, at), d = load4(r, 3, at);
	__m512i ab = _mm512_unpacklo_epi32(a, b), cd = _mm512_unpacklo_epi32(c, d);

	v[0] = _mm512_unpacklo_epi64(ab, cd);
	v[1] = _mm512_unpackhi_epi64(ab, cd);
	ab = _mm512_unpackhi_epi32(a, b);
	cd = _mm512_unpackhi_epi32(c, d);
	v[2] = _mm512_unpacklo_epi64(ab, cd);
	v[3] = _mm512_unpackhi_epi64(ab, cd);
}

/* High half of a, low half of b. */
INLINE __m512i join(__m512i a, __m512i b)
{
	return _mm512_or_si512(_mm512_srli_epi32(a, 16), _mm512_slli_epi32(b, 16));
}

INLINE __m512 low_half(__m512i v)
{
	return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(v));
}

INLINE __m512 high_half(__m512i v)
{
	return low_half(_mm512_srli_epi32(v, 16));
}

INLINE __m512i bytes(int v)
{
	return _mm512_set1_epi8((char)v);
}

INLINE __m512i low_nibbles(__m512i v)
{
	return _mm512_and_si512(v, bytes(15));
}

INLINE __m512i high_nibbles(__m512i v)
{
	return _mm512_and_si512(_mm512_srli_epi16(v, 4), bytes(15));
}

INLINE __m512 byte_of(__m512i v, int i)
{
	return _mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32(v, (unsigned)(8 * i)), _mm512_set1_epi32(255)));
}

INLINE __m512 negative(__m512 v)
{
	return _mm512_xor_ps(v, _mm512_set1_ps(-0.0f));
}

/* Values of four bits for shuffles, 128 too high. */
INLINE __m512i table_of(const int8_t *values)
{
	__m512i t = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)values));

	return _mm512_xor_si512(t, bytes(0x80));
}

/* Half of 2^(e - 127). */
INLINE __m512 e8m0_halves(__m512i e)
{
	__m512i normal = _mm512_slli_epi32(_mm512_sub_epi32(e, _mm512_set1_epi32(1)), 23);
	__m512i small = _mm512_sllv_epi32(_mm512_set1_epi32(0x200000), e);

	return _mm512_castsi512_ps(_mm512_mask_mov_epi32(normal, _mm512_cmplt_epi32_mask(e, _mm512_set1_epi32(2)), small));
}

INLINE __m512 to_floats(__m512i halves)
{
	return _mm512_cvtph_ps(_mm512_castsi512_si256(halves));
}

/* The scales of sixteen blocks of 18 bytes, of one row. */
INLINE __m512 scales18(const uint8_t *p)
{
	const __m512i at = _mm512_set1_epi64(0x001b001200090000);
	__m512i h = _mm512_permutexvar_epi16(at, _mm512_loadu_si512(p));

	h = _mm512_mask_permutexvar_epi16(h, 0xf0, at, _mm512_loadu_si512(p + 72));
	h = _mm512_mask_permutexvar_epi16(h, 0xf00, at, _mm512_loadu_si512(p + 144));
	return to_floats(_mm512_mask_permutexvar_epi16(h, 0xf000, at, _mm512_loadu_si512(p + 216)));
}

/* The same of 34 bytes. */
INLINE __m512 scales34(const uint8_t *p)
{
	const __m512i at = _mm512_set1_epi32(0x00110000);
	__m512i h = _mm512_permutexvar_epi16(at, _mm512_loadu_si512(p));

	UNROLL
	for (int i = 1; i < 8; i++)
		h = _mm512_mask_permutexvar_epi16(h, (__mmask32)(3u << 2 * i), at, _mm512_loadu_si512(p + 68 * i));
	return to_floats(h);
}

/* Those of 17 bytes begin with an exponent: sixteen words that have it in the lower and the upper half in turn. */
INLINE __m512i exponents17(const uint8_t *p)
{
	const __m512i at = _mm512_set1_epi64(0x0019001100080000);
	__m512i h = _mm512_permutexvar_epi16(at, _mm512_loadu_si512(p));

	h = _mm512_mask_permutexvar_epi16(h, 0xf0, at, _mm512_loadu_si512(p + 68));
	h = _mm512_mask_permutexvar_epi16(h, 0xf00, at, _mm512_loadu_si512(p + 136));
	return _mm512_mask_permutexvar_epi16(h, 0xf000, at, _mm512_loadu_si512(p + 204));
}

INLINE __m512 decode17(__m512i words)
{
	__m512i e = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(words));

	e = _mm512_srlv_epi32(e, _mm512_set1_epi64(0x800000000));
	return e8m0_halves(_mm512_and_si512(e, _mm512_set1_epi32(255)));
}

INLINE __m512 scales17(const uint8_t *p)
{
	return decode17(exponents17(p));
}

/* Lane i of vector k to lane k of vector i. */
INLINE void transpose(__m512 v[16])
{
	__m512i a[16], b[16];

	UNROLL
	for (int i = 0; i < 16; i += 2) {
		a[i] = _mm512_castps_si512(_mm512_unpacklo_ps(v[i], v[i + 1]));
		a[i + 1] = _mm512_castps_si512(_mm512_unpackhi_ps(v[i], v[i + 1]));
	}
	UNROLL
	for (int i = 0; i < 16; i += 4) {
		b[i] = _mm512_unpacklo_epi64(a[i], a[i + 2]);
		b[i + 1] = _mm512_unpackhi_epi64(a[i], a[i + 2]);
		b[i + 2] = _mm512_unpacklo_epi64(a[i + 1], a[i + 3]);
		b[i + 3] = _mm512_unpackhi_epi64(a[i + 1], a[i + 3]);
	}
	UNROLL
	for (int i = 0; i < 4; i++) {
		a[i] = _mm512_shuffle_i32x4(b[i], b[i + 4], 0x88);
		a[i + 4] = _mm512_shuffle_i32x4(b[i], b[i + 4], 0xdd);
		a[i + 8] = _mm512_shuffle_i32x4(b[i + 8], b[i + 12], 0x88);
		a[i + 12] = _mm512_shuffle_i32x4(b[i + 8], b[i + 12], 0xdd);
	}
	UNROLL
	for (int i = 0; i < 8; i++) {
		v[i] = _mm512_castsi512_ps(_mm512_shuffle_i32x4(a[i], a[i + 8], 0x88));
		v[i + 8] = _mm512_castsi512_ps(_mm512_shuffle_i32x4(a[i], a[i + 8], 0xdd));
	}
}

/* The 8 scales and 8 offsets of a block of Q4_K or Q5_K, as src/quant/k.h has them. */
INLINE void k_scales(__m512 d[8], __m512 m[8], const struct panel_rows *r, size_t at)
{
	const __m512i six = bytes(0x3f), four = bytes(15), two = bytes(0x30);
	__m512i head[4];

	load16(head, r, at);
	__m512i s = head[1], o = head[2], low = head[3];
	__m512i scale[2] = { _mm512_and_si512(s, six), _mm512_or_si512(_mm512_and_si512(low, four),
								     _mm512_and_si512(_mm512_srli_epi32(s, 2), two)) };
	__m512i offset[2] = { _mm512_and_si512(o, six), _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi32(low, 4), four),
								      _mm512_and_si512(_mm512_srli_epi32(o, 2), two)) };
	__m512 all = low_half(head[0]), min = negative(high_half(head[0]));

	UNROLL
	for (int i = 0; i < 8; i++) {
		d[i] = _mm512_mul_ps(all, byte_of(scale[i / 4], i % 4));
		m[i] = _mm512_mul_ps(min, byte_of(offset[i / 4], i % 4));
	}
}

/* The 8 scales of a block of IQ4_XS. */
INLINE void iq4_xs_scales(__m512 d[8], const struct panel_rows *r, size_t at)
{
	__m512i head[4];

	load16(head, r, at);
	__m512i low = head[1], high = _mm512_srli_epi32(head[0], 16);
	__m512 all = low_half(head[0]);

	UNROLL
	for (unsigned i = 0; i < 8; i++) {
		__m512i l = _mm512_and_si512(_mm512_srli_epi32(low, 4 * i), _mm512_set1_epi32(15));
		__m512i h = _mm512_and_si512(_mm512_srli_epi32(high, 2 * i), _mm512_set1_epi32(3));
		__m512i s = _mm512_sub_epi32(_mm512_or_si512(l, _mm512_slli_epi32(h, 4)), _mm512_set1_epi32(32));

		d[i] = _mm512_mul_ps(all, _mm512_cvtepi32_ps(s));
	}
}
KERNEL_END
#endif
