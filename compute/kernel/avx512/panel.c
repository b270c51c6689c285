/* SPDX-License-Identifier: MIT */
/*
 * Integer weights for several tokens. Rows are unpacked sixteen at a time into a buffer that stays in the cache, and then
 * multiplied with a tile of tokens: the sums are in registers, a row in each lane.
 */
#ifdef __x86_64__
#include <immintrin.h>
#include <string.h>
#include "avx512.h"
#include "kernel/stream.h"

/* Panels side by side, and the tiles of tokens that they multiply. */
struct tile {
	const struct panel *panel;
	const struct act *a;
	size_t token, tiles, block, blocks; /* first token, tiles of so many, first block, blocks of the panel */
	float *y;                           /* result of the first row and token */
	size_t stride;
	__mmask16 rows[2];
	struct stream_ahead next;
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
INLINE void mul_tile(const struct tile *t, const struct act_row *x, float *y, enum block_kind kind, int R, int T)
{
	__m512 acc[2][8];

	UNROLL
	for (int i = 0; i < T; i++)
		UNROLL
		for (int r = 0; r < R; r++)
			acc[r][i] = _mm512_setzero_ps();
	if (t->block)
		UNROLL
		for (int i = 0; i < T; i++)
			UNROLL
			for (int r = 0; r < R; r++)
				acc[r][i] = _mm512_maskz_loadu_ps(t->rows[r], y + (size_t)i * t->stride + r * PANEL_ROWS);
	for (size_t b = 0; b < t->blocks; b++)
		add_block(acc, t->panel, b, x, (t->block + b) * x->step, kind, R, T);
	UNROLL
	for (int i = 0; i < T; i++)
		UNROLL
		for (int r = 0; r < R; r++)
			_mm512_mask_storeu_ps(y + (size_t)i * t->stride + r * PANEL_ROWS, t->rows[r], acc[r][i]);
}

/* The same for all of t's tiles; meanwhile what comes next is called in. */
INLINE void mul_tiles(const struct tile *t, enum block_kind kind, int R, int T)
{
	struct act_row x = act_row(t->a, t->token);
	size_t step = T * t->a->blocks;
	float *y = t->y;

	for (size_t i = 0; i < t->tiles; i++, y += T * t->stride) {
		stream_part(&t->next, i, t->tiles);
		mul_tile(t, &x, y, kind, R, T);
		x.q += step * ACT_BLOCK;
		x.d += step;
		x.dsum += step;
		x.bias += step;
		x.half += 2 * step;
	}
}

/* Registers allow two panels times six tokens, or one times eight; of sums in pairs some go by way of the first cache. */
#define TILES(X, kind) X(kind, 1, 1) X(kind, 1, 2) X(kind, 1, 3) X(kind, 1, 4) X(kind, 1, 5) X(kind, 1, 6) X(kind, 1, 7) \
	X(kind, 1, 8) X(kind, 2, 1) X(kind, 2, 2) X(kind, 2, 3) X(kind, 2, 4) X(kind, 2, 5) X(kind, 2, 6)
#define ALL_TILES(X) TILES(X, BLOCK_SCALE) TILES(X, BLOCK_OFFSET) TILES(X, BLOCK_PAIR) TILES(X, BLOCK_PAIR_MIN)

#define TILE(kind, R, T) static void tile_##kind##_##R##_##T(const struct tile *t) { mul_tiles(t, kind, R, T); }
ALL_TILES(TILE)
#undef TILE
KERNEL_END

static tile_fn *const tiles[][2][8] = {
#define TILE(kind, R, T) [kind][R - 1][T - 1] = tile_##kind##_##R##_##T,
	ALL_TILES(TILE)
#undef TILE
};

/* All tokens times one or two panels. */
static void mul_panels(struct tile *t, enum block_kind kind, int panels)
{
	const struct act *a = t->a;
	size_t rest = a->tokens % a->tile;
	float *y = t->y;

	t->token = 0;
	t->tiles = a->tokens / a->tile;
	if (t->tiles)
		tiles[kind][panels - 1][a->tile - 1](t);
	t->token = a->tokens - rest;
	t->tiles = 1;
	t->y += t->token * t->stride;
	t->next = (struct stream_ahead){ 0 };
	if (rest)
		tiles[kind][panels - 1][rest - 1](t);
	t->y = y;
}

static void unpack(struct panel *p, const struct panel_rows *rows, uint32_t type, size_t first, size_t n)
{
	if (avx512_unpack[type])
		avx512_unpack[type](p, rows, first, n);
	else
		panel_unpack_any(p, rows, type, first, n, 0x80);
}

enum { FEW_BLOCKS = 16, MANY_BLOCKS = 32, FEW_TILES = 12 };

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

/* What follows rows from number row on and their blocks before block. */
static struct stream_ahead ahead_of(const struct mat *w, const struct act *a, size_t row, size_t block)
{
	size_t values = gguf_type_values(w->type), bytes = gguf_type_bytes(w->type), blocks;

	if (block == a->blocks) {
		row += 2 * PANEL_ROWS;
		block = 0;
	}
	if (row >= w->out)
		return (struct stream_ahead){ 0 };
	blocks = a->blocks - block < MANY_BLOCKS ? a->blocks - block : MANY_BLOCKS;
	return (struct stream_ahead){
		.base = (const uint8_t *)w->data + row * w->row_bytes + block * ACT_BLOCK / values * bytes,
		.rows = w->out - row < 2 * PANEL_ROWS ? w->out - row : 2 * PANEL_ROWS,
		.row_bytes = w->row_bytes, .bytes = blocks * ACT_BLOCK / values * bytes,
	};
}

/*
 * Many tokens: whole rows, or as much of them as stays in the first cache, are unpacked once for all. The next rows are
 * called in by the tiles, or, where these are few, while rows are unpacked.
 */
static void mul_many(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	bool few = a->tokens < FEW_TILES * ACT_TILE;
	size_t ahead = few ? 2 * PANEL_ROWS : w->out;
	struct panel p[2];
	struct tile t = { .panel = p, .a = a, .stride = stride };

	for (size_t row = from; row < to; row += 2 * PANEL_ROWS) {
		int panels = to - row > PANEL_ROWS ? 2 : 1;

		t.y = y + row;
		for (t.block = 0; t.block < a->blocks; t.block += t.blocks) {
			t.blocks = a->blocks - t.block < MANY_BLOCKS ? a->blocks - t.block : MANY_BLOCKS;
			if (!few)
				t.next = ahead_of(w, a, row, t.block + t.blocks);
			for (int i = 0; i < panels; i++) {
				struct panel_rows rows = panel_rows_at(w, row + (size_t)i * PANEL_ROWS, to, ahead);

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
