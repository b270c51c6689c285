/* SPDX-License-Identifier: MIT */
/*
 * Floats as a register of the ISA holds them: LANES of them, which the file that includes this defines first. Wider
 * vectors would be split by the compiler, through memory.
 */
#ifndef VEC_TYPE_H
#define VEC_TYPE_H
#include "kv.h"
#include "quant/quant.h"
#include "target.h"
#include <math.h>
#include <string.h>

typedef float vf __attribute__((vector_size(4 * LANES)));
typedef int32_t vi __attribute__((vector_size(4 * LANES)));
typedef uint32_t vu __attribute__((vector_size(4 * LANES)));
typedef int16_t vs __attribute__((vector_size(2 * LANES)));
typedef int8_t vb __attribute__((vector_size(LANES)));

/* The sixteen partial sums of vec.h are so many registers. */
enum { PARTS = 16 / LANES };

#define VEC_TIER(id, can)                                                                                  \
	const struct vec vec_##id = {                                                                      \
		.name = #id, .supported = can,                                                             \
		.norm_rms = VEC(norm_rms), .norm_layer = VEC(norm_layer),                                  \
		.add = VEC(add), .add_scaled = VEC(add_scaled), .scale = VEC(scale),                       \
		.silu = VEC(silu), .gelu = VEC(gelu), .clamped = VEC(clamped),                             \
		.soft_cap = VEC(soft_cap), .softmax = VEC(softmax), .sigmoid = VEC(sigmoid),               \
		.turn_halves = VEC(turn_halves), .turn_pairs = VEC(turn_pairs),                            \
		.to_half = VEC(to_half), .int16_unit = VEC(int16_unit),                                    \
		.to_int16 = VEC(to_int16), .attend = VEC(attend),                                          \
	}
#endif
