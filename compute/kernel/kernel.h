/* SPDX-License-Identifier: MIT */
/*
 * What a tier of kernels is, and the tier in use.
 *
 * All tiers compute the same sums in the same order, so they agree to the last bit:
 * - Weights of integer types (see block.h): acc = 0; for each block of 32 in turn acc = fma(s, d_w * d_x, acc), where s
 *   is the exact sum of the products of integers; then, for types with an offset, acc = fma(m, d_x * sum_x, acc).
 * - BFloat16, with activations rounded to it: 16 sums, elements 32 * b + 2 * i + 1 and then 32 * b + 2 * i go to number i
 *   by fma, b ascending. Subnormal numbers and results count as zero.
 * - All other types: 16 sums, element k goes to number k % 16 by fma, in ascending order.
 * Sixteen sums become 8 of 8 + 8, 4 of 4 + 4, 2 of 2 + 2, 1.
 */
#ifndef KERNEL_H
#define KERNEL_H
#include "act.h"
#include "gguf.h"

/* Rows from .. to-1 of w times all tokens of a: y[token * stride + row]. */
typedef void kernel_mul_fn(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to);
/* Blocks from .. to-1 of x, which points to block 0. */
typedef void kernel_quantize_fn(const struct act_row *row, const float *x, size_t from, size_t to);
/* n floats, a multiple of 16, to BFloat16: nearest, ties to even. */
typedef void kernel_round_fn(uint16_t *to, const float *x, size_t n);

/* What the processor can do at most. The peaks compute for some time per n and return the multiply-adds done. */
struct kernel_limits {
	uint64_t (*int_peak)(size_t n), (*float_peak)(size_t n);
	void (*read)(const void *p, size_t n); /* loads n bytes and forgets them */
};

struct kernel_tier {
	const char *name;
	bool (*supported)(void);
	const struct kernel_limits *limits;
	uint64_t (*pair_peak)(size_t n); /* as in limits, of BFloat16 */
	/* NULL: the tier below does it */
	kernel_quantize_fn *quantize;
	kernel_round_fn *round;
	kernel_mul_fn *mul_int, *mul_float; /* any type */
	kernel_mul_fn *mul[GGUF_TYPE_LIMIT];
};
#define TIER(name) extern const struct kernel_tier kernel_##name;
#include "tiers.def"
#undef TIER
extern const struct kernel_tier *const kernel_tiers[]; /* NULL at the end */

/* The kernels in use: those of the best tier that this processor has. */
extern struct kernel_tier kernel;
/* The same, with nothing above the tier named cap (NULL: all). -EINVAL for a name there is not. */
int kernel_select(const char *cap);
/* Whether there are tiers of both names, and cap's comes first. */
bool kernel_is_above(const char *name, const char *cap);
/* Whether weights of this type are multiplied as integers. */
bool kernel_is_int(uint32_t type);
#endif
