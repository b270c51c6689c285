/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_AVX512_H
#define KERNEL_AVX512_H
#include "kernel/kernel.h"
#include "kernel/panel.h"
#include "target.h"

#define AVX512_ISA "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma,f16c"
#ifdef __clang__ /* takes no width here; intrinsics are not narrowed anyway */
#define AVX512_TARGET AVX512_ISA
#else
#define AVX512_TARGET AVX512_ISA ",prefer-vector-width=512"
#endif

extern const struct kernel_limits avx512_limits;
/* panel.c, row.c, unpack.c, float.c */
extern panel_unpack_fn *const avx512_unpack[GGUF_TYPE_LIMIT];
kernel_mul_fn avx512_mul_int, avx512_mul_float;
/* What avx512_mul_int does, for a few tokens and from block number first on: the blocks before are in y. */
void avx512_mul_rest(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to, size_t first);
/* Types with a kernel for one token: its name, order of activations, bytes of 16 blocks, how to get scales. */
#define AVX512_ROW_KERNELS(X) \
	X(q8_0, AS_IS, 544, scales_of_rows) X(q4_0, HALVES, 288, scales_of_rows) X(iq4_nl, HALVES, 288, scales_of_rows) \
	X(mxfp4, HALVES, 272, scales_of_exponents) X(q4_k, EVEN_ODD, 288, scales_q4_k) X(q5_k, EVEN_ODD, 352, scales_q5_k) \
	X(q6_k, IN_PAIRS, 420, scales_q6_k) X(iq4_xs, HALVES, 272, scales_iq4_xs)
#define AVX512_DECLARE(name, ...) kernel_mul_fn avx512_mul_##name;
AVX512_ROW_KERNELS(AVX512_DECLARE)
kernel_mul_fn avx512_mul_f32, avx512_mul_f16;
kernel_quantize_fn avx512_quantize;
#endif
