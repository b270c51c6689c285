/* SPDX-License-Identifier: MIT */
/* | half d | 16 bytes: low nibbles are values 0-15, high nibbles 16-31 |; value = d * iq4_values[q] */
#include "fit.h"
#include "iq.h"

const int8_t iq4_values[16] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += IQ4_NL_BYTES, dst += IQ4_NL_VALUES) {
		float d = get_half(b);

		for (int i = 0; i < 16; i++) {
			dst[i] = d * (float)iq4_values[b[2 + i] & 15];
			dst[i + 16] = d * (float)iq4_values[b[2 + i] >> 4];
		}
	}
}

static const struct fit_table levels = { 32, iq4_values };
static const struct fit_scheme scheme = {
	.groups = 1, .width = 32, .codes_per_group = 32, .low = 1, .high = 1, .step = 1,
	.top = 127, .from = 0.75f, .to = 1.15f, .tries = 16, .both = true, .pick = fit_pick_table, .set = &levels,
};

static void encode(void *dst, const float *x, size_t n)
{
	fit_encode_nibbles(&scheme, dst, x, n);
}

const struct quant quant_IQ4_NL = { .decode = decode, .encode = encode };
