/* SPDX-License-Identifier: MIT */
/*
 * Products of weights that are floats of some kind; values stand in lanes, so rows are read as they lie in the file.
 * Included between KERNEL_BEGIN and KERNEL_END by a file that defines
 *
 *	add_step(acc, w, row_bytes, x, x_stride, n, type, R, T)
 *
 * which adds to sums acc[r * T + t] the products of the values at w and x, 32 of them or the first n.
 */
enum { STEP = 32, FEW = 8, ROWS = 4, TOKENS = 6, CHUNK = 1024, GROUP_ROWS = 128, GROUP_BYTES = 256 << 10,
       FEW_TILES = 12 };

/* Rows of weights, and the activations of the first token. */
struct rows {
	const uint8_t *w, *x;
	float *y;
	size_t row_bytes, x_stride, stride, in, count, tokens; /* x_stride in bytes, stride in floats */
	struct stream_ahead next;
};

INLINE size_t weight_bytes(enum float_type type)
{
	return type == AS_F32 ? 4 : 2;
}

INLINE size_t activation_bytes(enum float_type type)
{
	return type == AS_BF16 ? 2 : 4;
}

/* Values from .. to-1 of R rows at w and T tokens at x. */
INLINE void add_values(__m512 *acc, const struct rows *g, const uint8_t *w, const uint8_t *x, size_t from, size_t to,
		       enum float_type type, bool stream, int R, int T)
{
	size_t k = from;

	for (; k + STEP <= to; k += STEP) {
		for (int r = 0; stream && r < R; r++)
			stream_fetch(w + (size_t)r * g->row_bytes + k * weight_bytes(type), STEP * weight_bytes(type));
		add_step(acc, w + k * weight_bytes(type), g->row_bytes, x + k * activation_bytes(type), g->x_stride, STEP,
			 type, R, T);
	}
	if (k < to)
		add_step(acc, w + k * weight_bytes(type), g->row_bytes, x + k * activation_bytes(type), g->x_stride, to - k,
			 type, R, T);
}

/* The results of one row. */
INLINE void put_row(const __m512 *acc, float *y, size_t stride, int T)
{
	_Alignas(64) float sums[16];
	__m512 v[16];

	if (T == 1) {
		y[0] = fold(acc[0]);
		return;
	}
	UNROLL
	for (int i = 0; i < 16; i++)
		v[i] = i < T ? acc[i] : _mm512_setzero_ps();
	_mm512_store_ps(sums, fold16(v));
	UNROLL
	for (int t = 0; t < T; t++)
		y[(size_t)t * stride] = sums[folded(t)];
}

/* Those of four rows, tokens first .. first+n-1 of T, n <= 4: the folding puts a token's rows side by side. */
INLINE void put_rows(const __m512 *acc, float *y, size_t stride, int first, int n, int T)
{
	_Alignas(64) float sums[16];
	__m512 v[16];

	UNROLL
	for (int i = 0; i < 16; i++)
		v[i] = i % 4 < n ? acc[i / 4 * T + first + i % 4] : _mm512_setzero_ps();
	_mm512_store_ps(sums, fold16(v));
	UNROLL
	for (int t = 0; t < n; t++)
		_mm_storeu_ps(y + (size_t)(first + t) * stride, _mm_load_ps(sums + 4 * t));
}

/* All rows for few tokens, one after another: they come from memory once. */
INLINE void mul_few(const struct rows *g, enum float_type type, int T)
{
	for (size_t r = 0; r < g->count; r++) {
		__m512 acc[FEW];

		UNROLL
		for (int t = 0; t < T; t++)
			acc[t] = _mm512_setzero_ps();
		add_values(acc, g, g->w + r * g->row_bytes, g->x, 0, g->in, type, true, 1, T);
		put_row(acc, g->y + r, g->stride, T);
	}
}

/* A tile of tokens and a part of the values, small enough for the first cache. The sums wait in between. */
struct part {
	const uint8_t *x;
	float *y, *sums;
	size_t from, to;
	size_t number, parts; /* of the rows that follow it calls in part number of so many */
	bool stream;          /* or rather, rows come from memory while they are multiplied */
	struct stream_ahead next;
};

INLINE void mul_part(const struct rows *g, const struct part *p, size_t r, enum float_type type, bool stream, int R,
		     int T)
{
	float *sums = p->sums + r * TOKENS * 16;
	__m512 acc[ROWS * TOKENS];

	UNROLL
	for (int i = 0; i < R; i++)
		UNROLL
		for (int t = 0; t < T; t++)
			acc[i * T + t] = p->from ? _mm512_load_ps(sums + 16 * (i * T + t)) : _mm512_setzero_ps();
	add_values(acc, g, g->w + r * g->row_bytes, p->x, p->from, p->to, type, stream, R, T);
	if (p->to < g->in) {
		UNROLL
		for (int i = 0; i < R; i++)
			UNROLL
			for (int t = 0; t < T; t++)
				_mm512_store_ps(sums + 16 * (i * T + t), acc[i * T + t]);
	} else if (R == 1) {
		put_row(acc, p->y + r, g->stride, T);
	} else {
		put_rows(acc, p->y + r, g->stride, 0, T < 4 ? T : 4, T);
		if (T > 4)
			put_rows(acc, p->y + r, g->stride, 4, T - 4, T);
	}
}

/* All rows for a tile; the next one, and rows that follow, are called in. */
INLINE void mul_tile(const struct rows *g, const struct part *p, enum float_type type, int T)
{
	size_t r = 0, steps = (g->count + ROWS - 1) / ROWS;

	for (; p->stream && r + ROWS <= g->count; r += ROWS)
		mul_part(g, p, r, type, true, ROWS, T);
	for (; r + ROWS <= g->count; r += ROWS) {
		stream_part(&p->next, r / ROWS, steps);
		stream_part(&g->next, p->number * steps + r / ROWS, p->parts * steps);
		mul_part(g, p, r, type, false, ROWS, T);
	}
	for (; r < g->count; r++)
		mul_part(g, p, r, type, false, 1, T);
}

typedef void few_fn(const struct rows *g);
typedef void tile_fn(const struct rows *g, const struct part *p);
#define EACH_TILE(X, type) X(type, 1) X(type, 2) X(type, 3) X(type, 4) X(type, 5) X(type, 6)
#define EACH_FEW(X, type) EACH_TILE(X, type) X(type, 7) X(type, 8)
#define FEW_FN(type, T) static void few_##type##_##T(const struct rows *g) { mul_few(g, type, T); }
#define TILE_FN(type, T) \
	static void tile_##type##_##T(const struct rows *g, const struct part *p) { mul_tile(g, p, type, T); }
#define FEW_ENTRY(type, T) [T - 1] = few_##type##_##T,
#define TILE_ENTRY(type, T) [T - 1] = tile_##type##_##T,

/* The part of x behind token t's values from k on: of the same tokens, or the first of the next ones. */
static struct stream_ahead ahead_of(const struct rows *g, size_t t, size_t k, size_t size)
{
	size_t n;

	if (k >= g->in) {
		t += TOKENS;
		k = 0;
	}
	if (t >= g->tokens)
		return (struct stream_ahead){ 0 };
	n = g->in - k < CHUNK ? g->in - k : CHUNK;
	return (struct stream_ahead){
		.base = g->x + t * g->x_stride + k * size, .rows = g->tokens - t < TOKENS ? g->tokens - t : TOKENS,
		.row_bytes = g->x_stride, .bytes = n * size,
	};
}

/* All tokens; size: bytes of an activation. */
static void mul_tokens(const struct rows *g, size_t size, few_fn *const few[FEW], tile_fn *const tile[TOKENS])
{
	_Alignas(64) float sums[GROUP_ROWS * TOKENS * 16];
	size_t tiles = (g->tokens + TOKENS - 1) / TOKENS, chunks = g->in / CHUNK + 1;
	bool stream = tiles < FEW_TILES;
	struct rows rows = *g;

	if (stream)
		rows.next.rows = 0;
	if (g->tokens <= FEW) {
		few[g->tokens - 1](g);
		return;
	}
	for (size_t i = 0; i < tiles; i++) {
		size_t t = i * TOKENS, n = g->tokens - t < TOKENS ? g->tokens - t : TOKENS, k = 0;

		do {
			struct part p = { g->x + t * g->x_stride, g->y + t * g->stride, sums, k,
					  g->in - k < CHUNK ? g->in : k + CHUNK, i * chunks + k / CHUNK, tiles * chunks,
					  stream && i == 0, ahead_of(g, t, k + CHUNK, size) };

			tile[n - 1](&rows, &p);
			k += CHUNK;
		} while (k < g->in);
	}
}

/* Rows that stay in the second cache while they are used: a multiple of ROWS. */
static size_t group_rows(size_t row_bytes)
{
	size_t n = GROUP_BYTES / (row_bytes + 1) / ROWS * ROWS;

	return n < ROWS ? ROWS : n < GROUP_ROWS ? n : GROUP_ROWS;
}

/* Rows as they lie in the file. x: activations of so many bytes each. */
static void mul_matrix(const struct mat *w, const struct act *a, const void *x, size_t size, float *y, size_t stride,
		       size_t from, size_t to, few_fn *const few[FEW], tile_fn *const tile[TOKENS])
{
	struct rows g = { .row_bytes = w->row_bytes, .in = w->in, .x = x, .x_stride = a->blocks * ACT_BLOCK * size,
			  .tokens = a->tokens, .stride = stride };
	size_t most = group_rows(w->row_bytes);

	for (size_t r = from; r < to; r += g.count) {
		g.w = (const uint8_t *)w->data + r * w->row_bytes;
		g.y = y + r;
		g.count = to - r < most ? to - r : most;
		g.next = (struct stream_ahead){ .base = g.w + g.count * w->row_bytes, .row_bytes = w->row_bytes,
						.bytes = w->row_bytes };
		g.next.rows = w->out - r - g.count < most ? w->out - r - g.count : most;
		mul_tokens(&g, size, few, tile);
	}
}
