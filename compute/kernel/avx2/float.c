/* SPDX-License-Identifier: MIT */
/* Weights as floats: the sixteen sums of all kernels are in two vectors. */
#ifdef __x86_64__
#include <string.h>
#include "avx2.h"
#include "kernel/flush.h"
#include "kernel/stream.h"

enum { ROWS = 2, TOKENS = 3, MOST_BYTES = 64, TILE_ROWS = 3, TILE_TOKENS = 4, TILE_SUMS = TILE_ROWS * TILE_TOKENS };
enum { PART = 1536, GROUP_ROWS = 66, GROUP_BYTES = 256 << 10, PANEL = GROUP_BYTES / 4 };

/* count rows, and the activations of the first token. */
struct rows {
	const uint8_t *w, *x;
	float *y;
	size_t row_bytes, x_stride, stride, in, count; /* x_stride in bytes */
	float *floats; /* room for PANEL floats, where pairs are multiplied as such */
};

/* Values of a type that are multiplied together, and bytes of a value and of its activation. */
INLINE size_t values_of(uint32_t type)
{
	return type == GGUF_TYPE_BF16 ? 32 : 16;
}

INLINE size_t bytes_of(uint32_t type)
{
	return type == GGUF_TYPE_F32 ? sizeof(float) : sizeof(uint16_t);
}

INLINE size_t x_bytes_of(uint32_t type)
{
	return type == GGUF_TYPE_BF16 ? sizeof(uint16_t) : sizeof(float);
}

KERNEL_BEGIN(AVX2_TARGET)
/* Vector i of 8 values, or of 16 as BFloat16 in pairs. */
INLINE __m256 load8(const uint8_t *p, int i, uint32_t type)
{
	if (type == GGUF_TYPE_F16)
		return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(p + 16 * i)));
	return _mm256_loadu_ps((const float *)(p + 32 * i));
}

INLINE __m256 first_of_pairs(__m256 v)
{
	return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(v), 16));
}

INLINE __m256 last_of_pairs(__m256 v)
{
	return _mm256_castsi256_ps(_mm256_and_si256(_mm256_castps_si256(v), _mm256_set1_epi32(-65536)));
}

INLINE __m256 add_products(__m256 acc, __m256 w, __m256 x, uint32_t type)
{
	if (type != GGUF_TYPE_BF16)
		return _mm256_fmadd_ps(w, x, acc);
	acc = _mm256_fmadd_ps(last_of_pairs(w), last_of_pairs(x), acc);
	return _mm256_fmadd_ps(first_of_pairs(w), first_of_pairs(x), acc);
}

INLINE float fold(__m256 low, __m256 high)
{
	__m256 v = _mm256_add_ps(low, high);
	__m128 h = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

	h = _mm_add_ps(h, _mm_movehl_ps(h, h));
	return _mm_cvtss_f32(_mm_add_ss(h, _mm_movehdup_ps(h)));
}

/* Adds the products of R rows at p with T tokens at x. */
INLINE void add_step(__m256 acc[ROWS][TOKENS][2], const uint8_t *p, size_t row_bytes, const uint8_t *x, size_t x_stride,
		     uint32_t type, int R, int T)
{
	UNROLL
	for (int i = 0; i < 2; i++) {
		__m256 v[ROWS];

		UNROLL
		for (int r = 0; r < R; r++)
			v[r] = load8(p + (size_t)r * row_bytes, i, type);
		UNROLL
		for (int t = 0; t < T; t++) {
			__m256 xv = _mm256_loadu_ps((const float *)(x + (size_t)t * x_stride + 32 * i));

			UNROLL
			for (int r = 0; r < R; r++)
				acc[r][t][i] = add_products(acc[r][t][i], v[r], xv, type);
		}
	}
}

INLINE void dot(const struct rows *g, size_t row, uint32_t type, bool stream, int R, int T)
{
	size_t values = values_of(type), size = bytes_of(type), whole = g->in / values * values, rest = g->in - whole;
	const uint8_t *w = g->w + row * g->row_bytes;
	__m256 acc[ROWS][TOKENS][2];

	UNROLL
	for (int r = 0; r < R; r++)
		UNROLL
		for (int t = 0; t < T; t++)
			acc[r][t][0] = acc[r][t][1] = _mm256_setzero_ps();
	for (size_t k = 0; k < whole; k += values) {
		for (int r = 0; stream && r < R; r++)
			stream_fetch(w + (size_t)r * g->row_bytes + k * size, values * size);
		add_step(acc, w + k * size, g->row_bytes, g->x + k * x_bytes_of(type), g->x_stride, type, R, T);
	}
	if (rest) {
		uint8_t last[ROWS][MOST_BYTES] = { 0 };

		for (int r = 0; r < R; r++)
			memcpy(last[r], w + (size_t)r * g->row_bytes + whole * size, rest * size);
		add_step(acc, last[0], MOST_BYTES, g->x + whole * x_bytes_of(type), g->x_stride, type, R, T);
	}
	UNROLL
	for (int r = 0; r < R; r++)
		UNROLL
		for (int t = 0; t < T; t++)
			g->y[(size_t)t * g->stride + row + (size_t)r] = fold(acc[r][t][0], acc[r][t][1]);
}

INLINE void dot_rows(const struct rows *g, uint32_t type, bool stream, int R, int T)
{
	size_t r = 0;

	for (; r + (size_t)R <= g->count; r += (size_t)R)
		dot(g, r, type, stream, R, T);
	for (; r < g->count; r++)
		dot(g, r, type, stream, 1, T);
}

/* Half a step of the tile's rows at w and tokens at x, which are floats; number r * TILE_TOKENS + t. */
INLINE void add_half(__m256 acc[TILE_SUMS], const uint8_t *w, size_t row_bytes, const uint8_t *x, size_t x_stride,
		     uint32_t type)
{
	__m256 v[TILE_ROWS];

	UNROLL
	for (int r = 0; r < TILE_ROWS; r++)
		v[r] = load8(w + (size_t)r * row_bytes, 0, type);
	UNROLL
	for (int t = 0; t < TILE_TOKENS; t++) {
		__m256 xv = _mm256_loadu_ps((const float *)(x + (size_t)t * x_stride));

		UNROLL
		for (int r = 0; r < TILE_ROWS; r++)
			acc[r * TILE_TOKENS + t] = _mm256_fmadd_ps(v[r], xv, acc[r * TILE_TOKENS + t]);
	}
}

/* Values from .. to-1 of a tile of tokens, which are floats at x: few enough for the first cache. */
struct part {
	const uint8_t *x;
	size_t x_stride, from, to;
	bool stream; /* rows come from memory */
};

/* Adds them to eight of the sixteen sums of the three rows at w. */
INLINE void dot_half(__m256 acc[TILE_SUMS], const struct rows *g, const struct part *p, const uint8_t *w, int half,
		     uint32_t type)
{
	size_t values = values_of(type), size = bytes_of(type), n = p->to - p->from, whole = n / values * values;
	size_t at = (size_t)half * values / 2 * size, rest = n - whole;
	const uint8_t *x = p->x + 32 * half;

	for (size_t k = 0; k < whole; k += values) {
		for (size_t r = 0; p->stream && !half && r < TILE_ROWS; r++)
			stream_fetch(w + r * g->row_bytes + k * size, values * size);
		add_half(acc, w + k * size + at, g->row_bytes, x + k * sizeof(float), p->x_stride, type);
	}
	if (rest) {
		uint8_t last[TILE_ROWS][MOST_BYTES] = { 0 };

		for (size_t r = 0; r < TILE_ROWS; r++)
			memcpy(last[r], w + r * g->row_bytes + whole * size, rest * size);
		add_half(acc, last[0] + at, MOST_BYTES, x + whole * sizeof(float), p->x_stride, type);
	}
}

/* Half the sums of three rows over a part; between parts they wait in sums. */
INLINE void dot_part(__m256 acc[TILE_SUMS], const struct rows *g, const struct part *p, float *sums, size_t row, int half,
		     uint32_t type)
{
	UNROLL
	for (int i = 0; i < TILE_SUMS; i++)
		acc[i] = p->from ? _mm256_load_ps(sums + 8 * i) : _mm256_setzero_ps();
	dot_half(acc, g, p, g->w + row * g->row_bytes + p->from * bytes_of(type), half, type);
	if (p->to == g->in)
		return;
	UNROLL
	for (int i = 0; i < TILE_SUMS; i++)
		_mm256_store_ps(sums + 8 * i, acc[i]);
}

/* The registers hold eight sums each of more rows and tokens than of all sixteen: so one half comes after the other. */
INLINE void dot_tile(const struct rows *g, const struct part *p, float *sums, size_t row, uint32_t type)
{
	__m256 low[TILE_SUMS], high[TILE_SUMS];

	dot_part(low, g, p, sums, row, 0, type);
	dot_part(high, g, p, sums + 8 * TILE_SUMS, row, 1, type);
	if (p->to < g->in)
		return;
	UNROLL
	for (size_t r = 0; r < TILE_ROWS; r++)
		UNROLL
		for (size_t t = 0; t < TILE_TOKENS; t++)
			g->y[t * g->stride + row + r] = fold(low[r * TILE_TOKENS + t], high[r * TILE_TOKENS + t]);
}

/* Pairs from .. to-1 of n rows as floats: of each 32 the odd ones, and then the others, as they are added. Zeros follow. */
INLINE void spread(float *to, size_t to_stride, const uint8_t *p, size_t stride, size_t n, size_t from, size_t end)
{
	for (size_t r = 0; r < n; r++)
		for (size_t k = from; k < end; k += 32) {
			const uint8_t *now = p + r * stride + 2 * k;
			float *out = to + r * to_stride + k - from;
			uint8_t last[MOST_BYTES] = { 0 };

			if (end - k < 32)
				now = memcpy(last, now, 2 * (end - k));
			for (size_t i = 0; i < 2; i++) {
				__m256 pairs = _mm256_loadu_ps((const float *)(now + 32 * i));

				_mm256_store_ps(out + 8 * i, last_of_pairs(pairs));
				_mm256_store_ps(out + 16 + 8 * i, first_of_pairs(pairs));
			}
		}
}

/* The rows that are left over by threes. */
INLINE void dot_last(const struct rows *g, size_t row, uint32_t type)
{
	for (; row < g->count; row++) {
		struct rows last = *g;

		dot(g, row, type, false, 1, 3);
		last.x += 3 * g->x_stride;
		last.y += 3 * g->stride;
		dot(&last, row, type, false, 1, 1);
	}
}

/* All rows times four tokens, part by part. */
INLINE void dot_tiles(const struct rows *g, uint32_t type, bool stream)
{
	_Alignas(32) float x[TILE_TOKENS][PART], sums[GROUP_ROWS / TILE_ROWS][2 * TILE_SUMS * 8];
	size_t rows = g->count / TILE_ROWS * TILE_ROWS, parts = (g->in + PART - 1) / PART;
	size_t n = parts ? (g->in + 32 * parts - 1) / (32 * parts) * 32 : 0;

	for (size_t k = 0; k < g->in; k += n) {
		struct part p = { g->x + k * sizeof(float), g->x_stride, k, g->in - k < n ? g->in : k + n, stream };

		if (g->floats) {
			spread(x[0], PART, g->x, g->x_stride, TILE_TOKENS, p.from, p.to);
			p.x = (const uint8_t *)x;
			p.x_stride = sizeof x[0];
		}
		for (size_t row = 0; row < rows; row += TILE_ROWS)
			dot_tile(g, &p, sums[row / TILE_ROWS], row, type);
	}
	dot_last(g, rows, type);
}

/* The same where rows and tokens are pairs: as floats. */
INLINE void dot_pairs(const struct rows *g)
{
	struct rows f = *g;

	f.w = (const uint8_t *)g->floats;
	f.in = (g->in + 31) / 32 * 32;
	f.row_bytes = f.in * sizeof(float);
	f.count = g->count / TILE_ROWS * TILE_ROWS;
	dot_tiles(&f, GGUF_TYPE_F32, false);
	dot_last(g, f.count, GGUF_TYPE_BF16);
}

/* Rows come from memory for the first tokens: for a single one they are read one after another. */
INLINE void dot_tokens(struct rows g, size_t tokens, uint32_t type)
{
	bool tiles = type != GGUF_TYPE_BF16 || g.floats;

	if (tokens == 1)
		dot_rows(&g, type, true, 1, 1);
	for (size_t t = 0, n; tokens > 1 && t < tokens; t += n) {
		n = tokens - t < TILE_TOKENS || !tiles ? TOKENS : TILE_TOKENS;
		if (n == TILE_TOKENS && g.floats)
			dot_pairs(&g);
		else if (n == TILE_TOKENS)
			dot_tiles(&g, type, t == 0);
		else if (tokens - t >= 3)
			dot_rows(&g, type, t == 0, 2, 3);
		else if (tokens - t == 2)
			dot_rows(&g, type, t == 0, 2, 2);
		else
			dot_rows(&g, type, t == 0, 2, 1);
		g.x += n * g.x_stride;
		g.y += n * g.stride;
	}
}

/* Rows that stay in the second cache while they are used. */
INLINE size_t group_rows(size_t row_bytes)
{
	size_t n = GROUP_BYTES / (row_bytes + 1) / TILE_ROWS * TILE_ROWS;

	return n < TILE_ROWS ? TILE_ROWS : n < GROUP_ROWS ? n : GROUP_ROWS;
}

INLINE void mul(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to, uint32_t type,
		float *floats)
{
	struct rows g = { .row_bytes = w->row_bytes, .x_stride = a->blocks * ACT_BLOCK * x_bytes_of(type), .stride = stride,
			  .in = w->in, .floats = floats };
	size_t float_bytes = a->blocks * ACT_BLOCK * sizeof(float), most = group_rows(floats ? float_bytes : w->row_bytes);

	for (size_t r = from; r < to; r += g.count) {
		g.w = (const uint8_t *)w->data + r * w->row_bytes;
		g.x = type == GGUF_TYPE_BF16 ? (const uint8_t *)a->h : (const uint8_t *)a->f;
		g.y = y + r;
		g.count = to - r < most ? to - r : most;
		if (floats)
			spread(floats, float_bytes / sizeof(float), g.w, g.row_bytes, g.count, 0, g.in);
		dot_tokens(g, a->tokens, type);
	}
}

void avx2_mul_f32(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	mul(w, a, y, stride, from, to, GGUF_TYPE_F32, NULL);
}

void avx2_mul_f16(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	mul(w, a, y, stride, from, to, GGUF_TYPE_F16, NULL);
}

static __attribute__((noinline)) void mul_pairs(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from,
						size_t to)
{
	mul(w, a, y, stride, from, to, GGUF_TYPE_BF16, NULL);
}

/* For four tokens and more: rows become floats once for all of them. */
static __attribute__((noinline)) void mul_spread(const struct mat *w, const struct act *a, float *y, size_t stride,
						 size_t from, size_t to)
{
	_Alignas(32) float floats[PANEL];

	mul(w, a, y, stride, from, to, GGUF_TYPE_BF16, floats);
}

void avx2_mul_bf16(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	unsigned mode = flush_begin();

	if (a->tokens < TILE_TOKENS || a->blocks * ACT_BLOCK > PANEL / TILE_ROWS)
		mul_pairs(w, a, y, stride, from, to);
	else
		mul_spread(w, a, y, stride, from, to);
	flush_end(mode);
}

void avx2_round(uint16_t *to, const float *x, size_t n)
{
	const __m256i one = _mm256_set1_epi32(1), half = _mm256_set1_epi32(0x7fff), quiet = _mm256_set1_epi32(0x400000);

	for (size_t i = 0; i < n; i += 16) {
		__m256i out[2];

		UNROLL
		for (int k = 0; k < 2; k++) {
			__m256 f = _mm256_loadu_ps(x + i + 8 * k);
			__m256i v = _mm256_castps_si256(f), nan = _mm256_castps_si256(_mm256_cmp_ps(f, f, _CMP_UNORD_Q));
			__m256i odd = _mm256_and_si256(_mm256_srli_epi32(v, 16), one);
			__m256i up = _mm256_add_epi32(v, _mm256_add_epi32(half, odd));

			out[k] = _mm256_srli_epi32(_mm256_blendv_epi8(up, _mm256_or_si256(v, quiet), nan), 16);
		}
		__m256i both = _mm256_packus_epi32(out[0], out[1]);

		_mm256_storeu_si256((__m256i *)(to + i), _mm256_permute4x64_epi64(both, 0xd8));
	}
}
KERNEL_END
#endif
