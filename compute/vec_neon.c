/* SPDX-License-Identifier: MIT */
#ifdef __aarch64__
#include <arm_neon.h>
#define LANES 4
#include "vec_type.h"

static bool supported(void)
{
	return true;
}

INLINE vf fma_v(vf a, vf b, vf c)
{
	return (vf)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}

/* The instruction for this gives NaN where the comparison gives b. */
INLINE vf max_v(vf a, vf b)
{
	return (vf)vbslq_f32((uint32x4_t)(a > b), (float32x4_t)a, (float32x4_t)b);
}

INLINE float max_lane(vf v)
{
	return vmaxvq_f32((float32x4_t)v);
}

INLINE bool is_above(vf v, float limit)
{
	return vmaxvq_u32((uint32x4_t)(v > limit));
}

INLINE float sum_lanes(vf v)
{
	return (v[0] + v[2]) + (v[1] + v[3]);
}

INLINE vf half_v(const uint16_t *p)
{
	return (vf)vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}

INLINE void put_half(uint16_t *p, vf v)
{
	vst1_u16(p, vreinterpret_u16_f16(vcvt_f16_f32((float32x4_t)v)));
}

#define VEC(name) name##_neon
enum { FUSED_ROWS = 8, PAIR_WIDE = 2 };
#include "vec_body.h"
#include "attend_body.h"

VEC_TIER(neon, supported);
#endif
