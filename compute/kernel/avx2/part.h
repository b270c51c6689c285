/* SPDX-License-Identifier: MIT */
/* Blocks of the common types decoded with vectors, the others in plain C: what sums and panels start from. */
#ifndef KERNEL_AVX2_PART_H
#define KERNEL_AVX2_PART_H
#include <string.h>
#include "avx2.h"
#include "kernel/block.h"
#include "quant/fp4.h"
#include "quant/iq.h"
#include "quant/k.h"
#include "quant/quant.h"

KERNEL_BEGIN(AVX2_TARGET)
/* A block, with its integers in a register. */
struct part {
	__m256i q;
	struct block b; /* without q */
};

INLINE float half_at(const uint8_t *p)
{
	return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(get16(p))));
}

/* 16 bytes of nibbles, the low ones first. */
INLINE __m256i nibbles(const uint8_t *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)p);

	return _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(v, 4), v), _mm256_set1_epi8(15));
}

/* The nibbles of 32 bytes, low or high ones. */
INLINE __m256i half_nibbles(const uint8_t *p, unsigned high)
{
	return _mm256_and_si256(_mm256_srl_epi16(load32(p), _mm_cvtsi32_si128((int)high * 4)), _mm256_set1_epi8(15));
}

INLINE __m256i look_up(const int8_t *table, __m256i v)
{
	return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table)), v);
}

INLINE __m256 half_of_all(const uint8_t *p)
{
	return _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(get16(p))));
}

INLINE __m256 bytes_to_floats(uint32_t first, uint32_t last)
{
	return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)((uint64_t)last << 32 | first))));
}

/* Of the eight parts of a block. */
struct scales {
	__m256 d, m;
};

/* As src/quant/k.h has them. */
INLINE struct scales k_scales(const uint8_t *p)
{
	uint32_t s = get32(p + 4), o = get32(p + 8), low = get32(p + 12);
	__m256 scale = bytes_to_floats(s & 0x3f3f3f3f, (low & 0x0f0f0f0f) | (s >> 2 & 0x30303030));
	__m256 offset = bytes_to_floats(o & 0x3f3f3f3f, (low >> 4 & 0x0f0f0f0f) | (o >> 2 & 0x30303030));
	__m256 m = _mm256_mul_ps(half_of_all(p + 2), offset);

	return (struct scales){ _mm256_mul_ps(half_of_all(p), scale), _mm256_xor_ps(m, _mm256_set1_ps(-0.0f)) };
}

/* Four bits at place 4 * i and two at 2 * i, 32 too high. */
INLINE __m256 iq4_xs_scales(const uint8_t *p)
{
	__m256i low = _mm256_srlv_epi32(_mm256_set1_epi32((int)get32(p + 4)), _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
	__m256i high = _mm256_srlv_epi32(_mm256_set1_epi32(get16(p + 2)), _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
	__m256i scale = _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi32(15)),
					_mm256_slli_epi32(_mm256_and_si256(high, _mm256_set1_epi32(3)), 4));

	return _mm256_mul_ps(half_of_all(p), _mm256_cvtepi32_ps(_mm256_sub_epi32(scale, _mm256_set1_epi32(32))));
}

INLINE void k_part(struct part *o, const uint8_t *p, unsigned i)
{
	o->b.d = half_at(p) * (float)k_scale(p + 4, (int)i);
	o->b.m = -(half_at(p + 2) * (float)k_min(p + 4, (int)i));
}

INLINE void get_part(struct part *o, uint32_t type, const uint8_t *p, unsigned i)
{
	switch (type) {
	case GGUF_TYPE_Q8_0:
		o->b.d = half_at(p);
		o->q = load32(p + 2);
		return;
	case GGUF_TYPE_Q4_0:
		o->b.d = half_at(p);
		o->q = _mm256_sub_epi8(nibbles(p + 2), _mm256_set1_epi8(8));
		return;
	case GGUF_TYPE_IQ4_NL:
		o->b.d = half_at(p);
		o->q = look_up(iq4_values, nibbles(p + 2));
		return;
	case GGUF_TYPE_MXFP4:
		o->b.d = e8m0_half(p[0]);
		o->q = look_up(fp4_doubled, nibbles(p + 1));
		return;
	case GGUF_TYPE_IQ4_XS:
		o->b.d = half_at(p) * (float)((int)((p[4 + i / 2] >> i % 2 * 4 & 15) | (get16(p + 2) >> 2 * i & 3) << 4) - 32);
		o->q = look_up(iq4_values, nibbles(p + 8 + 16 * i));
		return;
	case GGUF_TYPE_Q4_K:
		k_part(o, p, i);
		o->q = half_nibbles(p + 16 + i / 2 * 32, i % 2);
		return;
	case GGUF_TYPE_Q5_K:
		k_part(o, p, i);
		o->q = _mm256_srl_epi16(load32(p + 16), _mm_cvtsi32_si128((int)i));
		o->q = _mm256_slli_epi16(_mm256_and_si256(o->q, _mm256_set1_epi8(1)), 4);
		o->q = _mm256_or_si256(o->q, half_nibbles(p + 48 + i / 2 * 32, i % 2));
		return;
	case GGUF_TYPE_Q6_K:
		o->b.d = half_at(p + 208);
		memcpy(o->b.s, p + 192 + 2 * i, 2);
		o->q = _mm256_srl_epi16(load32(p + 128 + i / 4 * 32), _mm_cvtsi32_si128((int)(i % 4 * 2)));
		o->q = _mm256_slli_epi16(_mm256_and_si256(o->q, _mm256_set1_epi8(3)), 4);
		o->q = _mm256_or_si256(o->q, half_nibbles(p + i / 4 * 64 + i % 2 * 32, i % 4 / 2));
		o->q = _mm256_sub_epi8(o->q, _mm256_set1_epi8(32));
		return;
	default:
		block_types[type].get(&o->b, p, i);
		o->q = load32(o->b.q);
	}
}
KERNEL_END
#endif
