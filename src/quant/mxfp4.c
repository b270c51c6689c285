/* SPDX-License-Identifier: MIT */
/* | scale 2^(e - 127) as the byte e | 16 bytes: low nibbles are values 0-15, high nibbles 16-31 |, each an E2M1 float */
#include "fp4.h"

const int8_t fp4_doubled[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 };

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += MXFP4_BYTES, dst += MXFP4_VALUES) {
		float d = e8m0_half(b[0]);

		for (int i = 0; i < 16; i++) {
			dst[i] = d * (float)fp4_doubled[b[1 + i] & 15];
			dst[i + 16] = d * (float)fp4_doubled[b[1 + i] >> 4];
		}
	}
}

const struct quant quant_MXFP4 = { .decode = decode };
