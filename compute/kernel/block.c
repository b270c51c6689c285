/* SPDX-License-Identifier: MIT */
/* The layouts are described in src/quant. */
#include "block.h"
#include "quant/fp4.h"
#include "quant/iq.h"
#include "quant/k.h"
#include "quant/quant.h"

static void get_nibbles(int8_t *q, const uint8_t *p, int offset)
{
	for (int i = 0; i < 16; i++) {
		q[i] = (int8_t)((p[i] & 15) - offset);
		q[i + 16] = (int8_t)((p[i] >> 4) - offset);
	}
}

static void get_table(int8_t *q, const uint8_t *p, const int8_t *values)
{
	for (int i = 0; i < 16; i++) {
		q[i] = values[p[i] & 15];
		q[i + 16] = values[p[i] >> 4];
	}
}

static void add_fifth_bits(int8_t *q, uint32_t bits)
{
	for (int i = 0; i < 32; i++)
		q[i] = (int8_t)(q[i] + (int)(bits >> i & 1) * 16);
}

static void get_q4_0(struct block *b, const uint8_t *p, unsigned i)
{
	(void)i;
	b->d = get_half(p);
	get_nibbles(b->q, p + 2, 8);
}

static void get_q4_1(struct block *b, const uint8_t *p, unsigned i)
{
	(void)i;
	b->d = get_half(p);
	b->m = get_half(p + 2);
	get_nibbles(b->q, p + 4, 0);
}

static void get_q5_0(struct block *b, const uint8_t *p, unsigned i)
{
	(void)i;
	b->d = get_half(p);
	get_nibbles(b->q, p + 6, 16);
	add_fifth_bits(b->q, get32(p + 2));
}

static void get_q5_1(struct block *b, const uint8_t *p, unsigned i)
{
	(void)i;
	b->d = get_half(p);
	b->m = get_half(p + 2);
	get_nibbles(b->q, p + 8, 0);
	add_fifth_bits(b->q, get32(p + 4));
}

static void get_q8_0(struct block *b, const uint8_t *p, unsigned i)
{
	(void)i;
	b->d = get_half(p);
	memcpy(b->q, p + 2, 32);
}

static void get_iq4_nl(struct block *b, const uint8_t *p, unsigned i)
{
	(void)i;
	b->d = get_half(p);
	get_table(b->q, p + 2, iq4_values);
}

static void get_mxfp4(struct block *b, const uint8_t *p, unsigned i)
{
	(void)i;
	b->d = e8m0_half(p[0]);
	get_table(b->q, p + 1, fp4_doubled);
}

static void get_q2_k(struct block *b, const uint8_t *p, unsigned i)
{
	const uint8_t *s = p + 2 * i, *q = p + 16 + i / 4 * 32;

	b->d = get_half(p + 80);
	b->m = -get_half(p + 82);
	for (int k = 0; k < 2; k++) {
		b->s[k] = (int8_t)(s[k] & 15);
		b->o[k] = (int8_t)(s[k] >> 4);
	}
	for (int k = 0; k < 32; k++)
		b->q[k] = (int8_t)(q[k] >> i % 4 * 2 & 3);
}

static void get_q3_k(struct block *b, const uint8_t *p, unsigned i)
{
	const uint8_t *q = p + 32 + i / 4 * 32;

	b->d = get_half(p + 108);
	for (unsigned k = 0; k < 2; k++)
		b->s[k] = (int8_t)q3_k_scale(p + 96, (int)(2 * i + k));
	for (int k = 0; k < 32; k++)
		b->q[k] = (int8_t)((q[k] >> i % 4 * 2 & 3) + (p[k] >> i & 1) * 4 - 4);
}

/* Scale and offset of a part of Q4_K or Q5_K. */
static void get_k_scales(struct block *b, const uint8_t *p, unsigned i)
{
	b->d = get_half(p) * (float)k_scale(p + 4, (int)i);
	b->m = -(get_half(p + 2) * (float)k_min(p + 4, (int)i));
}

static void get_q4_k(struct block *b, const uint8_t *p, unsigned i)
{
	const uint8_t *q = p + 16 + i / 2 * 32;

	get_k_scales(b, p, i);
	for (int k = 0; k < 32; k++)
		b->q[k] = (int8_t)(q[k] >> i % 2 * 4 & 15);
}

static void get_q5_k(struct block *b, const uint8_t *p, unsigned i)
{
	const uint8_t *q = p + 48 + i / 2 * 32;

	get_k_scales(b, p, i);
	for (int k = 0; k < 32; k++)
		b->q[k] = (int8_t)((q[k] >> i % 2 * 4 & 15) | (p[16 + k] >> i & 1) << 4);
}

static void get_q6_k(struct block *b, const uint8_t *p, unsigned i)
{
	const uint8_t *low = p + i / 4 * 64 + i % 2 * 32, *high = p + 128 + i / 4 * 32;

	b->d = get_half(p + 208);
	memcpy(b->s, p + 192 + 2 * i, 2);
	for (int k = 0; k < 32; k++)
		b->q[k] = (int8_t)(((low[k] >> i % 4 / 2 * 4 & 15) | (high[k] >> i % 4 * 2 & 3) << 4) - 32);
}

static void get_iq4_xs(struct block *b, const uint8_t *p, unsigned i)
{
	unsigned s = (p[4 + i / 2] >> i % 2 * 4 & 15) | (get16(p + 2) >> 2 * i & 3) << 4;

	b->d = get_half(p) * (float)((int)s - 32);
	get_table(b->q, p + 8 + 16 * i, iq4_values);
}

const struct block_type block_types[GGUF_TYPE_LIMIT] = {
	[GGUF_TYPE_Q4_0] = { BLOCK_SCALE, get_q4_0 },
	[GGUF_TYPE_Q4_1] = { BLOCK_OFFSET, get_q4_1 },
	[GGUF_TYPE_Q5_0] = { BLOCK_SCALE, get_q5_0 },
	[GGUF_TYPE_Q5_1] = { BLOCK_OFFSET, get_q5_1 },
	[GGUF_TYPE_Q8_0] = { BLOCK_SCALE, get_q8_0 },
	[GGUF_TYPE_Q2_K] = { BLOCK_PAIR_MIN, get_q2_k },
	[GGUF_TYPE_Q3_K] = { BLOCK_PAIR, get_q3_k },
	[GGUF_TYPE_Q4_K] = { BLOCK_OFFSET, get_q4_k },
	[GGUF_TYPE_Q5_K] = { BLOCK_OFFSET, get_q5_k },
	[GGUF_TYPE_Q6_K] = { BLOCK_PAIR, get_q6_k },
	[GGUF_TYPE_IQ4_NL] = { BLOCK_SCALE, get_iq4_nl },
	[GGUF_TYPE_IQ4_XS] = { BLOCK_SCALE, get_iq4_xs },
	[GGUF_TYPE_MXFP4] = { BLOCK_SCALE, get_mxfp4 },
};
