/* SPDX-License-Identifier: MIT */
/*
 * Integer weights, many tokens. Sums of products are kept in words as long as these hold them, as a word takes in eight
 * products more for one addition.
 */
#ifdef __x86_64__
#include "tiles.h"

/*
 * How integers stand in the panel. Small ones stand without a sign, so much too high, so that words hold the sums of so
 * many steps of four products. Of these, as many vectors of eight rows as registers allow share what is read of tokens.
 */
#define EACH_LAYOUT(X) /* name, kind, too high, vectors, products, block */ \
	X(SIGNED_SCALE, BLOCK_SCALE, 0, 1, signed_products, NULL) X(SIGNED_OFFSET, BLOCK_OFFSET, 0, 1, signed_products, NULL) \
	X(SIGNED_PAIR, BLOCK_PAIR, 0, 1, signed_products, NULL) X(SIGNED_PAIR_MIN, BLOCK_PAIR_MIN, 0, 1, signed_products, NULL) \
	X(FOUR_BITS_MINUS_8, BLOCK_SCALE, 8, 2, NULL, dot_8_steps) X(FOUR_BITS, BLOCK_OFFSET, 0, 2, NULL, dot_8_steps) \
	X(FIVE_BITS_MINUS_12, BLOCK_SCALE, 12, 2, NULL, dot_4_steps) X(FIVE_BITS, BLOCK_OFFSET, 0, 2, NULL, dot_4_steps) \
	X(SIX_BITS_MINUS_32, BLOCK_PAIR, 32, 1, NULL, dot_pairs)
enum layout {
#define LAYOUT(name, ...) name,
	EACH_LAYOUT(LAYOUT)
#undef LAYOUT
};
/* The first are those of the kinds, with any bytes. */
_Static_assert((int)SIGNED_PAIR_MIN == (int)BLOCK_PAIR_MIN && (int)SIGNED_OFFSET == (int)BLOCK_OFFSET, "same order");

KERNEL_BEGIN(AVX2_TARGET)
INLINE enum layout layout_of(uint32_t type, enum block_kind kind)
{
	switch (type) {
	case GGUF_TYPE_Q4_0:
		return FOUR_BITS_MINUS_8;
	case GGUF_TYPE_MXFP4:
		return FIVE_BITS_MINUS_12;
	case GGUF_TYPE_Q4_K:
		return FOUR_BITS;
	case GGUF_TYPE_Q5_K:
		return FIVE_BITS;
	case GGUF_TYPE_Q6_K:
		return SIX_BITS_MINUS_32;
	default:
		return (enum layout)kind;
	}
}

INLINE int too_high(enum layout layout)
{
	switch (layout) {
#define LAYOUT(name, kind, high, ...) case name: return high;
	EACH_LAYOUT(LAYOUT)
#undef LAYOUT
	}
	return 0;
}

/* Steps from .. to-1 of a block, four values each, summed in words; the weights have no sign. */
INLINE void sum_words(struct tile *word, const struct panel *p, size_t b, size_t lane, const int8_t *x, int from, int to, int R,
		      int T)
{
	UNROLL
	for (int k = from; k < to; k++) {
		__m256i w[2] = { weights_at(p, b, k, lane), R > 1 ? weights_at(p, b, k, lane + HALF) : _mm256_setzero_si256() };

		UNROLL
		for (int t = 0; t < T; t++) {
			__m256i a = four(x + 32 * t + 4 * k);

			UNROLL
			for (int r = 0; r < R; r++) {
				__m256i v = _mm256_maddubs_epi16(w[r], a), *sum = &word->v[r * TOKENS + t];

				*sum = in_turn(k == from ? v : _mm256_add_epi16(*sum, v));
			}
		}
	}
}

/* A block in so many steps. */
INLINE void dot_words(struct tile *s, const struct panel *p, size_t b, size_t lane, const int8_t *x, int steps, int R, int T)
{
	UNROLL
	for (int k = 0; k < 8; k += steps) {
		struct tile word;

		sum_words(&word, p, b, lane, x, k, k + steps, R, T);
		UNROLL
		for (int r = 0; r < R; r++)
			UNROLL
			for (int t = r * TOKENS; t < r * TOKENS + T; t++)
				s->v[t] = _mm256_add_epi32(s->v[t], _mm256_madd_epi16(word.v[t], _mm256_set1_epi16(1)));
	}
}

#define BLOCK(name) \
	INLINE void name(struct tile *s, const struct panel *p, size_t b, size_t lane, const struct act_row *x, size_t at, int R, int T)
BLOCK(dot_8_steps)
{
	dot_words(s, p, b, lane, x->q + at * 32, 8, R, T);
}

BLOCK(dot_4_steps)
{
	dot_words(s, p, b, lane, x->q + at * 32, 4, R, T);
}

/* Sums of 16 values times their scales; words have those of eight. */
BLOCK(dot_pairs)
{
	__m256i scale = load32(p->pair[b][lane]), first = _mm256_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13, 0, 1, 0, 1,
									   4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13);

	(void)R;
	UNROLL
	for (int t = 0; t < T; t++) { /* 32 too high */
		const int32_t *half = x->half + 2 * (at + (size_t)t);
		__m256i sums = _mm256_set1_epi32(((half[0] >> 7) & 0xffff) | (int)((uint32_t)(half[1] >> 7) << 16));

		s->v[t] = _mm256_slli_epi32(_mm256_madd_epi16(scale, sums), 5);
	}
	UNROLL
	for (int k = 0; k < 8; k += 2) {
		__m256i each = _mm256_shuffle_epi8(scale, k < 4 ? first : _mm256_add_epi8(first, _mm256_set1_epi8(2)));
		struct tile word;

		sum_words(&word, p, b, lane, x->q + at * 32, k, k + 2, 1, T);
		UNROLL
		for (int t = 0; t < T; t++)
			s->v[t] = in_turn(_mm256_add_epi32(s->v[t], _mm256_madd_epi16(word.v[t], each)));
	}
}

EACH_LAYOUT(TILES)
static panel_tile_fn *const tiles[][TOKENS] = { EACH_LAYOUT(TILE_TABLE) };

INLINE void mul_form(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to, uint32_t type,
		     size_t values, size_t bytes, enum block_kind kind)
{
	enum layout layout = layout_of(type, kind);
	struct form f = { type, values / ACT_BLOCK, bytes, kind, too_high(layout), layout == SIX_BITS_MINUS_32 };

	mul_panels(w, a, y, stride, from, to, &f, tiles[layout]);
}

#define PANELS(NAME, name, kind, ...) \
	void avx2_panels_##NAME(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to) \
	{ \
		mul_form(w, a, y, stride, from, to, GGUF_TYPE_##NAME, NAME##_VALUES, NAME##_BYTES, kind); \
	}
AVX2_INT_KERNELS(PANELS)

void avx2_panels_int(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	mul_form(w, a, y, stride, from, to, w->type, gguf_type_values(w->type), gguf_type_bytes(w->type),
		 block_types[w->type].kind);
}
KERNEL_END
#endif
