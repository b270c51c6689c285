/* SPDX-License-Identifier: MIT */
#include "vec_type.h"
#include "kernel/fma.h"

static bool supported(void)
{
	return true;
}

INLINE v16 fma16(v16 a, v16 b, v16 c)
{
	v16 y;

	for (int i = 0; i < 16; i++)
		y[i] = fma_exact(a[i], b[i], c[i]);
	return y;
}

INLINE v16 half16(const uint16_t *p)
{
	v16 y;

	for (int i = 0; i < 16; i++)
		y[i] = half_value(p[i]);
	return y;
}

INLINE void put_half16(uint16_t *p, v16 v)
{
	for (int i = 0; i < 16; i++)
		p[i] = half_bits(v[i]);
}

#define VEC(name) name##_scalar
enum { FUSED_ROWS = 2 };
#include "vec_body.h"

VEC_TIER(scalar, supported);
