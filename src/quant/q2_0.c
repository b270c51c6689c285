/* SPDX-License-Identifier: MIT */
/* | half d | 16 bytes of four 2-bit q, lowest first |; value = d * (q - 1) */
#include "fit.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q2_0_BYTES, dst += Q2_0_VALUES) {
		float d = get_half(b);

		for (int i = 0; i < Q2_0_VALUES; i++)
			dst[i] = d * (float)((b[2 + i / 4] >> i % 4 * 2 & 3) - 1);
	}
}

static const struct fit_range levels = { Q2_0_VALUES, -1, 2 };
static const struct fit_scheme scheme = {
	.groups = 1, .width = Q2_0_VALUES, .codes_per_group = Q2_0_VALUES, .low = 1, .high = 1, .step = 1,
	.top = 2, .from = 0.5f, .to = 2, .tries = 24, .both = true, .pick = fit_pick_range, .set = &levels,
};

static void encode_block(uint8_t *b, const float *src)
{
	float x[Q2_0_VALUES];
	struct fit f;

	fit_load(x, src, Q2_0_VALUES);
	fit_block(&scheme, NULL, x, &f);
	put_half(b, f.d);
	for (int i = 0; i < 16; i++) {
		const uint32_t *q = f.code + 4 * i;

		b[2 + i] = (uint8_t)(q[0] | q[1] << 2 | q[2] << 4 | q[3] << 6);
	}
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *b = dst;

	for (; n--; b += Q2_0_BYTES, x += Q2_0_VALUES)
		encode_block(b, x);
}

const struct quant quant_Q2_0 = { .decode = decode, .encode = encode };
