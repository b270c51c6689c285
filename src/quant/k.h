/* SPDX-License-Identifier: MIT */
/* How the K types pack their scales. */
#ifndef GGUF_QUANT_K_H
#define GGUF_QUANT_K_H
#include <stdint.h>

/*
 * The 12 bytes of Q4_K and Q5_K: 8 scales and 8 minima of 6 bits. The low six bits of bytes 0-3 and 4-7 are scales and
 * minima 0-3; bytes 8-11 hold the low four bits of scales and minima 4-7, whose high two top bytes 0-3 and 4-7.
 */
static inline unsigned k_scale(const uint8_t *s, int g)
{
	return g < 4 ? s[g] & 63u : (s[g + 4] & 15u) | (unsigned)(s[g - 4] >> 6) << 4;
}

static inline unsigned k_min(const uint8_t *s, int g)
{
	return g < 4 ? s[g + 4] & 63u : s[g + 4] >> 4 | (unsigned)(s[g] >> 6) << 4;
}

static inline void k_put(uint8_t *s, const int *scale, const int *min)
{
	for (int g = 0; g < 4; g++) {
		s[g] = (uint8_t)(scale[g] | scale[g + 4] >> 4 << 6);
		s[g + 4] = (uint8_t)(min[g] | min[g + 4] >> 4 << 6);
		s[g + 8] = (uint8_t)((scale[g + 4] & 15) | min[g + 4] << 4);
	}
}

/* Of Q3_K: 16 scales in 12 bytes. Bytes 0-7 hold the low four bits of scales 0-7 and 8-15, the rest the high two. */
static inline int q3_k_scale(const uint8_t *s, int g)
{
	int low = s[g % 8] >> g / 8 * 4 & 15, high = s[8 + g % 4] >> g / 4 * 2 & 3;

	return (low | high << 4) - 32;
}
#endif
