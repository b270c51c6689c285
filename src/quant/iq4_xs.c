/* SPDX-License-Identifier: MIT */
/*
 * | half d | 16 bits: high 2 bits of 8 scales | 4 bytes: their low 4 bits | 8 times 16 bytes of nibbles as in IQ4_NL |
 * 32 values share a scale; value = d * (scale - 32) * iq4_values[q]
 */
#include "fit.h"
#include "iq.h"

static void decode_block(float *dst, const uint8_t *b)
{
	float d = get_half(b);
	unsigned high = get16(b + 2);

	for (int g = 0; g < 8; g++, dst += 32) {
		const uint8_t *q = b + 8 + 16 * g;
		unsigned s = (b[4 + g / 2] >> g % 2 * 4 & 15) | (high >> 2 * g & 3) << 4;
		float scale = d * (float)((int)s - 32);

		for (int i = 0; i < 16; i++) {
			dst[i] = scale * (float)iq4_values[q[i] & 15];
			dst[i + 16] = scale * (float)iq4_values[q[i] >> 4];
		}
	}
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += IQ4_XS_BYTES, dst += IQ4_XS_VALUES)
		decode_block(dst, b);
}

static const struct fit_table levels = { 32, iq4_values };
static const struct fit_scheme scheme = {
	.groups = 8, .width = 32, .codes_per_group = 32, .low = -32, .high = 31, .step = 1,
	.top = 127, .from = 0.75f, .to = 1.15f, .tries = 16, .both = true, .pick = fit_pick_table, .set = &levels,
};

static void encode_block(uint8_t *b, const float *src)
{
	float x[IQ4_XS_VALUES];
	unsigned high = 0;
	struct fit f;

	fit_load(x, src, IQ4_XS_VALUES);
	fit_block(&scheme, NULL, x, &f);
	put_half(b, f.d);
	for (int g = 0; g < 8; g++)
		high |= (unsigned)(f.scale[g] + 32) >> 4 << 2 * g;
	put16(b + 2, (uint16_t)high);
	for (int g = 0; g < 4; g++)
		b[4 + g] = (uint8_t)((f.scale[2 * g] & 15) | (f.scale[2 * g + 1] & 15) << 4);
	for (int i = 0; i < 128; i++) {
		const uint32_t *q = f.code + i / 16 * 32 + i % 16;

		b[8 + i] = (uint8_t)(q[0] | q[16] << 4);
	}
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *b = dst;

	for (; n--; b += IQ4_XS_BYTES, x += IQ4_XS_VALUES)
		encode_block(b, x);
}

const struct quant quant_IQ4_XS = { .decode = decode, .encode = encode };
