/* SPDX-License-Identifier: MIT */
/* Part of every 64-bit ARM: no region is needed. */
#if defined __aarch64__ && !defined __AARCH64EB__
#include <arm_neon.h>
#include "tier.h"

static bool supported(void)
{
	return true;
}

#include "lanes.h"

static inline lanes16 lanes_look(lanes16 table, lanes16 at)
{
	return (lanes16)vqtbl1q_u8((uint8x16_t)table, (uint8x16_t)at);
}

/* Eight of 16 bits as floats times the scale, less min */
static inline void put8(float *dst, int16x8_t v, float32x4_t scale, float32x4_t min)
{
	float32x4_t low = vcvtq_f32_s32(vmovl_s16(vget_low_s16(v))), high = vcvtq_f32_s32(vmovl_high_s16(v));

	vst1q_f32(dst, vsubq_f32(vmulq_f32(scale, low), min));
	vst1q_f32(dst + 4, vsubq_f32(vmulq_f32(scale, high), min));
}

static inline void lanes_put_above(float *dst, lanes16 level, float scale, float min)
{
	int8x16_t v = (int8x16_t)level;

	put8(dst, vmovl_s8(vget_low_s8(v)), vdupq_n_f32(scale), vdupq_n_f32(min));
	put8(dst + 8, vmovl_high_s8(v), vdupq_n_f32(scale), vdupq_n_f32(min));
}

/* A minimum of 0 changes no bit: -0 - 0 is -0. */
static inline void lanes_put(float *dst, lanes16 level, float scale)
{
	lanes_put_above(dst, level, scale, 0);
}

static inline void lanes_put_half(float *dst, const uint8_t *src)
{
	for (int i = 0; i < 16; i += 4)
		vst1q_f32(dst + i, vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8(src + 2 * i))));
}

static inline void lanes_put_bfloat(float *dst, const uint8_t *src)
{
	for (int i = 0; i < 16; i += 4)
		vst1q_f32(dst + i, vreinterpretq_f32_u32(vshll_n_u16(vreinterpret_u16_u8(vld1_u8(src + 2 * i)), 16)));
}

static inline void lanes_put_words(float *dst, const uint8_t *src)
{
	for (int i = 0; i < 16; i += 8)
		put8(dst + i, vreinterpretq_s16_u8(vld1q_u8(src + 2 * i)), vdupq_n_f32(1), vdupq_n_f32(0));
}

static inline void lanes_put_longs(float *dst, const uint8_t *src)
{
	for (int i = 0; i < 16; i += 4)
		vst1q_f32(dst + i, vcvtq_f32_s32(vreinterpretq_s32_u8(vld1q_u8(src + 4 * i))));
}

#include "types.h"

const struct quant_tier quant_tier_neon = {
	.name = "neon",
	.supported = supported,
	.decode = { LANES_TABLE },
};
#endif
