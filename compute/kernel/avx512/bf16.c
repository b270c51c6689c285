/* SPDX-License-Identifier: MIT */
/* AVX-512 with products of BFloat16 (Cooper Lake, Zen 4 and later): rows are read as they lie in the file. */
#ifdef __x86_64__
#include "fold.h"
#include "kernel/flush.h"
#include "kernel/stream.h"

enum { VALUES = 32, ROWS = 4, TOKENS = 6, FEW = 8, GROUP_ROWS = 192, VALUE_BYTES = 2 };

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

/* fold16 from vector first on, of n vectors. */
INLINE __m512 fold_some(const __m512 acc[ROWS * TOKENS], int first, int n)
{
	__m512 v[16];

	UNROLL
	for (int i = 0; i < 16; i++)
		v[i] = first + i < n ? acc[first + i] : _mm512_setzero_ps();
	return fold16(v);
}

/* Rows r .. r+R-1 times T tokens. */
INLINE void dot(const struct rows *g, size_t r, bool stream, int R, int T)
{
	const uint8_t *w = g->w + r * g->row_bytes;
	__m512 acc[ROWS * TOKENS];
	float sums[32];

	UNROLL
	for (int i = 0; i < R; i++)
		UNROLL
		for (int t = 0; t < T; t++)
			acc[i * T + t] = _mm512_setzero_ps();
	for (size_t k = 0; k < g->in; k += VALUES) {
		__m512bh v[ROWS];

		UNROLL
		for (int i = 0; i < R; i++) {
			const uint8_t *p = w + (size_t)i * g->row_bytes + k * VALUE_BYTES;

			v[i] = load(p, k, g->in);
			if (stream)
				stream_fetch(p, sizeof v[i]);
		}
		UNROLL
		for (int t = 0; t < T; t++) {
			__m512bh x = (__m512bh)_mm512_loadu_si512(g->x + (size_t)t * g->x_stride + k);

			UNROLL
			for (int i = 0; i < R; i++)
				acc[i * T + t] = _mm512_dpbf16_ps(acc[i * T + t], v[i], x);
		}
	}
	if (R * T == 1) {
		g->y[r] = fold(acc[0]);
		return;
	}
	_mm512_storeu_ps(sums, fold_some(acc, 0, R * T));
	if (R * T > 16)
		_mm512_storeu_ps(sums + 16, fold_some(acc, 16, R * T));
	for (int i = 0; i < R; i++)
		for (int t = 0; t < T; t++)
			g->y[(size_t)t * g->stride + r + (size_t)i] = sums[(i * T + t) / 16 * 16 + folded((i * T + t) % 16)];
}

/* R rows at a time. */
INLINE void dot_rows(const struct rows *g, bool stream, int R, int T)
{
	size_t r = 0;

	for (; r + (size_t)R <= g->count; r += (size_t)R)
		dot(g, r, stream, R, T);
	for (; r < g->count; r++)
		dot(g, r, stream, 1, T);
}

/* All rows for few tokens, one after another, or for a tile of many: four at a time, which are in the cache after the first. */
#define TILES(X) X(1) X(2) X(3) X(4) X(5) X(6)
#define STREAMS(X) TILES(X) X(7) X(8)
#define TILE(T) \
	static void first_##T(const struct rows *g) { dot_rows(g, true, ROWS, T); } \
	static void later_##T(const struct rows *g) { dot_rows(g, false, ROWS, T); }
#define STREAM(T) static void few_##T(const struct rows *g) { dot_rows(g, true, 1, T); }
TILES(TILE)
STREAMS(STREAM)
#undef TILE
#undef STREAM
KERNEL_END

#define TILE(T) { first_##T, later_##T },
#define STREAM(T) few_##T,
static rows_fn *const tiles[TOKENS][2] = { TILES(TILE) };
static rows_fn *const few[FEW] = { STREAMS(STREAM) };
#undef TILE
#undef STREAM

static void mul_rows(struct rows *g, size_t tokens)
{
	const struct rows first = *g;

	if (tokens <= FEW) {
		few[tokens - 1](g);
		return;
	}
	for (size_t t = 0, n; t < tokens; t += n) {
		n = tokens - t < TOKENS ? tokens - t : TOKENS;
		g->x = first.x + t * first.x_stride;
		g->y = first.y + t * first.stride;
		tiles[n - 1][t > 0](g);
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
