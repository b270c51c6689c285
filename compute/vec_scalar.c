/* SPDX-License-Identifier: MIT */
#define LANES 4
#include "vec_type.h"
#include "kernel/fma.h"

static bool supported(void)
{
	return true;
}

/* Not inlined: exact without an instruction for it is long, and it stands in hundreds of places. */
__attribute__((noinline)) static vf fma_v(vf a, vf b, vf c)
{
	vf y;

	for (int i = 0; i < LANES; i++)
		y[i] = fma_exact(a[i], b[i], c[i]);
	return y;
}

INLINE vf max_v(vf a, vf b)
{
	vf y;

	for (int i = 0; i < LANES; i++)
		y[i] = a[i] > b[i] ? a[i] : b[i];
	return y;
}

INLINE float max_lane(vf v)
{
	float most = v[0];

	for (int i = 1; i < LANES; i++)
		most = v[i] > most ? v[i] : most;
	return most;
}

INLINE bool is_above(vf v, float limit)
{
	return max_lane(v) > limit;
}

INLINE float sum_lanes(vf v)
{
	return (v[0] + v[2]) + (v[1] + v[3]);
}

INLINE vf half_v(const uint16_t *p)
{
	vf y;

	for (int i = 0; i < LANES; i++)
		y[i] = half_value(p[i]);
	return y;
}

INLINE void put_half(uint16_t *p, vf v)
{
	for (int i = 0; i < LANES; i++)
		p[i] = half_bits(v[i]);
}

#define VEC(name) name##_scalar
enum { FUSED_ROWS = 2, PAIR_WIDE = 2 };
#include "vec_body.h"
#include "attend_body.h"

VEC_TIER(scalar, supported);
