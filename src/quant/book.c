/* SPDX-License-Identifier: MIT */
#include "book.h"
#include <math.h>
#include <stdlib.h>
#include "fast/tier.h"

void book_load(struct book *b, const void *entries)
{
	for (int k = 0; k < b->count; k++) {
		uint64_t e = b->dims == 8 ? ((const uint64_t *)entries)[k] : ((const uint32_t *)entries)[k];
		float norm = 0;

		for (int i = 0; i < b->dims; i++) {
			float v = (float)(int8_t)(e >> 8 * i);

			b->point[i][k] = v;
			norm += v * v;
		}
		b->half_norm[k] = norm / 2;
	}
	b->nearest = quant_choose_nearest(getenv("GGUF_KERNEL"));
}

static void add_entry(const struct book *b, uint32_t place, const float *x, struct fit_sums *s)
{
	for (int i = 0; i < b->dims; i++) {
		s->xq += (double)x[i] * (double)b->point[i][place];
		s->qq += (double)(b->point[i][place] * b->point[i][place]);
	}
}

/* The signs of eight values, which become magnitudes. With b->even the smallest may keep a wrong sign. */
static uint32_t take_signs(const struct book *b, float *x)
{
	uint32_t signs = 0;
	int smallest = 0;

	for (int i = 0; i < 8; i++) {
		signs |= (uint32_t)(x[i] < 0) << i;
		x[i] = fabsf(x[i]);
		if (x[i] < x[smallest])
			smallest = i;
	}
	if (b->even && __builtin_parity(signs)) {
		signs ^= 1u << smallest;
		x[smallest] = -x[smallest];
	}
	return signs;
}

struct fit_sums book_pick(const void *set, const float *x, float scale, uint32_t *code)
{
	const struct book *b = set;
	float inverse = scale > 0 ? 1 / scale : 0;
	struct fit_sums s = { 0, 0 };

	for (int t = 0; t < b->width / 8; t++, x += 8) {
		float y[8], v[8];

		memcpy(y, x, sizeof y);
		uint32_t signs = take_signs(b, y);
		for (int i = 0; i < 8; i++)
			v[i] = y[i] * inverse;
		uint32_t first = b->nearest(b, v), second = 0;
		add_entry(b, first, y, &s);
		if (b->dims == 4) {
			second = b->nearest(b, v + 4);
			add_entry(b, second, y + 4, &s);
		}
		code[t] = first | second << 12 | signs << 24;
	}
	return s;
}

/* The values of one shift, moved that way. *error is the squared error in units of the scale. */
static struct fit_sums pick_moved(const struct book *b, const float *x, float inverse, bool down, uint32_t *code,
				  double *error)
{
	float move = down ? -0.125f : 0.125f;
	struct fit_sums s = { 0, 0 };

	*error = 0;
	for (int t = 0; t < b->shift_width / 8; t++, x += 8) {
		float v[8];

		for (int i = 0; i < 8; i++)
			v[i] = x[i] * inverse - move;
		uint32_t place = b->nearest(b, v);
		code[t] = place | (uint32_t)down << 24;
		for (int i = 0; i < 8; i++) {
			double off = (double)(v[i] - b->point[i][place]);
			double level = 8 * (double)(b->point[i][place] + move);

			*error += off * off;
			s.xq += (double)x[i] * level;
			s.qq += level * level;
		}
	}
	return s;
}

struct fit_sums book_pick_shifted(const void *set, const float *x, float scale, uint32_t *code)
{
	const struct book *b = set;
	float inverse = scale > 0 ? 0.125f / scale : 0;
	struct fit_sums s = { 0, 0 };

	for (int t = 0; t < b->width / b->shift_width; t++, x += b->shift_width, code += b->shift_width / 8) {
		uint32_t other[FIT_VALUES / 8];
		double up_error, down_error;
		struct fit_sums up = pick_moved(b, x, inverse, false, code, &up_error);
		struct fit_sums down = pick_moved(b, x, inverse, true, other, &down_error);

		if (down_error < up_error) {
			memcpy(code, other, (size_t)b->shift_width / 8 * sizeof *code);
			up = down;
		}
		s.xq += up.xq;
		s.qq += up.qq;
	}
	return s;
}
