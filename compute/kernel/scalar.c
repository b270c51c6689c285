/* SPDX-License-Identifier: MIT */
/* The reference tier: every type in plain C, and what every other tier is tested against. */
#include "kernel.h"
#include "block.h"
#include "flush.h"
#include "fma.h"
#include "quant/quant.h"

static bool always(void)
{
	return true;
}

/* The largest magnitude by its bits, which orders NaN above infinity. */
static float largest(const float *x)
{
	uint32_t most = 0;

	for (int i = 0; i < ACT_BLOCK; i++) {
		uint32_t bits = bits_of_float(x[i]) & 0x7fffffff;

		most = bits > most ? bits : most;
	}
	return float_of_bits(most);
}

/* Nearest, ties to even; -127 for what is not a number. */
static int8_t round_to_byte(float v)
{
	return v > -127 && v < 128 ? (int8_t)lrintf(v) : -127;
}

static void quantize(const struct act_row *row, const float *x, size_t from, size_t to)
{
	for (size_t b = from; b < to; b++) {
		size_t at = b * row->step;
		int32_t sum[2] = { 0, 0 };
		const float *v = x + b * ACT_BLOCK;
		float most = largest(v), inverse = most == 0 ? 0 : 127 / most, d = most / 127;

		for (int i = 0; i < ACT_BLOCK; i++) {
			int8_t q = round_to_byte(v[i] * inverse);

			row->q[at * ACT_BLOCK + i] = q;
			sum[i / 16] += q;
		}
		row->d[at] = d;
		row->dsum[at] = d * (float)(sum[0] + sum[1]);
		row->bias[at] = -128 * (sum[0] + sum[1]);
		row->half[2 * at] = -128 * sum[0];
		row->half[2 * at + 1] = -128 * sum[1];
	}
}

static int32_t dot16(const int8_t *a, const int8_t *b)
{
	int32_t s = 0;

	for (int i = 0; i < 16; i++)
		s += a[i] * b[i];
	return s;
}

static float add_block(float acc, enum block_kind kind, const struct block *w, const struct act_row *x, size_t at)
{
	int32_t first = dot16(w->q, x->q + at * ACT_BLOCK), last = dot16(w->q + 16, x->q + at * ACT_BLOCK + 16);
	float d = x->d[at];

	if (kind == BLOCK_PAIR || kind == BLOCK_PAIR_MIN)
		acc = fma_exact((float)(w->s[0] * first + w->s[1] * last), w->d * d, acc);
	else
		acc = fma_exact((float)(first + last), w->d * d, acc);
	if (kind == BLOCK_OFFSET)
		acc = fma_exact(w->m, x->dsum[at], acc);
	if (kind == BLOCK_PAIR_MIN)
		acc = fma_exact((float)((w->o[0] * x->half[2 * at] + w->o[1] * x->half[2 * at + 1]) / -128), w->m * d, acc);
	return acc;
}

static void round_to_bf16(uint16_t *to, const float *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t bits = bits_of_float(x[i]);

		to[i] = (uint16_t)((isnan(x[i]) ? bits | 0x400000 : bits + 0x7fff + (bits >> 16 & 1)) >> 16);
	}
}

static void mul_int(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	const struct block_type *type = &block_types[w->type];
	size_t parts = gguf_type_values(w->type) / ACT_BLOCK, bytes = gguf_type_bytes(w->type);
	struct block block = { 0 };

	for (size_t r = from; r < to; r++) {
		const uint8_t *row = (const uint8_t *)w->data + r * w->row_bytes;

		for (size_t t = 0; t < a->tokens; t++)
			y[t * stride + r] = 0;
		for (size_t b = 0; b < w->in / ACT_BLOCK; b++) {
			type->get(&block, row + b / parts * bytes, (unsigned)(b % parts));
			for (size_t t = 0; t < a->tokens; t++) {
				struct act_row x = act_row(a, t);
				float *sum = &y[t * stride + r];

				*sum = add_block(*sum, type->kind, &block, &x, b * x.step);
			}
		}
	}
}

enum { LANES = 16, GROUP = 16, PART = 256 };

static float sum_lanes(float *lane)
{
	for (int n = LANES / 2; n; n /= 2)
		for (int i = 0; i < n; i++)
			lane[i] += lane[i + n];
	return lane[0];
}

/* One row for up to GROUP tokens. */
static void mul_row(const struct mat *w, const uint8_t *row, const float *x, size_t x_stride, size_t tokens, float *y,
		    size_t stride)
{
	size_t values = gguf_type_values(w->type), bytes = gguf_type_bytes(w->type);
	float lane[GROUP][LANES] = { 0 }, v[PART];

	for (size_t k = 0; k < w->in; k += PART) {
		size_t n = w->in - k < PART ? w->in - k : PART;

		gguf_decode(w->type, v, row + k / values * bytes, n / values);
		for (size_t i = n; i % LANES; i++)
			v[i] = 0;
		for (size_t t = 0; t < tokens; t++)
			for (size_t i = 0; i < (n + LANES - 1) / LANES * LANES; i++)
				lane[t][i % LANES] = fma_exact(v[i], x[t * x_stride + k + i], lane[t][i % LANES]);
	}
	for (size_t t = 0; t < tokens; t++)
		y[t * stride] = sum_lanes(lane[t]);
}

static void mul_float(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	size_t x_stride = a->blocks * ACT_BLOCK;

	for (size_t r = from; r < to; r++)
		for (size_t t = 0; t < a->tokens; t += GROUP)
			mul_row(w, (const uint8_t *)w->data + r * w->row_bytes, a->f + t * x_stride, x_stride,
				a->tokens - t < GROUP ? a->tokens - t : GROUP, y + t * stride + r, stride);
}

static float bf16(uint16_t bits)
{
	return flushed(float_of_bits((uint32_t)bits << 16));
}

/* 32 products of one row and one token. */
static void add_pairs(float *lane, const uint16_t *w, const uint16_t *x)
{
	for (int i = 0; i < 2 * LANES; i++) {
		int k = i ^ 1;

		lane[k / 2] = flushed(fma_exact(bf16(w[k]), bf16(x[k]), lane[k / 2]));
	}
}

static float sum_flushed(float *lane)
{
	for (int n = LANES / 2; n; n /= 2)
		for (int i = 0; i < n; i++)
			lane[i] = flushed(lane[i] + lane[i + n]);
	return lane[0];
}

static void mul_bf16(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	for (size_t r = from; r < to; r++)
		for (size_t t = 0; t < a->tokens; t++) {
			const uint8_t *row = (const uint8_t *)w->data + r * w->row_bytes;
			float lane[LANES] = { 0 };

			for (size_t b = 0; b < a->blocks; b++) {
				uint16_t v[ACT_BLOCK] = { 0 };

				for (size_t k = b * ACT_BLOCK; k < w->in && k < (b + 1) * ACT_BLOCK; k++)
					v[k % ACT_BLOCK] = get16(row + 2 * k);
				add_pairs(lane, v, a->h + (t * a->blocks + b) * ACT_BLOCK);
			}
			y[t * stride + r] = sum_flushed(lane);
		}
}

static uint64_t int_peak(size_t n)
{
	static const int8_t a[16] = { 1, 2, 3 }, b[16] = { 4, 5, 6 };

	for (size_t i = 0; i < n; i++) {
		int32_t s = dot16(a, b);

		__asm__ volatile("" : : "r"(s) : "memory");
	}
	return 16 * (uint64_t)n;
}

static uint64_t float_peak(size_t n)
{
	float s[8] = { 1, 2, 3 };

	for (size_t i = 0; i < n; i++) {
		for (int k = 0; k < 8; k++)
			s[k] = fma_exact(s[k], 0.5f, 1);
		__asm__ volatile("" : : "r"(s) : "memory");
	}
	return 8 * (uint64_t)n;
}

static void read_bytes(const void *p, size_t n)
{
	const char *at = p;
	uint64_t all = 0, v;

	for (size_t i = 0; i + sizeof v <= n; i += sizeof v) {
		memcpy(&v, at + i, sizeof v);
		all |= v;
	}
	__asm__ volatile("" : : "r"(all));
}

static const struct kernel_limits limits = { int_peak, float_peak, read_bytes };

const struct kernel_tier kernel_scalar = {
	.name = "scalar",
	.supported = always,
	.limits = &limits,
	.quantize = quantize,
	.round = round_to_bf16,
	.mul_int = mul_int,
	.mul_float = mul_float,
	.mul = { [GGUF_TYPE_BF16] = mul_bf16 },
};
