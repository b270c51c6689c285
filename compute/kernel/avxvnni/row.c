/* SPDX-License-Identifier: MIT */
/* One token, types with signs: weights are multiplied 128 too high. For those without, vpdpbusd is no faster than words. */
#ifdef __x86_64__
#include "avxvnni.h"
#ifdef AVXVNNI_KNOWN
#include "kernel/avx2/rows.h"

KERNEL_BEGIN(AVXVNNI_TARGET)
#define GROUP_FN(name, ...) \
	INLINE struct group group_##name(const uint8_t *p, const struct values *x, size_t block) \
	{ \
		return name##_group(p, x, block, unsigned_products, __VA_ARGS__); \
	}
GROUP_FN(q8_0, 128)
GROUP_FN(iq4_nl, 128)
GROUP_FN(iq4_xs, 128)
GROUP_FN(mxfp4, 128)

/* First halves of blocks 0 to 3 and last ones, or of blocks 4 to 7. */
INLINE __m256i scaled_halves(const __m256i s[4], __m128i scales)
{
	return _mm256_mullo_epi32(sum_ints(s[0], s[1], s[2], s[3]), _mm256_cvtepi8_epi32(scales));
}

INLINE struct group group_q6_k(const uint8_t *p, const struct values *x, size_t block)
{
	__m128i scales = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(p + 192)),
					  _mm_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15));
	__m256i s[8], sum;

	UNROLL
	for (size_t i = 0; i < 8; i++)
		s[i] = first(unsigned_products, q6_values(p, i), x_at(x, block + i));
	sum = add_halves(scaled_halves(s, scales), scaled_halves(s + 4, _mm_srli_si128(scales, 8)));
	return scaled(_mm256_sub_epi32(sum, q6_offset(p, x, block)), half_of_all(p + 208));
}

#define ROW_KERNEL(NAME, name, kind, order, size) \
	size_t avxvnni_sum_##NAME(const struct mat *w, const struct act *a, float *y, size_t from, size_t to) \
	{ \
		return sum_groups(w, a, y, from, to, order, size, kind == BLOCK_OFFSET, group_##name); \
	}
AVX2_SIGNED_KERNELS(ROW_KERNEL)
KERNEL_END
#endif
#endif
