/* SPDX-License-Identifier: MIT */
/*
 * | 64 bytes of 2-bit q | half d |; value = d * (q - 1)
 * Of each 128 values, value i has its q in byte i % 32 at 2 * (i / 32).
 */
#include "fit.h"

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += TQ2_0_BYTES, dst += TQ2_0_VALUES) {
		float d = get_half(b + 64);

		for (int g = 0; g < 8; g++)
			for (int i = 0; i < 32; i++)
				dst[32 * g + i] = d * (float)((b[g / 4 * 32 + i] >> g % 4 * 2 & 3) - 1);
	}
}

static const struct fit_range levels = { TQ2_0_VALUES, -1, 1 };
static const struct fit_scheme scheme = {
	.groups = 1, .width = TQ2_0_VALUES, .codes_per_group = TQ2_0_VALUES, .low = 1, .high = 1, .step = 1,
	.top = 1, .from = 1, .to = 4, .tries = 32, .both = false, .pick = fit_pick_range, .set = &levels,
};

static void encode_block(uint8_t *b, const float *src)
{
	float x[TQ2_0_VALUES];
	struct fit f;

	fit_load(x, src, TQ2_0_VALUES);
	fit_block(&scheme, NULL, x, &f);
	for (int i = 0; i < 64; i++) {
		const uint32_t *q = f.code + i / 32 * 128 + i % 32;

		b[i] = (uint8_t)(q[0] | q[32] << 2 | q[64] << 4 | q[96] << 6);
	}
	put_half(b + 64, f.d);
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *b = dst;

	for (; n--; b += TQ2_0_BYTES, x += TQ2_0_VALUES)
		encode_block(b, x);
}

const struct quant quant_TQ2_0 = { .decode = decode, .encode = encode };
