/* SPDX-License-Identifier: MIT */
#ifndef KERNEL_AVX512_H
#define KERNEL_AVX512_H
#include "kernel/kernel.h"
#include "kernel/panel.h"
#include "target.h"

#define AVX512_TARGET "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma,f16c,prefer-vector-width=512"
#define INLINE static inline __attribute__((always_inline))
/* gcc unrolls at -O2 only what is asked for; clang has its own word for it. */
#ifdef __clang__
#define UNROLL KERNEL_PRAGMA(clang loop unroll(full))
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

extern const struct kernel_limits avx512_limits;
/* panel.c, row.c, unpack.c, float.c */
extern panel_unpack_fn *const avx512_unpack[GGUF_TYPE_LIMIT];
kernel_mul_fn avx512_mul_int, avx512_mul_float;
kernel_mul_fn avx512_mul_f32, avx512_mul_f16, avx512_mul_bf16;
kernel_quantize_fn avx512_quantize;
#endif
