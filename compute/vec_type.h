/* SPDX-License-Identifier: MIT */
/* Sixteen floats, as the compiler splits them over what registers there are. */
#ifndef VEC_TYPE_H
#define VEC_TYPE_H
#include "kv.h"
#include "quant/quant.h"
#include <math.h>
#include <string.h>

typedef float v16 __attribute__((vector_size(64)));
typedef int32_t i16 __attribute__((vector_size(64)));
typedef int8_t i8x16 __attribute__((vector_size(16)));

#define INLINE __attribute__((always_inline)) static inline
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#define VEC_TIER(id, can)                                                                                  \
	const struct vec vec_##id = {                                                                      \
		.name = #id, .supported = can,                                                             \
		.norm_rms = VEC(norm_rms), .norm_layer = VEC(norm_layer),                                  \
		.add = VEC(add), .add_scaled = VEC(add_scaled), .scale = VEC(scale),                       \
		.silu = VEC(silu), .gelu = VEC(gelu), .clamped = VEC(clamped),                             \
		.soft_cap = VEC(soft_cap), .softmax = VEC(softmax), .sigmoid = VEC(sigmoid),               \
		.to_half = VEC(to_half), .attend = VEC(attend),                                            \
	}
#endif
