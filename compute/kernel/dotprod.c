/* SPDX-License-Identifier: MIT */
/* 64-bit ARM with the dot product instructions of ARMv8.2: sixteen rows in four vectors, for one token or several. */
#if defined __aarch64__ && !defined __AARCH64EB__
#include <arm_neon.h>
#include <sys/auxv.h>
#include "kernel.h"
#include "panel.h"
#include "target.h"

#ifdef __clang__
#define DOTPROD_TARGET "dotprod"
#else
#define DOTPROD_TARGET "arch=armv8.2-a+dotprod"
#endif

enum { ROWS = PANEL_ROWS, VECTORS = 4, TOKENS = PANEL_TOKENS, HWCAP_DOT_PRODUCT = 1 << 20 };

static bool supported(void)
{
	return getauxval(AT_HWCAP) & HWCAP_DOT_PRODUCT;
}

KERNEL_BEGIN(DOTPROD_TARGET)
/* Half of a block: four steps of four values each. */
INLINE void dot_half(int32x4_t s[TOKENS][VECTORS], const struct panel *p, size_t b, int half, const int8_t *x, int T)
{
	UNROLL
	for (int v = 0; v < VECTORS; v++) {
		int8x16_t w[4];

		UNROLL
		for (int k = 0; k < 4; k++)
			w[k] = vreinterpretq_s8_u8(vld1q_u8(p->q[b][4 * half + k][4 * v]));
		UNROLL
		for (int t = 0; t < T; t++) {
			int8x16_t q = vld1q_s8(x + 32 * t + 16 * half);

			s[t][v] = vdotq_laneq_s32(s[t][v], w[0], q, 0);
			s[t][v] = vdotq_laneq_s32(s[t][v], w[1], q, 1);
			s[t][v] = vdotq_laneq_s32(s[t][v], w[2], q, 2);
			s[t][v] = vdotq_laneq_s32(s[t][v], w[3], q, 3);
		}
	}
}

INLINE void clear(int32x4_t s[TOKENS][VECTORS], int T)
{
	UNROLL
	for (int t = 0; t < T; t++)
		UNROLL
		for (int v = 0; v < VECTORS; v++)
			s[t][v] = vdupq_n_s32(0);
}

/* The exact sum of offsets times activations: half holds -128 times the sums of those. */
INLINE float32x4_t pair_offset(const struct panel *p, size_t b, int v, const int32_t *half)
{
	float32x4_t first = vmulq_n_f32(vld1q_f32(&p->o[b][0][4 * v]), (float)half[0] * -0x1p-7f);

	return vfmaq_n_f32(first, vld1q_f32(&p->o[b][1][4 * v]), (float)half[1] * -0x1p-7f);
}

INLINE float32x4_t add_offset(float32x4_t acc, const struct panel *p, size_t b, int v, const struct act_row *x, size_t at,
			      enum block_kind kind)
{
	float32x4_t m = vld1q_f32(&p->m[b][4 * v]);

	if (kind == BLOCK_OFFSET)
		return vfmaq_n_f32(acc, m, x->dsum[at]);
	if (kind == BLOCK_PAIR_MIN)
		return vfmaq_f32(acc, pair_offset(p, b, v, x->half + 2 * at), vmulq_n_f32(m, x->d[at]));
	return acc;
}

INLINE void add_block(float32x4_t acc[TOKENS][VECTORS], const struct panel *p, size_t b, const struct act_row *x, size_t at,
		      enum block_kind kind, int T)
{
	bool pair = kind == BLOCK_PAIR || kind == BLOCK_PAIR_MIN;
	float32x4_t sum[TOKENS][VECTORS];
	int32x4_t s[TOKENS][VECTORS];

	clear(s, T);
	dot_half(s, p, b, 0, x->q + at * 32, T);
	UNROLL
	for (int t = 0; t < T && pair; t++)
		UNROLL
		for (int v = 0; v < VECTORS; v++)
			sum[t][v] = vmulq_f32(vcvtq_f32_s32(s[t][v]), vld1q_f32(&p->s[b][0][4 * v]));
	if (pair)
		clear(s, T);
	dot_half(s, p, b, 1, x->q + at * 32, T);
	UNROLL
	for (int t = 0; t < T; t++)
		UNROLL
		for (int v = 0; v < VECTORS; v++) {
			float32x4_t f = vcvtq_f32_s32(s[t][v]);

			if (pair)
				f = vfmaq_f32(sum[t][v], f, vld1q_f32(&p->s[b][1][4 * v]));
			f = vfmaq_f32(acc[t][v], f, vmulq_n_f32(vld1q_f32(&p->d[b][4 * v]), x->d[at + (size_t)t]));
			acc[t][v] = add_offset(f, p, b, v, x, at + (size_t)t, kind);
		}
}

/* Sixteen rows times T tokens, over n blocks from number first on; out has what came before. */
INLINE void mul_tile(float *out, const struct panel *p, const struct act *a, size_t token, size_t first, size_t n,
		     enum block_kind kind, int T)
{
	struct act_row x = act_row(a, token);
	float32x4_t acc[TOKENS][VECTORS];

	UNROLL
	for (int t = 0; t < T; t++)
		UNROLL
		for (int v = 0; v < VECTORS; v++)
			acc[t][v] = vld1q_f32(out + t * ROWS + 4 * v);
	for (size_t b = 0; b < n; b++)
		add_block(acc, p, b, &x, (first + b) * x.step, kind, T);
	UNROLL
	for (int t = 0; t < T; t++)
		UNROLL
		for (int v = 0; v < VECTORS; v++)
			vst1q_f32(out + t * ROWS + 4 * v, acc[t][v]);
}

#define TILES(X, kind) X(kind, 1) X(kind, 2) X(kind, 3)
#define ALL_TILES(X) TILES(X, BLOCK_SCALE) TILES(X, BLOCK_OFFSET) TILES(X, BLOCK_PAIR) TILES(X, BLOCK_PAIR_MIN)
#define TILE(kind, T) \
	static void tile_##kind##_##T(float *out, const struct panel *p, const struct act *a, size_t token, size_t first, size_t n) \
	{ \
		mul_tile(out, p, a, token, first, n, kind, T); \
	}
ALL_TILES(TILE)
#undef TILE
KERNEL_END

static panel_tile_fn *const tiles[][TOKENS] = {
#define TILE(kind, T) [kind][T - 1] = tile_##kind##_##T,
	ALL_TILES(TILE)
#undef TILE
};

static void mul_int(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	struct panel p;

	for (size_t row = from; row < to; row += ROWS) {
		struct panel_rows rows = panel_rows_at(w, row, to, ROWS);

		for (size_t first = 0, n; first < a->blocks; first += n) {
			n = a->blocks - first < PANEL_BLOCKS ? a->blocks - first : PANEL_BLOCKS;
			panel_unpack_any(&p, &rows, w->type, first, n, 0);
			panel_mul(&p, a, y + row, stride, rows.count, first, n, tiles[block_types[w->type].kind]);
		}
	}
}

const struct kernel_tier kernel_dotprod = {
	.name = "dotprod",
	.supported = supported,
	.mul_int = mul_int,
};
#endif
