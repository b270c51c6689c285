/* SPDX-License-Identifier: MIT */
/* Four-bit floats (E2M1) and their scales, as MXFP4 and NVFP4 have them. */
#ifndef GGUF_QUANT_FP4_H
#define GGUF_QUANT_FP4_H
#include "quant.h"

/* Twice the values, which makes them integers. */
extern const int8_t fp4_doubled[16];

/* Half of 2^(e - 127): goes with the doubled values. */
static inline float e8m0_half(uint8_t e)
{
	return float_of_bits(e < 2 ? 0x200000u << e : (e - 1u) << 23);
}

/* Half of an unsigned E4M3 number; its NaN counts as 0. */
static inline float e4m3_half(uint8_t v)
{
	int exponent = v >> 3 & 15, mantissa = v & 7;

	if (v == 0x7f)
		return 0;
	if (!exponent)
		return (float)mantissa * 0x1p-10f;
	return (float)(8 + mantissa) * float_of_bits((uint32_t)(exponent + 116) << 23);
}
#endif
