/* SPDX-License-Identifier: MIT */
/* | half d | 32 signed bytes |; value = d * q */
#include "fit.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q8_0_BYTES, dst += Q8_0_VALUES) {
		const int8_t *q = (const int8_t *)b + 2;
		float d = get_half(b);

		for (int i = 0; i < Q8_0_VALUES; i++)
			dst[i] = d * (float)q[i];
	}
}

static const struct fit_range levels = { Q8_0_VALUES, -127, 127 };
static const struct fit_scheme scheme = {
	.groups = 1, .width = Q8_0_VALUES, .codes_per_group = Q8_0_VALUES, .low = 1, .high = 1, .step = 1,
	.top = 127, .from = 0.985f, .to = 1.005f, .tries = 8, .both = false, .pick = fit_pick_range, .set = &levels,
};

static void encode_block(uint8_t *b, const float *src)
{
	float x[Q8_0_VALUES];
	struct fit f;

	fit_load(x, src, Q8_0_VALUES);
	fit_block(&scheme, NULL, x, &f);
	put_half(b, f.d);
	for (int i = 0; i < Q8_0_VALUES; i++)
		b[2 + i] = (uint8_t)((int)f.code[i] + levels.low);
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *b = dst;

	for (; n--; b += Q8_0_BYTES, x += Q8_0_VALUES)
		encode_block(b, x);
}

const struct quant quant_Q8_0 = { .decode = decode, .encode = encode };
