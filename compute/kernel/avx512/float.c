/* SPDX-License-Identifier: MIT */
/* Weights as floats: F32, F16, and what is decoded to floats first. */
#ifdef __x86_64__
#include "fold.h"
#include "kernel/stream.h"

enum { LANES = 16, DECODED = 65536 };
enum float_type { AS_F32, AS_F16, AS_BF16 };

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

INLINE void add_step(__m512 *acc, const uint8_t *w, size_t row_bytes, const uint8_t *x, size_t x_stride, size_t n,
		     enum float_type type, int R, int T)
{
	size_t size = type == AS_F32 ? 4 : 2;

	UNROLL
	for (size_t i = 0; i < 2 * LANES; i += LANES) {
		__m512 v[4];

		UNROLL
		for (int r = 0; r < R; r++) {
			const uint8_t *p = w + (size_t)r * row_bytes + i * size;

			v[r] = n >= 2 * LANES ? load(p, type) : load_some(p, type, n > i ? n - i : 0);
		}
		UNROLL
		for (int t = 0; t < T; t++) {
			__m512 xv = _mm512_loadu_ps(x + (size_t)t * x_stride + 4 * i);

			UNROLL
			for (int r = 0; r < R; r++)
				acc[r * T + t] = _mm512_fmadd_ps(v[r], xv, acc[r * T + t]);
		}
	}
}

#include "float_body.h"
EACH_FEW(FEW_FN, AS_F32) EACH_FEW(FEW_FN, AS_F16) EACH_TILE(TILE_FN, AS_F32) EACH_TILE(TILE_FN, AS_F16)
KERNEL_END

static few_fn *const few_f32[FEW] = { EACH_FEW(FEW_ENTRY, AS_F32) }, *const few_f16[FEW] = { EACH_FEW(FEW_ENTRY, AS_F16) };
static tile_fn *const tile_f32[TOKENS] = { EACH_TILE(TILE_ENTRY, AS_F32) };
static tile_fn *const tile_f16[TOKENS] = { EACH_TILE(TILE_ENTRY, AS_F16) };

/* Rows of any type, decoded to floats first. */
void avx512_mul_float(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	_Alignas(64) float v[DECODED];
	size_t step = a->blocks * ACT_BLOCK, blocks = w->in / gguf_type_values(w->type);
	size_t room = DECODED / (step ? step : 1), most = group_rows(step * sizeof *v), group = room < most ? room : most;
	struct rows g = { .w = (const uint8_t *)v, .row_bytes = step * sizeof *v, .in = w->in, .x = (const uint8_t *)a->f,
			  .x_stride = step * sizeof *v, .tokens = a->tokens, .stride = stride };

	if (!group) {
		kernel_scalar.mul_float(w, a, y, stride, from, to);
		return;
	}
	for (size_t r = from; r < to; r += g.count) {
		g.y = y + r;
		g.count = to - r < group ? to - r : group;
		for (size_t i = 0; i < g.count; i++)
			gguf_decode(w->type, v + i * step, (const uint8_t *)w->data + (r + i) * w->row_bytes, blocks);
		mul_tokens(&g, sizeof *v, few_f32, tile_f32);
	}
}

void avx512_mul_f32(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	mul_matrix(w, a, a->f, sizeof *a->f, y, stride, from, to, few_f32, tile_f32);
}

void avx512_mul_f16(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	mul_matrix(w, a, a->f, sizeof *a->f, y, stride, from, to, few_f16, tile_f16);
}
#endif
