/* SPDX-License-Identifier: MIT */
/* | half d | 16 bytes: low nibbles are values 0-15, high nibbles 16-31 |; value = d * (q - 8) */
#include "fit.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q4_0_BYTES, dst += Q4_0_VALUES) {
		float d = get_half(b);

		for (int i = 0; i < 16; i++) {
			dst[i] = d * (float)((b[2 + i] & 15) - 8);
			dst[i + 16] = d * (float)((b[2 + i] >> 4) - 8);
		}
	}
}

static const struct fit_range levels = { Q4_0_VALUES, -8, 7 };
static const struct fit_scheme scheme = {
	.groups = 1, .width = Q4_0_VALUES, .codes_per_group = Q4_0_VALUES, .low = 1, .high = 1, .step = 1,
	.top = 8, .from = 0.8f, .to = 1.15f, .tries = 16, .both = true, .pick = fit_pick_range, .set = &levels,
};

static void encode(void *dst, const float *x, size_t n)
{
	fit_encode_nibbles(&scheme, dst, x, n);
}

const struct quant quant_Q4_0 = { .decode = decode, .encode = encode };
