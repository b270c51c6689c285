/* SPDX-License-Identifier: MIT */
/* AVX-512 with products of BFloat16 (Cooper Lake, Zen 4 and later): rows are read as they lie in the file. */
#ifdef __x86_64__
#include "fold.h"
#include "kernel/flush.h"

enum { VALUES = 32, ROWS = 4, TOKENS = 6, FEW = 8, GROUP_ROWS = 192, AHEAD = 8192, VALUE_BYTES = 2 };

/* count rows, and the activations of the first token. */
struct rows {
	const uint8_t *w;
	const uint16_t *x;
	float *y;
	size_t row_bytes, x_stride, stride, in, count;
};
typedef void rows_fn(const struct rows *g);

KERNEL_BEGIN(AVX512_TARGET ",avx512bf16")
/* Values from k on; zeros for those past the end of a row. */
INLINE __m512bh load(const uint8_t *p, size_t k, size_t in)
{
	if (in - k >= VALUES)
		return (__m512bh)_mm512_loadu_si512(p);
	return (__m512bh)_mm512_maskz_loadu_epi16((__mmask32)((UINT32_C(1) << (in - k)) - 1), p);
}

/* Rows r .. r+R-1 times T tokens. */
INLINE void dot(const struct rows *g, size_t r, size_t ahead, int R, int T)
{
	const uint8_t *w = g->w + r * g->row_bytes;
	__m512 acc[32];
	float sums[32];

	UNROLL
	for (int i = 0; i < R * T; i++)
		acc[i] = _mm512_setzero_ps();
	for (size_t k = 0; k < g->in; k += VALUES) {
		__m512bh v[ROWS];

		UNROLL
		for (int i = 0; i < R; i++) {
			const uint8_t *p = w + (size_t)i * g->row_bytes + k * VALUE_BYTES;

			v[i] = load(p, k, g->in);
			if (ahead)
				__builtin_prefetch(p + ahead);
		}
		UNROLL
		for (int t = 0; t < T; t++) {
			__m512bh x = (__m512bh)_mm512_loadu_si512(g->x + (size_t)t * g->x_stride + k);

			UNROLL
			for (int i = 0; i < R; i++)
				acc[i * T + t] = _mm512_dpbf16_ps(acc[i * T + t], v[i], x);
		}
	}
	UNROLL
	for (int i = R * T; i < 32; i++)
		acc[i] = _mm512_setzero_ps();
	_mm512_storeu_ps(sums, R * T == 1 ? _mm512_set1_ps(fold(acc[0])) : fold16(acc));
	if (R * T > 16)
		_mm512_storeu_ps(sums + 16, fold16(acc + 16));
	for (int i = 0; i < R; i++)
		for (int t = 0; t < T; t++)
			g->y[(size_t)t * g->stride + r + (size_t)i] = sums[(i * T + t) / 16 * 16 + folded((i * T + t) % 16)];
}

/* Rows that are in the cache, several at a time. */
INLINE void dot_tile(const struct rows *g, int T)
{
	size_t r = 0;

	for (; r + ROWS <= g->count; r += ROWS)
		dot(g, r, 0, ROWS, T);
	for (; r < g->count; r++)
		dot(g, r, 0, 1, T);
}

/* Rows from memory: one after another. */
INLINE void dot_stream(const struct rows *g, int T)
{
	for (size_t r = 0; r < g->count; r++)
		dot(g, r, AHEAD, 1, T);
}

#define TILES(X) X(1) X(2) X(3) X(4) X(5) X(6)
#define STREAMS(X) TILES(X) X(7) X(8)
#define TILE(T) static void tile_##T(const struct rows *g) { dot_tile(g, T); }
#define STREAM(T) static void stream_##T(const struct rows *g) { dot_stream(g, T); }
TILES(TILE)
STREAMS(STREAM)
#undef TILE
#undef STREAM
KERNEL_END

#define TILE(T) tile_##T,
#define STREAM(T) stream_##T,
static rows_fn *const tile[TOKENS] = { TILES(TILE) };
static rows_fn *const stream[FEW] = { STREAMS(STREAM) };
#undef TILE
#undef STREAM

static void mul_rows(struct rows *g, size_t tokens)
{
	const struct rows first = *g;

	if (tokens <= FEW) {
		stream[tokens - 1](g);
		return;
	}
	for (size_t t = 0, n; t < tokens; t += n) {
		n = tokens - t < TOKENS ? tokens - t : TOKENS;
		g->x = first.x + t * first.x_stride;
		g->y = first.y + t * first.stride;
		tile[n - 1](g);
	}
}

static void mul_bf16(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	struct rows g = { .row_bytes = w->row_bytes, .x_stride = a->blocks * ACT_BLOCK, .stride = stride, .in = w->in };
	unsigned mode = flush_begin();

	for (size_t r = from; r < to; r += g.count) {
		g.w = (const uint8_t *)w->data + r * w->row_bytes;
		g.x = a->h;
		g.y = y + r;
		g.count = to - r < GROUP_ROWS ? to - r : GROUP_ROWS;
		mul_rows(&g, a->tokens);
	}
	flush_end(mode);
}

static bool supported(void)
{
	return kernel_avx512.supported() && __builtin_cpu_supports("avx512bf16");
}

const struct kernel_tier kernel_avx512bf16 = {
	.name = "avx512bf16",
	.supported = supported,
	.mul = { [GGUF_TYPE_BF16] = mul_bf16 },
};
#endif
