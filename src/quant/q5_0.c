/* SPDX-License-Identifier: MIT */
/* | half d | 32 fifth bits | 16 bytes: low nibbles are values 0-15, high nibbles 16-31 |; value = d * (q - 16) */
#include "fit.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += Q5_0_BYTES, dst += Q5_0_VALUES) {
		float d = get_half(b);
		uint32_t high = get32(b + 2);

		for (int i = 0; i < 16; i++) {
			dst[i] = d * (float)((int)((b[6 + i] & 15) | (high >> i & 1) << 4) - 16);
			dst[i + 16] = d * (float)((int)(b[6 + i] >> 4 | (high >> (i + 16) & 1) << 4) - 16);
		}
	}
}

static const struct fit_range levels = { Q5_0_VALUES, -16, 15 };
static const struct fit_scheme scheme = {
	.groups = 1, .width = Q5_0_VALUES, .codes_per_group = Q5_0_VALUES, .low = 1, .high = 1, .step = 1,
	.top = 16, .from = 0.9f, .to = 1.08f, .tries = 16, .both = true, .pick = fit_pick_range, .set = &levels,
};

static void encode_block(uint8_t *b, const float *src)
{
	float x[Q5_0_VALUES];
	uint32_t high = 0;
	struct fit f;

	fit_load(x, src, Q5_0_VALUES);
	fit_block(&scheme, NULL, x, &f);
	put_half(b, f.d);
	for (int i = 0; i < Q5_0_VALUES; i++)
		high |= f.code[i] >> 4 << i;
	put32(b + 2, high);
	for (int i = 0; i < 16; i++)
		b[6 + i] = (uint8_t)((f.code[i] & 15) | f.code[i + 16] << 4);
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *b = dst;

	for (; n--; b += Q5_0_BYTES, x += Q5_0_VALUES)
		encode_block(b, x);
}

const struct quant quant_Q5_0 = { .decode = decode, .encode = encode };
