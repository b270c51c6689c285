/* SPDX-License-Identifier: MIT */
/* Weights as floats: values stand in lanes, so rows are read as they lie in the file. */
#ifdef __x86_64__
#include "fold.h"
#include "kernel/stream.h"

enum { LANES = 16, STEP = 32, TOKENS = 8, GROUP_ROWS = 192, DECODED = 65536 };
enum float_type { AS_F32, AS_F16 };

KERNEL_BEGIN(AVX512_TARGET)
INLINE __m512 load(const uint8_t *p, enum float_type type)
{
	if (type == AS_F32)
		return _mm512_loadu_ps(p);
	return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

/* The first n of 16 values, and zeros. */
INLINE __m512 load_some(const uint8_t *p, enum float_type type, size_t n)
{
	__mmask16 some = (__mmask16)(n < LANES ? (1u << n) - 1 : 0xffff);

	if (type == AS_F32)
		return _mm512_maskz_loadu_ps(some, p);
	return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(some, p));
}

struct rows {
	const uint8_t *w;
	const float *x;
	float *y;
	size_t row_bytes, x_stride, stride, in, count, tokens;
	bool stream; /* rows come from memory */
};

/* Adds to the sums of R rows and T tokens the products of values k .. k+31; n: those that a row still has. */
INLINE void add_step(__m512 acc[16], const struct rows *g, const uint8_t *w, const float *x, size_t n, enum float_type type,
		     bool stream, int R, int T)
{
	size_t size = type == AS_F32 ? 4 : 2;

	for (int r = 0; stream && r < R; r++)
		stream_fetch(w + (size_t)r * g->row_bytes, STEP * size);
	UNROLL
	for (size_t i = 0; i < STEP; i += LANES) {
		__m512 v[4];

		UNROLL
		for (int r = 0; r < R; r++) {
			const uint8_t *p = w + (size_t)r * g->row_bytes + i * size;

			v[r] = n >= STEP ? load(p, type) : load_some(p, type, n > i ? n - i : 0);
		}
		UNROLL
		for (int t = 0; t < T; t++) {
			__m512 xv = _mm512_loadu_ps(x + (size_t)t * g->x_stride + i);

			UNROLL
			for (int r = 0; r < R; r++)
				acc[r * T + t] = _mm512_fmadd_ps(v[r], xv, acc[r * T + t]);
		}
	}
}

/* Rows r .. r+R-1 times T tokens from x on, R * T <= 16. */
INLINE void dot(const struct rows *g, size_t row, const float *x, float *y, enum float_type type, bool stream, int R, int T)
{
	const uint8_t *w = g->w + row * g->row_bytes;
	size_t size = type == AS_F32 ? 4 : 2, k = 0;
	__m512 acc[16];
	float sums[16];

	UNROLL
	for (int i = 0; i < 16; i++)
		acc[i] = _mm512_setzero_ps();
	for (; k + STEP <= g->in; k += STEP)
		add_step(acc, g, w + k * size, x + k, STEP, type, stream, R, T);
	if (k < g->in)
		add_step(acc, g, w + k * size, x + k, g->in - k, type, false, R, T);
	if (R * T == 1) {
		y[row] = fold(acc[0]);
		return;
	}
	_mm512_storeu_ps(sums, fold16(acc));
	for (int r = 0; r < R; r++)
		for (int t = 0; t < T; t++)
			y[(size_t)t * g->stride + row + (size_t)r] = sums[folded(r * T + t)];
}

/* R rows at a time. */
INLINE void dot_rows(const struct rows *g, size_t token, enum float_type type, bool stream, int R, int T)
{
	const float *x = g->x + token * g->x_stride;
	float *y = g->y + token * g->stride;
	size_t r = 0;

	for (; r + (size_t)R <= g->count; r += (size_t)R)
		dot(g, r, x, y, type, stream, R, T);
	for (; r < g->count; r++)
		dot(g, r, x, y, type, stream, 1, T);
}

#define EACH(X, type) X(type, 1) X(type, 2) X(type, 3) X(type, 4) X(type, 5) X(type, 6) X(type, 7) X(type, 8)
typedef void rows_fn(const struct rows *g, size_t token);
/* All rows for few tokens, one after another, or for a tile of many: two at a time, which are in the cache after the first. */
#define TILE(type, T) \
	static void few_##type##_##T(const struct rows *g, size_t token) { dot_rows(g, token, type, true, 1, T); } \
	static void first_##type##_##T(const struct rows *g, size_t token) { dot_rows(g, token, type, true, 2, T); } \
	static void tile_##type##_##T(const struct rows *g, size_t token) { dot_rows(g, token, type, false, 2, T); }
EACH(TILE, AS_F32) EACH(TILE, AS_F16)
#undef TILE
KERNEL_END

enum { FEW, FIRST, LATER, WAYS };
static rows_fn *const tiles[][TOKENS][WAYS] = {
#define TILE(type, T) [type][T - 1] = { few_##type##_##T, first_##type##_##T, tile_##type##_##T },
	EACH(TILE, AS_F32) EACH(TILE, AS_F16)
#undef TILE
};

static void mul_rows(const struct rows *g, enum float_type type)
{
	for (size_t t = 0, n; t < g->tokens; t += n) {
		n = g->tokens - t < TOKENS ? g->tokens - t : TOKENS;
		tiles[type][n - 1][g->tokens <= TOKENS ? FEW : t == 0 && g->stream ? FIRST : LATER](g, t);
	}
}

static void mul(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to,
		enum float_type type)
{
	struct rows g = { .row_bytes = w->row_bytes, .in = w->in, .x = a->f, .x_stride = a->blocks * ACT_BLOCK,
			  .tokens = a->tokens, .stride = stride, .stream = true };

	for (size_t r = from; r < to; r += g.count) {
		g.w = (const uint8_t *)w->data + r * w->row_bytes;
		g.y = y + r;
		g.count = to - r < GROUP_ROWS ? to - r : GROUP_ROWS;
		mul_rows(&g, type);
	}
}

/* Rows of any type, decoded to floats first. */
void avx512_mul_float(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	_Alignas(64) float v[DECODED];
	size_t step = a->blocks * ACT_BLOCK, group = DECODED / (step ? step : 1), blocks = w->in / gguf_type_values(w->type);
	struct rows g = { .w = (const uint8_t *)v, .row_bytes = step * sizeof *v, .in = w->in, .x = a->f, .x_stride = step,
			  .tokens = a->tokens, .stride = stride };

	if (!group) {
		kernel_scalar.mul_float(w, a, y, stride, from, to);
		return;
	}
	for (size_t r = from; r < to; r += g.count) {
		g.y = y + r;
		g.count = to - r < group ? to - r : group;
		for (size_t i = 0; i < g.count; i++)
			gguf_decode(w->type, v + i * step, (const uint8_t *)w->data + (r + i) * w->row_bytes, blocks);
		mul_rows(&g, AS_F32);
	}
}

void avx512_mul_f32(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	mul(w, a, y, stride, from, to, AS_F32);
}

void avx512_mul_f16(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	mul(w, a, y, stride, from, to, AS_F16);
}
#endif
