/* SPDX-License-Identifier: MIT */
/*
 * | 48 bytes of five ternary digits | 4 bytes of four | half d |; value = d * (digit - 1)
 * A byte is the digits as a fraction of 256 in base 3, rounded up: three times it, modulo 256, has the next one on top.
 * Digit k of byte i is value 32 * k + i; of the next 16 bytes 160 + 16 * k + i, of the last 240 + 4 * k + i.
 */
#include "fit.h"

/* count bytes of digits digits each: digit k of byte i to dst[count * k + i] */
static float *decode_digits(float *dst, const uint8_t *b, int count, int digits, float d)
{
	static const uint8_t power[5] = { 1, 3, 9, 27, 81 };

	for (int k = 0; k < digits; k++)
		for (int i = 0; i < count; i++) {
			uint8_t q = (uint8_t)(b[i] * power[k]);

			*dst++ = d * (float)((q * 3 >> 8) - 1);
		}
	return dst;
}

static void decode(float *dst, const void *src, size_t n)
{
	const uint8_t *b = src;

	for (; n--; b += TQ1_0_BYTES) {
		float d = get_half(b + 52);

		dst = decode_digits(dst, b, 32, 5, d);
		dst = decode_digits(dst, b + 32, 16, 5, d);
		dst = decode_digits(dst, b + 48, 4, 4, d);
	}
}

static const struct fit_range levels = { TQ1_0_VALUES, -1, 1 };
static const struct fit_scheme scheme = {
	.groups = 1, .width = TQ1_0_VALUES, .codes_per_group = TQ1_0_VALUES, .low = 1, .high = 1, .step = 1,
	.top = 1, .from = 1, .to = 4, .tries = 32, .both = false, .pick = fit_pick_range, .set = &levels,
};

/* count bytes of digits digits each, as decode_digits takes them; returns the codes behind them. */
static const uint32_t *encode_digits(uint8_t *b, const uint32_t *code, int count, int digits)
{
	for (int i = 0; i < count; i++) {
		unsigned v = 0;

		for (int k = 0; k < 5; k++)
			v = 3 * v + (k < digits ? code[count * k + i] : 0);
		b[i] = (uint8_t)((v * 256 + 242) / 243);
	}
	return code + count * digits;
}

static void encode_block(uint8_t *b, const float *src)
{
	float x[TQ1_0_VALUES];
	struct fit f;

	fit_load(x, src, TQ1_0_VALUES);
	fit_block(&scheme, NULL, x, &f);
	const uint32_t *code = encode_digits(b, f.code, 32, 5);
	code = encode_digits(b + 32, code, 16, 5);
	encode_digits(b + 48, code, 4, 4);
	put_half(b + 52, f.d);
}

static void encode(void *dst, const float *x, size_t n)
{
	uint8_t *b = dst;

	for (; n--; b += TQ1_0_BYTES, x += TQ1_0_VALUES)
		encode_block(b, x);
}

const struct quant quant_TQ1_0 = { .decode = decode, .encode = encode };
