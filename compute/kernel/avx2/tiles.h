/* SPDX-License-Identifier: MIT */
/*
 * Integer weights, many tokens: panels of sixteen rows, and tiles that multiply them with up to three tokens. How products
 * are summed is up to the tier: these functions go into its own, which are compiled for what it has.
 */
#ifndef KERNEL_AVX2_TILES_H
#define KERNEL_AVX2_TILES_H
#include "kernel/panel.h"
#include "part.h"

enum { ROWS = PANEL_ROWS, HALF = 8, TOKENS = PANEL_TOKENS };

/* R vectors of eight rows times T tokens; number r * TOKENS + t. */
struct tile {
	__m256i v[2 * TOKENS];
};

/* Adds the products of block b and of entries from number at on. */
typedef void block_fn(struct tile *s, const struct panel *p, size_t b, size_t lane, const struct act_row *x, size_t at,
		      int R, int T);

/* How a type's blocks of 32 values stand in the panel. */
struct form {
	uint32_t type;
	size_t parts, bytes; /* of a block in the file */
	enum block_kind kind;
	int high;   /* integers get so much too high */
	bool words; /* scales of pairs are put as words, too */
};

KERNEL_BEGIN(AVX2_TARGET)
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

INLINE void put_scales(struct panel *p, size_t b, size_t r, const struct block *from, const struct form *f)
{
	bool offset = f->kind == BLOCK_OFFSET || f->kind == BLOCK_PAIR_MIN;
	bool pair = f->kind == BLOCK_PAIR || f->kind == BLOCK_PAIR_MIN;

	p->d[b][r] = from->d;
	if (offset)
		p->m[b][r] = from->m;
	for (int i = 0; i < 2 && pair; i++) {
		p->s[b][i][r] = from->s[i];
		p->o[b][i][r] = from->o[i];
		if (f->words)
			p->pair[b][r][i] = from->s[i];
	}
}

/* Types whose scales are decoded eight at a time. */
INLINE bool in_eights(uint32_t type)
{
	return type == GGUF_TYPE_Q4_K || type == GGUF_TYPE_Q5_K || type == GGUF_TYPE_Q6_K || type == GGUF_TYPE_IQ4_XS;
}

INLINE struct scales eight_scales(const uint8_t *p, uint32_t type)
{
	if (type == GGUF_TYPE_Q4_K || type == GGUF_TYPE_Q5_K)
		return k_scales(p);
	return (struct scales){ type == GGUF_TYPE_IQ4_XS ? iq4_xs_scales(p) : half_of_all(p + 208), _mm256_setzero_ps() };
}

/* Scales of halves, two words for each row. */
INLINE void put_pairs(struct panel *p, size_t b, size_t lane, __m256i v, bool words)
{
	if (words) {
		_mm256_store_si256((__m256i *)p->pair[b][lane], v);
		return;
	}
	_mm256_store_ps(&p->s[b][0][lane], _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(v, 16), 16)));
	_mm256_store_ps(&p->s[b][1][lane], _mm256_cvtepi32_ps(_mm256_srai_epi32(v, 16)));
}

/* Those of eight blocks from number b on. */
INLINE void put_eight_scales(struct panel *p, size_t b, size_t lane, const struct panel_rows *rows, size_t at,
			     const struct form *f)
{
	_Alignas(32) uint8_t d[HALF][32], m[HALF][32], s[HALF][32];
	__m256i v[8];

	for (size_t r = 0; r < HALF; r++) {
		const uint8_t *from = rows->base + rows->at[lane + r] + at;
		struct scales each = eight_scales(from, f->type);

		_mm256_store_ps((float *)d[r], each.d);
		_mm256_store_ps((float *)m[r], each.m);
		if (f->kind == BLOCK_PAIR)
			_mm256_store_si256((__m256i *)s[r], _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(from + 192))));
	}
	transpose(v, d);
	UNROLL
	for (size_t k = 0; k < 8; k++)
		_mm256_store_si256((__m256i *)&p->d[b + k][lane], v[k]);
	if (f->kind == BLOCK_OFFSET) {
		transpose(v, m);
		UNROLL
		for (size_t k = 0; k < 8; k++)
			_mm256_store_si256((__m256i *)&p->m[b + k][lane], v[k]);
	}
	if (f->kind == BLOCK_PAIR) {
		transpose(v, s);
		UNROLL
		for (size_t k = 0; k < 8; k++)
			put_pairs(p, b + k, lane, v[k], f->words);
	}
}

/* Block b of the panel, which is a part of the file's block at at in the first row, of eight rows. */
INLINE void put_block(struct panel *p, size_t b, size_t lane, const struct panel_rows *rows, size_t at, unsigned part,
		      const struct form *f)
{
	_Alignas(32) uint8_t q[HALF][32];
	struct part o = { .b = { .d = 0 } };
	__m256i v[8];

	for (size_t r = 0; r < HALF; r++) {
		const uint8_t *from = rows->base + rows->at[lane + r] + at;

		if (rows->next)
			__builtin_prefetch(rows->next + rows->at[lane + r] + at + part * (f->bytes / f->parts));
		get_part(&o, f->type, from, part);
		_mm256_store_si256((__m256i *)q[r], _mm256_add_epi8(o.q, _mm256_set1_epi8((char)f->high)));
		if (!in_eights(f->type))
			put_scales(p, b, lane + r, &o.b, f);
	}
	transpose(v, q);
	UNROLL
	for (int k = 0; k < 8; k++)
		_mm256_store_si256((__m256i *)p->q[b][k][lane], v[k]);
}

INLINE void unpack(struct panel *p, const struct panel_rows *rows, size_t first, size_t n, const struct form *f)
{
	for (size_t lane = 0; lane < ROWS; lane += HALF)
		for (size_t b = 0; b < n; b++) {
			size_t at = (first + b) / f->parts * f->bytes;

			if (in_eights(f->type) && b % 8 == 0)
				put_eight_scales(p, b, lane, rows, at, f);
			put_block(p, b, lane, rows, at, (unsigned)((first + b) % f->parts), f);
		}
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

/* Steps from .. from+n-1 of a block, four values each. */
INLINE void dot_steps(struct tile *s, const struct panel *p, size_t b, size_t lane, const int8_t *x, int from, int n, int R,
		      int T, products_fn *products)
{
	UNROLL
	for (int k = from; k < from + n; k++) {
		__m256i w[2] = { weights_at(p, b, k, lane), R > 1 ? weights_at(p, b, k, lane + HALF) : _mm256_setzero_si256() };

		UNROLL
		for (int t = 0; t < T; t++) {
			__m256i a = four(x + 32 * t + 4 * k);

			UNROLL
			for (int r = 0; r < R; r++)
				s->v[r * TOKENS + t] = in_turn(products(s->v[r * TOKENS + t], w[r], a));
		}
	}
}

/* What makes up for integers that are too high; bias is -128 times the sum of activations. */
INLINE void set_tile(struct tile *s, const int32_t *bias, int step, int high, int R, int T)
{
	UNROLL
	for (int t = 0; t < T; t++) {
		__m256i v = _mm256_setzero_si256();

		if (high == 128)
			v = _mm256_set1_epi32(bias[step * t]);
		else if (high)
			v = _mm256_mullo_epi32(_mm256_srai_epi32(_mm256_set1_epi32(bias[step * t]), 7), _mm256_set1_epi32(high));
		UNROLL
		for (int r = 0; r < R; r++)
			s->v[r * TOKENS + t] = v;
	}
}

INLINE __m256 pair_offset(const struct panel *p, size_t b, size_t lane, const int32_t *half)
{
	__m256 first = _mm256_set1_ps((float)half[0] * -0x1p-7f), last = _mm256_set1_ps((float)half[1] * -0x1p-7f);

	return _mm256_fmadd_ps(_mm256_load_ps(&p->o[b][1][lane]), last, _mm256_mul_ps(_mm256_load_ps(&p->o[b][0][lane]), first));
}

/* Sums of halves that are multiplied with scales as floats. */
INLINE void pair_sums(__m256 sum[2 * TOKENS], const struct panel *p, size_t b, size_t lane, const struct act_row *x, size_t at,
		      int high, int R, int T, products_fn *products)
{
	UNROLL
	for (int h = 0; h < 2; h++) {
		struct tile s;

		set_tile(&s, x->half + 2 * at + h, 2, high, R, T);
		dot_steps(&s, p, b, lane, x->q + at * 32, 4 * h, 4, R, T, products);
		UNROLL
		for (int r = 0; r < R; r++)
			UNROLL
			for (int t = r * TOKENS; t < r * TOKENS + T; t++) {
				__m256 scale = _mm256_load_ps(&p->s[b][h][lane + (size_t)r * HALF]), v = _mm256_cvtepi32_ps(s.v[t]);

				sum[t] = h ? _mm256_fmadd_ps(v, scale, sum[t]) : _mm256_mul_ps(v, scale);
			}
	}
}

/* The sums of a block: by one function, or of products. */
INLINE void block_sums(__m256 sum[2 * TOKENS], const struct panel *p, size_t b, size_t lane, const struct act_row *x, size_t at,
		       int high, int R, int T, products_fn *products, block_fn *block)
{
	struct tile s;

	set_tile(&s, x->bias + at, 1, high, R, T);
	if (block)
		block(&s, p, b, lane, x, at, R, T);
	else
		dot_steps(&s, p, b, lane, x->q + at * 32, 0, 8, R, T, products);
	UNROLL
	for (int r = 0; r < R; r++)
		UNROLL
		for (int t = r * TOKENS; t < r * TOKENS + T; t++)
			sum[t] = _mm256_cvtepi32_ps(s.v[t]);
}

INLINE void add_block(__m256 acc[2 * TOKENS], const struct panel *p, size_t b, size_t lane, const struct act_row *x, size_t at,
		      enum block_kind kind, int high, int R, int T, products_fn *products, block_fn *block)
{
	__m256 sum[2 * TOKENS];

	if (!block && (kind == BLOCK_PAIR || kind == BLOCK_PAIR_MIN))
		pair_sums(sum, p, b, lane, x, at, high, R, T, products);
	else
		block_sums(sum, p, b, lane, x, at, high, R, T, products, block);
	UNROLL
	for (int t = 0; t < T; t++) {
		__m256 d = _mm256_set1_ps(x->d[at + (size_t)t]), dsum = _mm256_set1_ps(x->dsum[at + (size_t)t]);

		UNROLL
		for (int r = 0; r < R; r++) {
			__m256 *to = &acc[r * TOKENS + t];
			size_t row = lane + (size_t)r * HALF;

			*to = _mm256_fmadd_ps(sum[r * TOKENS + t], _mm256_mul_ps(_mm256_load_ps(&p->d[b][row]), d), *to);
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
		     enum block_kind kind, int high, int R, int T, products_fn *products, block_fn *block)
{
	struct act_row x = act_row(a, token);
	__m256 acc[2 * TOKENS];

	UNROLL
	for (int r = 0; r < R; r++)
		UNROLL
		for (int t = 0; t < T; t++)
			acc[r * TOKENS + t] = _mm256_loadu_ps(out + t * ROWS + r * HALF);
	for (size_t b = 0; b < n; b++)
		add_block(acc, p, b, lane, &x, (first + b) * x.step, kind, high, R, T, products, block);
	UNROLL
	for (int r = 0; r < R; r++)
		UNROLL
		for (int t = 0; t < T; t++)
			_mm256_storeu_ps(out + t * ROWS + r * HALF, acc[r * TOKENS + t]);
}

INLINE void mul_panels(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to,
		       const struct form *f, panel_tile_fn *const tiles[TOKENS])
{
	struct panel p;

	for (size_t row = from; row < to; row += ROWS) {
		struct panel_rows rows = panel_rows_at(w, row, to, ROWS);

		for (size_t first = 0, n; first < a->blocks; first += n) {
			n = a->blocks - first < PANEL_BLOCKS ? a->blocks - first : PANEL_BLOCKS;
			unpack(&p, &rows, first, n, f);
			panel_mul(&p, a, y + row, stride, rows.count, first, n, tiles);
		}
	}
}
KERNEL_END

/* A tile of T tokens: its name, T, then how mul_tile makes it. */
#define TILE(form, T, kind, high, R, products, block) \
	static void tile_##form##_##T(float *out, const struct panel *p, const struct act *a, size_t token, size_t first, size_t n) \
	{ \
		for (size_t lane = 0; lane < ROWS; lane += R * HALF) \
			mul_tile(out + lane, p, lane, a, token, first, n, kind, high, R, T, products, block); \
	}
#define TILES(form, ...) TILE(form, 1, __VA_ARGS__) TILE(form, 2, __VA_ARGS__) TILE(form, 3, __VA_ARGS__)
#define TILE_TABLE(form, ...) [form] = { tile_##form##_1, tile_##form##_2, tile_##form##_3 },
#endif
