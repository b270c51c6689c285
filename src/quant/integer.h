/* SPDX-License-Identifier: MIT */
#ifndef GGUF_QUANT_INTEGER_H
#define GGUF_QUANT_INTEGER_H
#include <math.h>
#include "quant.h"

/* The integer of that many bits nearest to v, ties to even; NaN is 0. */
static inline int64_t nearest_integer(float v, int bits)
{
	float limit = ldexpf(1, bits - 1);

	v = rintf(not_nan(v));
	if (v >= limit)
		return (int64_t)(UINT64_MAX >> (65 - bits));
	return (int64_t)(v < -limit ? -limit : v);
}
#endif
