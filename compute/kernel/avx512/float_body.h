/* SPDX-License-Identifier: MIT */
/*
 * Products of weights that are floats of some kind; values stand in lanes, so rows are read as they lie in the file.
 * Included between KERNEL_BEGIN and KERNEL_END by a file that defines
 *
 *	add_step(acc, w, row_bytes, x, x_stride, n, type, R, T)
 *
 * which adds to sums acc[r * T + t] the products of the values at w and x, 32 of them or the first n.
 */
enum { STEP = 32, FEW = 8, ROWS = 4, TOKENS = 6, CHUNK_BYTES = 4096, GROUP_ROWS = 128, GROUP_BYTES = 448 << 10, ROW_AHEAD = 384 };

/* Rows of weights, and the activations of the first token. */
struct rows {
	const uint8_t *w, *x;
	float *y;
	size_t row_bytes, x_stride, stride, in, count, tokens; /* x_stride in bytes, stride in floats */
};

INLINE size_t weight_bytes(enum float_type type)
{
	return type == AS_F32 ? 4 : 2;
}

INLINE size_t activation_bytes(enum float_type type)
{
	return type == AS_BF16 ? 2 : 4;
}

INLINE void fetch(const uint8_t *p, size_t size)
{
	UNROLL
	for (size_t i = 0; i < size; i += STREAM_LINE)
		__builtin_prefetch(p + i, 0, 2);
}

/*
 * What a tile's step needs after it: a line or two of the next tile's tokens for the second cache, and, where products
 * are faster than the processor's own prefetches, rows ahead for the first.
 */
INLINE void fetch_step(const struct rows *g, const uint8_t *w, const uint8_t *ahead, enum float_type type, int R)
{
	fetch(ahead, STEP * activation_bytes(type));
	if (type != AS_BF16)
		return;
	UNROLL
	for (int r = 0; r < R; r++)
		__builtin_prefetch(w + (size_t)r * g->row_bytes + ROW_AHEAD);
}

/*
 * Values from .. to-1 of R rows at w and T tokens at x. Meanwhile as many bytes as a token has here are called in from
 * ahead, or, where that is NULL, rows come from memory.
 */
INLINE void add_values(__m512 *acc, const struct rows *g, const uint8_t *w, const uint8_t *x, size_t from, size_t to,
		       const uint8_t *ahead, enum float_type type, int R, int T)
{
	size_t k = from;

	for (; k + STEP <= to; k += STEP) {
		if (ahead)
			fetch_step(g, w + k * weight_bytes(type), ahead + (k - from) * activation_bytes(type), type, R);
		else
			stream_fetch(w + k * weight_bytes(type), STEP * weight_bytes(type));
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
		add_values(acc, g, g->w + r * g->row_bytes, g->x, 0, g->in, NULL, type, 1, T);
		put_row(acc, g->y + r, g->stride, T);
	}
}

/* A tile of tokens and a part of the values, small enough for the first cache. The sums wait in between. */
struct part {
	const uint8_t *x;
	float *y, *sums;
	size_t from, to;
	const uint8_t *next; /* the part that comes after this one, of so many tokens */
	size_t next_tokens;
};

INLINE void mul_part(const struct rows *g, const struct part *p, size_t r, enum float_type type, int R, int T)
{
	const uint8_t *ahead = r / ROWS < p->next_tokens ? p->next + r / ROWS * g->x_stride : p->x;
	float *sums = p->sums + r * TOKENS * 16;
	__m512 acc[ROWS * TOKENS];

	UNROLL
	for (int i = 0; i < R; i++)
		UNROLL
		for (int t = 0; t < T; t++)
			acc[i * T + t] = p->from ? _mm512_load_ps(sums + 16 * (i * T + t)) : _mm512_setzero_ps();
	add_values(acc, g, g->w + r * g->row_bytes, p->x, p->from, p->to, ahead, type, R, T);
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

/* All rows for a tile. The next one is called in, a token while four rows are multiplied. */
INLINE void mul_tile(const struct rows *g, const struct part *p, enum float_type type, int T)
{
	size_t r = 0;

	for (; r + ROWS <= g->count; r += ROWS)
		mul_part(g, p, r, type, ROWS, T);
	for (; r < g->count; r++)
		mul_part(g, p, r, type, 1, T);
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

/* The size of n's parts, no more than most each and multiples of step as most is, so that they are about even. */
static size_t even(size_t n, size_t most, size_t step)
{
	size_t parts = (n + most - 1) / most, each = parts ? (n + parts - 1) / parts : 0;

	return (each + step - 1) / step * step;
}

/* The tile of tokens from number t on, by parts. */
static void mul_parts(const struct rows *g, size_t t, float *sums, size_t size, tile_fn *tile)
{
	size_t chunk = even(g->in, CHUNK_BYTES / size, STEP), k = 0;

	do {
		size_t to = g->in - k < chunk ? g->in : k + chunk;
		size_t next = to < g->in ? t : t + TOKENS, left = next < g->tokens ? g->tokens - next : 0;
		struct part p = { .x = g->x + t * g->x_stride, .y = g->y + t * g->stride, .sums = sums, .from = k, .to = to,
				  .next = g->x + next * g->x_stride + (to < g->in ? to * size : 0),
				  .next_tokens = left < TOKENS ? left : TOKENS };

		tile(g, &p);
		k = to;
	} while (k < g->in);
}

/* All tokens; size: bytes of an activation. The first ones have the rows come from memory. */
static void mul_tokens(const struct rows *g, size_t size, few_fn *const few[FEW], tile_fn *const tile[TOKENS])
{
	_Alignas(64) float sums[GROUP_ROWS * TOKENS * 16];
	size_t first = g->tokens <= FEW ? g->tokens : TOKENS;

	few[first - 1](g);
	for (size_t t = first, n; t < g->tokens; t += n) {
		n = g->tokens - t < TOKENS ? g->tokens - t : TOKENS;
		mul_parts(g, t, sums, size, tile[n - 1]);
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
	size_t most = even(to - from, group_rows(w->row_bytes), ROWS);

	for (size_t r = from; r < to; r += g.count) {
		g.w = (const uint8_t *)w->data + r * w->row_bytes;
		g.y = y + r;
		g.count = to - r < most ? to - r : most;
		mul_tokens(&g, size, few, tile);
	}
}
