/* SPDX-License-Identifier: MIT */
/* Weights as floats: values stand in lanes, so rows are read as they lie in the file. */
#ifdef __x86_64__
#include "fold.h"

enum { LANES = 16, TOKENS = 8, GROUP_ROWS = 192, DECODED = 65536 };
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
	__mmask16 some = (__mmask16)((1u << n) - 1);

	if (type == AS_F32)
		return _mm512_maskz_loadu_ps(some, p);
	return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(some, p));
}

/* R rows of in values times T tokens, R * T <= 16. */
INLINE void dot(const uint8_t *w, size_t row_bytes, const float *x, size_t x_stride, size_t in, enum float_type type,
		size_t ahead, float *y, size_t stride, int R, int T)
{
	size_t size = type == AS_F32 ? 4 : 2;
	__m512 acc[16];
	float sums[16];

	UNROLL
	for (int i = 0; i < 16; i++)
		acc[i] = _mm512_setzero_ps();
	for (size_t k = 0; k < in; k += LANES) {
		__m512 v[4];

		UNROLL
		for (int r = 0; r < R; r++) {
			const uint8_t *p = w + (size_t)r * row_bytes + k * size;

			v[r] = in - k < LANES ? load_some(p, type, in - k) : load(p, type);
			if (ahead)
				__builtin_prefetch(p + ahead);
		}
		UNROLL
		for (int t = 0; t < T; t++) {
			__m512 xv = _mm512_loadu_ps(x + (size_t)t * x_stride + k);

			UNROLL
			for (int r = 0; r < R; r++)
				acc[r * T + t] = _mm512_fmadd_ps(v[r], xv, acc[r * T + t]);
		}
	}
	if (R * T == 1) {
		y[0] = fold(acc[0]);
		return;
	}
	_mm512_storeu_ps(sums, fold16(acc));
	for (int r = 0; r < R; r++)
		for (int t = 0; t < T; t++)
			y[(size_t)t * stride + (size_t)r] = sums[folded(r * T + t)];
}

struct rows {
	const uint8_t *w;
	size_t row_bytes, count, in;
	const float *x;
	size_t x_stride, tokens;
	float *y;
	size_t stride, ahead;
};

/* count rows times up to TOKENS tokens, two rows at a time. */
INLINE void dot_tile(const struct rows *g, size_t token, enum float_type type, int T)
{
	const float *x = g->x + token * g->x_stride;
	float *y = g->y + token * g->stride;
	size_t r = 0;

	for (; r + 2 <= g->count; r += 2)
		dot(g->w + r * g->row_bytes, g->row_bytes, x, g->x_stride, g->in, type, 0, y + r, g->stride, 2, T);
	if (r < g->count)
		dot(g->w + r * g->row_bytes, g->row_bytes, x, g->x_stride, g->in, type, 0, y + r, g->stride, 1, T);
}

/* A few tokens, and rows from memory: one at a time, in file order. */
INLINE void dot_stream(const struct rows *g, enum float_type type, int T)
{
	for (size_t r = 0; r < g->count; r++)
		dot(g->w + r * g->row_bytes, g->row_bytes, g->x, g->x_stride, g->in, type, g->ahead, g->y + r, g->stride, 1, T);
}

#define EACH(X, type) X(type, 1) X(type, 2) X(type, 3) X(type, 4) X(type, 5) X(type, 6) X(type, 7) X(type, 8)
typedef void rows_fn(const struct rows *g, size_t token);
#define TILE(type, T) \
	static void tile_##type##_##T(const struct rows *g, size_t token) { dot_tile(g, token, type, T); } \
	static void stream_##type##_##T(const struct rows *g, size_t token) { (void)token; dot_stream(g, type, T); }
EACH(TILE, AS_F32) EACH(TILE, AS_F16)
#undef TILE
KERNEL_END

static rows_fn *const tile[][TOKENS] = {
#define TILE(type, T) [type][T - 1] = tile_##type##_##T,
	EACH(TILE, AS_F32) EACH(TILE, AS_F16)
#undef TILE
};

static rows_fn *const stream[][TOKENS] = {
#define TILE(type, T) [type][T - 1] = stream_##type##_##T,
	EACH(TILE, AS_F32) EACH(TILE, AS_F16)
#undef TILE
};

static void mul_rows(const struct rows *g, enum float_type type)
{
	if (g->tokens <= TOKENS) {
		stream[type][g->tokens - 1](g, 0);
		return;
	}
	for (size_t t = 0; t < g->tokens; t += TOKENS)
		tile[type][(g->tokens - t < TOKENS ? g->tokens - t : TOKENS) - 1](g, t);
}

static void mul(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to,
		enum float_type type)
{
	struct rows g = { .row_bytes = w->row_bytes, .in = w->in, .x = a->f, .x_stride = a->blocks * ACT_BLOCK,
			  .tokens = a->tokens, .stride = stride, .ahead = 8192 };

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
