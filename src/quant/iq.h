/* SPDX-License-Identifier: MIT */
/* What the IQ types share: entries of a code book, signed and scaled. */
#ifndef GGUF_QUANT_IQ_H
#define GGUF_QUANT_IQ_H
#include "quant.h"

/* n (at most 8) magnitudes, lowest byte first, negated where bit i of signs is set */
static inline void iq_put(float *dst, int n, float scale, uint64_t entry, unsigned signs)
{
	for (int i = 0; i < n; i++) {
		float v = scale * (float)(entry >> 8 * i & 255);

		dst[i] = signs >> i & 1 ? -v : v;
	}
}

static inline void iq_put8(float *dst, float scale, uint64_t entry, unsigned signs)
{
	iq_put(dst, 8, scale, entry, signs);
}

static inline void iq_put4(float *dst, float scale, uint32_t entry, unsigned signs)
{
	iq_put(dst, 4, scale, entry, signs);
}

/* 8 values -1, 0 or 1, all moved down (or up) by an eighth */
static inline void iq_put1(float *dst, float scale, uint64_t entry, unsigned down)
{
	for (int i = 0; i < 8; i++)
		dst[i] = scale * ((float)(int8_t)(entry >> 8 * i) + (down ? -0.125f : 0.125f));
}

/* The half of IQ1_M, in the top bits of its four words of scales */
static inline float iq1_m_d(const uint8_t *scales)
{
	unsigned d = 0;

	for (int i = 0; i < 4; i++)
		d |= (get16(scales + 2 * i) >> 12u) << 4 * i;
	return half_value((uint16_t)d);
}

/* What the nibbles of IQ4_NL and IQ4_XS stand for */
extern const int8_t iq4_values[16];
#endif
