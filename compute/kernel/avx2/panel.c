/* SPDX-License-Identifier: MIT */
/*
 * Integer weights, many tokens: panels of sixteen rows. Sums of products are kept in words as long as these hold them, as
 * a word takes in eight products more for one addition.
 */
#ifdef __x86_64__
#include "kernel/panel.h"
#include "part.h"

enum { ROWS = PANEL_ROWS, HALF = 8, TOKENS = PANEL_TOKENS };

/*
 * How integers stand in the panel. Small ones stand without a sign, so much too high, so that words hold the sums of so
 * many steps of four products. Of these, as many vectors of eight rows as registers allow share what is read of tokens.
 */
#define FORMS(X) /* name, kind, steps, too high, vectors */ \
	X(SIGNED_SCALE, BLOCK_SCALE, 1, 0, 1) X(SIGNED_OFFSET, BLOCK_OFFSET, 1, 0, 1) X(SIGNED_PAIR, BLOCK_PAIR, 1, 0, 1) \
	X(SIGNED_PAIR_MIN, BLOCK_PAIR_MIN, 1, 0, 1) X(FOUR_BITS_MINUS_8, BLOCK_SCALE, 8, 8, 2) X(FOUR_BITS, BLOCK_OFFSET, 8, 0, 2) \
	X(FIVE_BITS_MINUS_12, BLOCK_SCALE, 4, 12, 2) X(FIVE_BITS, BLOCK_OFFSET, 4, 0, 2) X(SIX_BITS_MINUS_32, BLOCK_PAIR, 2, 32, 1)
enum form {
#define FORM(name, ...) name,
	FORMS(FORM)
#undef FORM
};
/* The first forms are those of the kinds, with any bytes. */
_Static_assert((int)SIGNED_PAIR_MIN == (int)BLOCK_PAIR_MIN && (int)SIGNED_OFFSET == (int)BLOCK_OFFSET, "same order");

KERNEL_BEGIN(AVX2_TARGET)
INLINE enum form form_of(uint32_t type, enum block_kind kind)
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
		return (enum form)kind;
	}
}

INLINE int too_high(enum form form)
{
	switch (form) {
#define FORM(name, kind, steps, offset, ...) case name: return offset;
	FORMS(FORM)
#undef FORM
	}
	return 0;
}

/* Bytes 4 * k .. 4 * k + 3 of eight rows, row r to place r of vector k. */
INLINE void transpose(__m256i v[8], const uint8_t q[HALF][32])
{
	__m256i a[8], b[8];

	UNROLL
	for (int i = 0; i < 8; i += 2) {
		__m256i first = load32(q[i]), next = load32(q[i + 1]);

		a[i] = _mm256_unpacklo_epi32(first, next);
		a[i + 1] = _mm256_unpackhi_epi32(first, next);
	}
	UNROLL
	for (int i = 0; i < 8; i += 4) {
		b[i] = _mm256_unpacklo_epi64(a[i], a[i + 2]);
		b[i + 1] = _mm256_unpackhi_epi64(a[i], a[i + 2]);
		b[i + 2] = _mm256_unpacklo_epi64(a[i + 1], a[i + 3]);
		b[i + 3] = _mm256_unpackhi_epi64(a[i + 1], a[i + 3]);
	}
	UNROLL
	for (int i = 0; i < 4; i++) {
		v[i] = _mm256_permute2x128_si256(b[i], b[i + 4], 0x20);
		v[i + 4] = _mm256_permute2x128_si256(b[i], b[i + 4], 0x31);
	}
}

INLINE void put_scales(struct panel *p, size_t b, size_t r, const struct block *from, enum form form)
{
	p->d[b][r] = from->d;
	p->m[b][r] = from->m;
	for (int i = 0; i < 2; i++) {
		p->s[b][i][r] = from->s[i];
		p->o[b][i][r] = from->o[i];
		if (form == SIX_BITS_MINUS_32)
			p->pair[b][r][i] = from->s[i];
	}
}

/* Block b of the panel, which is a part of the file's block at at in the first row, of eight rows. */
INLINE void put_block(struct panel *p, size_t b, size_t lane, const struct panel_rows *rows, size_t at, unsigned part, uint32_t type,
		      enum form form)
{
	size_t bytes = gguf_type_bytes(type), parts = gguf_type_values(type) / 32;
	_Alignas(32) uint8_t q[HALF][32];
	struct part o = { .b = { .d = 0 } };
	__m256i v[8];

	for (size_t r = 0; r < HALF; r++) {
		const uint8_t *from = rows->base + rows->at[lane + r] + at;

		if (rows->next)
			__builtin_prefetch(rows->next + rows->at[lane + r] + at + part * (bytes / parts));
		get_part(&o, type, from, part);
		_mm256_store_si256((__m256i *)q[r], _mm256_add_epi8(o.q, _mm256_set1_epi8((char)too_high(form))));
		put_scales(p, b, lane + r, &o.b, form);
	}
	transpose(v, q);
	UNROLL
	for (int k = 0; k < 8; k++)
		_mm256_store_si256((__m256i *)p->q[b][k][lane], v[k]);
}

INLINE void unpack(struct panel *p, const struct panel_rows *rows, size_t first, size_t n, uint32_t type, enum form form)
{
	size_t parts = gguf_type_values(type) / 32, bytes = gguf_type_bytes(type);

	for (size_t lane = 0; lane < ROWS; lane += HALF)
		for (size_t b = 0; b < n; b++)
			put_block(p, b, lane, rows, (first + b) / parts * bytes, (unsigned)((first + b) % parts), type, form);
}

INLINE __m256i four(const int8_t *x)
{
	int32_t v;

	memcpy(&v, x, sizeof v);
	return _mm256_set1_epi32(v);
}

/* A chain of additions stays one: the compiler makes a tree of it otherwise, for which there are not enough registers. */
INLINE __m256i in_turn(__m256i v)
{
	__asm__("" : "+x"(v));
	return v;
}

INLINE __m256i weights_at(const struct panel *p, size_t b, int k, size_t lane)
{
	return _mm256_load_si256((const __m256i *)p->q[b][k][lane]);
}

/* R vectors of eight rows times T tokens; number r * TOKENS + t. */
struct tile {
	__m256i v[2 * TOKENS];
};

/* Steps from .. to-1 of a block, four values each, summed in words; the weights have no sign. */
INLINE void sum_words(struct tile *word, const struct panel *p, size_t b, size_t lane, const int8_t *x, int from, int to, int R, int T)
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

/* Sums of 16 values times their scales; words have those of eight. */
INLINE void dot_pairs(struct tile *s, const struct panel *p, size_t b, size_t lane, const struct act_row *x, size_t at, int T)
{
	__m256i scale = load32(p->pair[b][lane]), first = _mm256_setr_epi8(0, 1, 0, 1, 4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13, 0, 1, 0, 1,
									   4, 5, 4, 5, 8, 9, 8, 9, 12, 13, 12, 13);

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

/* Steps from .. from+3 of a block, four values each, with signs. */
INLINE void dot_steps(struct tile *s, const struct panel *p, size_t b, size_t lane, const int8_t *x, int from, int T)
{
	UNROLL
	for (int k = from; k < from + 4; k++) {
		__m256i w = weights_at(p, b, k, lane);

		UNROLL
		for (int t = 0; t < T; t++)
			s->v[t] = in_turn(_mm256_add_epi32(s->v[t], dot4(w, four(x + 32 * t + 4 * k))));
	}
}

INLINE __m256 pair_offset(const struct panel *p, size_t b, size_t lane, const int32_t *half)
{
	__m256 first = _mm256_set1_ps((float)half[0] * -0x1p-7f), last = _mm256_set1_ps((float)half[1] * -0x1p-7f);

	return _mm256_fmadd_ps(_mm256_load_ps(&p->o[b][1][lane]), last, _mm256_mul_ps(_mm256_load_ps(&p->o[b][0][lane]), first));
}

/* Sums of halves that are multiplied with scales as floats. */
INLINE void pair_sums(__m256 sum[TOKENS], const struct panel *p, size_t b, size_t lane, const int8_t *x, int T)
{
	UNROLL
	for (int h = 0; h < 2; h++) {
		__m256 scale = _mm256_load_ps(&p->s[b][h][lane]);
		struct tile s = { 0 };

		dot_steps(&s, p, b, lane, x, 4 * h, T);
		UNROLL
		for (int t = 0; t < T; t++) {
			__m256 v = _mm256_cvtepi32_ps(s.v[t]);

			sum[t] = h ? _mm256_fmadd_ps(v, scale, sum[t]) : _mm256_mul_ps(v, scale);
		}
	}
}

/* The sums of a block. */
INLINE void block_sums(struct tile *s, const struct panel *p, size_t b, size_t lane, const struct act_row *x, size_t at,
		       enum block_kind kind, int steps, int offset, int R, int T)
{
	UNROLL
	for (int t = 0; t < T; t++) {
		__m256i bias = _mm256_setzero_si256();

		if (offset)
			bias = _mm256_mullo_epi32(_mm256_srai_epi32(_mm256_set1_epi32(x->bias[at + (size_t)t]), 7),
						  _mm256_set1_epi32(offset));
		s->v[t] = s->v[TOKENS + t] = bias;
	}
	if (kind == BLOCK_PAIR) {
		dot_pairs(s, p, b, lane, x, at, T);
	} else if (steps > 1) {
		dot_words(s, p, b, lane, x->q + at * 32, steps, R, T);
	} else {
		dot_steps(s, p, b, lane, x->q + at * 32, 0, T);
		dot_steps(s, p, b, lane, x->q + at * 32, 4, T);
	}
}

INLINE void add_block(__m256 acc[2 * TOKENS], const struct panel *p, size_t b, size_t lane, const struct act_row *x, size_t at,
		      enum block_kind kind, int steps, int offset, int R, int T)
{
	bool pair_floats = kind == BLOCK_PAIR_MIN || (kind == BLOCK_PAIR && steps == 1);
	struct tile s;
	__m256 sum[TOKENS];

	if (pair_floats)
		pair_sums(sum, p, b, lane, x->q + at * 32, T);
	else
		block_sums(&s, p, b, lane, x, at, kind, steps, offset, R, T);
	UNROLL
	for (int t = 0; t < T; t++) {
		__m256 d = _mm256_set1_ps(x->d[at + (size_t)t]), dsum = _mm256_set1_ps(x->dsum[at + (size_t)t]);

		UNROLL
		for (int r = 0; r < R; r++) {
			__m256 *to = &acc[r * TOKENS + t], v = pair_floats ? sum[t] : _mm256_cvtepi32_ps(s.v[r * TOKENS + t]);
			size_t row = lane + (size_t)r * HALF;

			*to = _mm256_fmadd_ps(v, _mm256_mul_ps(_mm256_load_ps(&p->d[b][row]), d), *to);
			if (kind == BLOCK_OFFSET)
				*to = _mm256_fmadd_ps(_mm256_load_ps(&p->m[b][row]), dsum, *to);
			if (kind == BLOCK_PAIR_MIN)
				*to = _mm256_fmadd_ps(pair_offset(p, b, row, x->half + 2 * (at + (size_t)t)),
						      _mm256_mul_ps(_mm256_load_ps(&p->m[b][row]), d), *to);
		}
	}
}

/* R vectors of rows times T tokens, over n blocks from number first on; out has what came before. */
INLINE void mul_tile(float *out, const struct panel *p, size_t lane, const struct act *a, size_t token, size_t first, size_t n,
		     enum block_kind kind, int steps, int offset, int R, int T)
{
	struct act_row x = act_row(a, token);
	__m256 acc[2 * TOKENS];

	UNROLL
	for (int r = 0; r < R; r++)
		UNROLL
		for (int t = 0; t < T; t++)
			acc[r * TOKENS + t] = _mm256_loadu_ps(out + t * ROWS + r * HALF);
	for (size_t b = 0; b < n; b++)
		add_block(acc, p, b, lane, &x, (first + b) * x.step, kind, steps, offset, R, T);
	UNROLL
	for (int r = 0; r < R; r++)
		UNROLL
		for (int t = 0; t < T; t++)
			_mm256_storeu_ps(out + t * ROWS + r * HALF, acc[r * TOKENS + t]);
}

#define TILE(form, T, kind, steps, offset, R) \
	static void tile_##form##_##T(float *out, const struct panel *p, const struct act *a, size_t token, size_t first, size_t n) \
	{ \
		for (size_t lane = 0; lane < ROWS; lane += R * HALF) \
			mul_tile(out + lane, p, lane, a, token, first, n, kind, steps, offset, R, T); \
	}
#define TILES(form, ...) TILE(form, 1, __VA_ARGS__) TILE(form, 2, __VA_ARGS__) TILE(form, 3, __VA_ARGS__)
FORMS(TILES)
#undef TILE
static panel_tile_fn *const tiles[][TOKENS] = {
#define TILE(form, T, ...) [form][T - 1] = tile_##form##_##T,
	FORMS(TILES)
#undef TILE
};

INLINE void mul_panels(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to, uint32_t type,
		       enum block_kind kind)
{
	enum form form = form_of(type, kind);
	struct panel p;

	for (size_t row = from; row < to; row += ROWS) {
		struct panel_rows rows = panel_rows_at(w, row, to, ROWS);

		for (size_t first = 0, n; first < a->blocks; first += n) {
			n = a->blocks - first < PANEL_BLOCKS ? a->blocks - first : PANEL_BLOCKS;
			unpack(&p, &rows, first, n, type, form);
			panel_mul(&p, a, y + row, stride, rows.count, first, n, tiles[form]);
		}
	}
}

#define PANELS(NAME, name, kind, ...) \
	void avx2_panels_##NAME(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to) \
	{ \
		mul_panels(w, a, y, stride, from, to, GGUF_TYPE_##NAME, kind); \
	}
AVX2_INT_KERNELS(PANELS)
#undef PANELS

void avx2_panels_int(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	mul_panels(w, a, y, stride, from, to, w->type, block_types[w->type].kind);
}
KERNEL_END
#endif
