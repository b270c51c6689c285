/* SPDX-License-Identifier: MIT */
/*
 * Integer weights for several tokens. Rows are unpacked sixteen at a time into a buffer that stays in the cache, and then
 * multiplied with a tile of tokens: the sums are in registers, a row in each lane.
 */
#ifdef __x86_64__
#include <immintrin.h>
#include <string.h>
#include "avx512.h"

/* Panels side by side, and the tile of tokens that they multiply. */
struct tile {
	const struct panel *panel;
	const struct act *a;
	size_t token, block, blocks; /* first token, first block in the activations, blocks of the panel */
	float *y;                    /* result of the first row and token */
	size_t stride;
	__mmask16 rows[2];
};
typedef void tile_fn(const struct tile *t);

KERNEL_BEGIN(AVX512_TARGET)
INLINE __m512i four(const int8_t *x)
{
	int32_t v;

	memcpy(&v, x, sizeof v);
	return _mm512_set1_epi32(v);
}

/* Adds the products of steps from .. from+n-1 of a block, four values each, to s. */
INLINE void dot_steps(__m512i s[2][8], const struct panel *p, size_t b, const int8_t *x, int from, int n, int R, int T)
{
	UNROLL
	for (int k = from; k < from + n; k++) {
		__m512i w[2];

		UNROLL
		for (int r = 0; r < R; r++)
			w[r] = _mm512_load_si512(p[r].q[b][k]);
		UNROLL
		for (int t = 0; t < T; t++) {
			__m512i v = four(x + 32 * t + 4 * k);

			UNROLL
			for (int r = 0; r < R; r++)
				s[r][t] = _mm512_dpbusd_epi32(s[r][t], w[r], v);
		}
	}
}

INLINE void set_all(__m512i s[2][8], const int32_t *bias, int step, int R, int T)
{
	UNROLL
	for (int t = 0; t < T; t++)
		UNROLL
		for (int r = 0; r < R; r++)
			s[r][t] = _mm512_set1_epi32(bias[step * t]);
}

/* The exact sum of a block, as floats: with one scale for all of it, or one for each half. */
INLINE void dot_block(__m512 sum[2][8], const struct panel *p, size_t b, const struct act_row *x, size_t at, bool pair, int R,
		      int T)
{
	const int8_t *q = x->q + at * 32;
	__m512i s[2][8];

	set_all(s, pair ? x->half + 2 * at : x->bias + at, pair ? 2 : 1, R, T);
	dot_steps(s, p, b, q, 0, pair ? 4 : 8, R, T);
	UNROLL
	for (int t = 0; t < T; t++)
		UNROLL
		for (int r = 0; r < R; r++)
			sum[r][t] = pair ? _mm512_mul_ps(_mm512_cvtepi32_ps(s[r][t]), _mm512_load_ps(p[r].s[b][0])) :
					   _mm512_cvtepi32_ps(s[r][t]);
	if (!pair)
		return;
	set_all(s, x->half + 2 * at + 1, 2, R, T);
	dot_steps(s, p, b, q, 4, 4, R, T);
	UNROLL
	for (int t = 0; t < T; t++)
		UNROLL
		for (int r = 0; r < R; r++)
			sum[r][t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(s[r][t]), _mm512_load_ps(p[r].s[b][1]), sum[r][t]);
}

/* The exact sum of offsets times activations: half holds -128 times the sums of those. */
INLINE __m512 pair_offset(const struct panel *p, size_t b, const int32_t *half)
{
	__m512 first = _mm512_set1_ps((float)half[0] * -0x1p-7f), last = _mm512_set1_ps((float)half[1] * -0x1p-7f);

	return _mm512_fmadd_ps(_mm512_load_ps(p->o[b][1]), last, _mm512_mul_ps(_mm512_load_ps(p->o[b][0]), first));
}

INLINE void add_block(__m512 acc[2][8], const struct panel *p, size_t b, const struct act_row *x, size_t at,
		      enum block_kind kind, int R, int T)
{
	__m512 sum[2][8];

	dot_block(sum, p, b, x, at, kind == BLOCK_PAIR || kind == BLOCK_PAIR_MIN, R, T);
	UNROLL
	for (int t = 0; t < T; t++) {
		__m512 d = _mm512_set1_ps(x->d[at + (size_t)t]);

		UNROLL
		for (int r = 0; r < R; r++) {
			acc[r][t] = _mm512_fmadd_ps(sum[r][t], _mm512_mul_ps(_mm512_load_ps(p[r].d[b]), d), acc[r][t]);
			if (kind == BLOCK_OFFSET)
				acc[r][t] = _mm512_fmadd_ps(_mm512_load_ps(p[r].m[b]), _mm512_set1_ps(x->dsum[at + (size_t)t]),
							    acc[r][t]);
			if (kind == BLOCK_PAIR_MIN)
				acc[r][t] = _mm512_fmadd_ps(pair_offset(&p[r], b, x->half + 2 * (at + (size_t)t)),
							    _mm512_mul_ps(_mm512_load_ps(p[r].m[b]), d), acc[r][t]);
		}
	}
}

/* R panels times T tokens. */
INLINE void mul_tile(const struct tile *t, enum block_kind kind, int R, int T)
{
	struct act_row x = act_row(t->a, t->token);
	__m512 acc[2][8];

	UNROLL
	for (int i = 0; i < T; i++)
		UNROLL
		for (int r = 0; r < R; r++)
			acc[r][i] = t->block ? _mm512_maskz_loadu_ps(t->rows[r], t->y + (size_t)i * t->stride + r * PANEL_ROWS) :
					       _mm512_setzero_ps();
	for (size_t b = 0; b < t->blocks; b++)
		add_block(acc, t->panel, b, &x, (t->block + b) * x.step, kind, R, T);
	UNROLL
	for (int i = 0; i < T; i++)
		UNROLL
		for (int r = 0; r < R; r++)
			_mm512_mask_storeu_ps(t->y + (size_t)i * t->stride + r * PANEL_ROWS, t->rows[r], acc[r][i]);
}

/* Registers allow two panels times six tokens, or one times eight; half as many where sums come in pairs. */
#define TILES(X, kind) X(kind, 1, 1) X(kind, 1, 2) X(kind, 1, 3) X(kind, 1, 4) X(kind, 1, 5) X(kind, 1, 6) X(kind, 1, 7) \
	X(kind, 1, 8) X(kind, 2, 1) X(kind, 2, 2) X(kind, 2, 3)
#define WIDE_TILES(X, kind) TILES(X, kind) X(kind, 2, 4) X(kind, 2, 5) X(kind, 2, 6)
#define ALL_TILES(X) WIDE_TILES(X, BLOCK_SCALE) WIDE_TILES(X, BLOCK_OFFSET) TILES(X, BLOCK_PAIR) TILES(X, BLOCK_PAIR_MIN)

#define TILE(kind, R, T) static void tile_##kind##_##R##_##T(const struct tile *t) { mul_tile(t, kind, R, T); }
ALL_TILES(TILE)
#undef TILE
KERNEL_END

static tile_fn *const tiles[][2][8] = {
#define TILE(kind, R, T) [kind][R - 1][T - 1] = tile_##kind##_##R##_##T,
	ALL_TILES(TILE)
#undef TILE
};

/* All tokens, tile by tile, times one or two panels. */
static void mul_panels(struct tile *t, enum block_kind kind, int panels)
{
	const struct act *a = t->a;
	size_t most = panels == 1 ? 8 : kind == BLOCK_PAIR || kind == BLOCK_PAIR_MIN ? 3 : 6;
	float *y = t->y;

	for (size_t first = 0; first < a->tokens; first += a->tile) {
		size_t n = act_tile_tokens(a, first);

		for (size_t i = 0; i < n; i += most) {
			t->token = first + i;
			t->y = y + t->token * t->stride;
			tiles[kind][panels - 1][(n - i < most ? n - i : most) - 1](t);
		}
	}
	t->y = y;
}

static void unpack(struct panel *p, const struct panel_rows *rows, uint32_t type, size_t first, size_t n)
{
	if (avx512_unpack[type])
		avx512_unpack[type](p, rows, first, n);
	else
		panel_unpack_any(p, rows, type, first, n, 0x80);
}

enum { FEW_BLOCKS = 16 };

/* Few tokens: the weights come from memory once, and are used at once. */
void avx512_mul_rest(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to, size_t first)
{
	struct panel p;
	struct tile t = { .panel = &p, .a = a, .stride = stride };

	for (size_t row = from; row < to; row += PANEL_ROWS) {
		struct panel_rows rows = panel_rows_at(w, row, to, PANEL_ROWS);

		t.y = y + row;
		t.rows[0] = (__mmask16)(0xffff >> (PANEL_ROWS - rows.count));
		for (t.block = first; t.block < a->blocks; t.block += t.blocks) {
			t.blocks = a->blocks - t.block < FEW_BLOCKS ? a->blocks - t.block : FEW_BLOCKS;
			unpack(&p, &rows, w->type, t.block, t.blocks);
			mul_panels(&t, block_types[w->type].kind, 1);
		}
	}
}

static void mul_many(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	struct panel p[2];
	struct tile t = { .panel = p, .a = a, .stride = stride };

	for (size_t row = from; row < to; row += 2 * PANEL_ROWS) {
		int panels = to - row > PANEL_ROWS ? 2 : 1;

		t.y = y + row;
		for (t.block = 0; t.block < a->blocks; t.block += t.blocks) {
			t.blocks = a->blocks - t.block < PANEL_BLOCKS ? a->blocks - t.block : PANEL_BLOCKS;
			for (int i = 0; i < panels; i++) {
				struct panel_rows rows = panel_rows_at(w, row + (size_t)i * PANEL_ROWS, to, 2 * PANEL_ROWS);

				t.rows[i] = (__mmask16)(0xffff >> (PANEL_ROWS - rows.count));
				unpack(&p[i], &rows, w->type, t.block, t.blocks);
			}
			mul_panels(&t, block_types[w->type].kind, panels);
		}
	}
}

void avx512_mul_int(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	if (a->tokens <= ACT_SMALL)
		avx512_mul_rest(w, a, y, stride, from, to, 0);
	else
		mul_many(w, a, y, stride, from, to);
}
#endif
