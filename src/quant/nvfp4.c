/* SPDX-License-Identifier: MIT */
/*
 * | 4 scales as unsigned E4M3 floats | 4 times 8 bytes: low nibbles are values 0-7, high nibbles 8-15 |, each an E2M1
 * float. 16 values share a scale.
 */
#include "fp4.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += NVFP4_BYTES, dst += NVFP4_VALUES)
		for (int g = 0; g < 4; g++) {
			const uint8_t *q = b + 4 + 8 * g;
			float d = e4m3_half(b[g]);

			for (int i = 0; i < 8; i++) {
				dst[16 * g + i] = d * (float)fp4_doubled[q[i] & 15];
				dst[16 * g + 8 + i] = d * (float)fp4_doubled[q[i] >> 4];
			}
		}
}

const struct quant quant_NVFP4 = { .decode = decode };
