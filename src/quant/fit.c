/* SPDX-License-Identifier: MIT */
#include "fit.h"
#include <math.h>
#include "four.h"

enum { PASSES = 4 };

void fit_load(float *dst, const float *src, int n)
{
	for (int i = 0; i < n; i++)
		dst[i] = fabsf(src[i]) >= 0x1p-60f ? fit_clamp(src[i], -0x1p30f, 0x1p30f) : 0;
}

struct fit_sums fit_pick_range(const void *set, const float *x, float scale, uint32_t *code)
{
	const struct fit_range *r = set;
	float inverse = scale != 0 ? 1 / scale : 0;
	four_double xq = { 0 }, qq = { 0 };

	for (int i = 0; i < r->width; i += 4) {
		four v = four_load(x + i), q = four_nearest(four_clamp(v * inverse, (float)r->low, (float)r->high));
		four_int from_low = four_to_int(q) - r->low;

		memcpy(code + i, &from_low, sizeof from_low);
		xq += four_to_double(v) * four_to_double(q);
		qq += four_to_double(q * q);
	}
	return (struct fit_sums){ four_sum(&xq), four_sum(&qq) };
}

/* The place of the level nearest to each of v, the first of equals; *level becomes that level. */
static four_int nearest_levels(const int8_t *levels, four v, four *level)
{
	four least = four_of(INFINITY);
	four_int at = { 0 };

	*level = four_of(0);
	for (int k = 0; k < 16; k++) {
		four this = four_of(levels[k]), off = four_abs(v - this);
		four_int nearer = off < least;

		least = four_select(nearer, off, least);
		*level = four_select(nearer, this, *level);
		at = (nearer & k) | (~nearer & at);
	}
	return at;
}

struct fit_sums fit_pick_table(const void *set, const float *x, float scale, uint32_t *code)
{
	const struct fit_table *t = set;
	float inverse = scale != 0 ? 1 / scale : 0;
	four_double xq = { 0 }, qq = { 0 };

	for (int i = 0; i < t->width; i += 4) {
		four v = four_load(x + i), q;
		four_int at = nearest_levels(t->level, v * inverse, &q);

		memcpy(code + i, &at, sizeof at);
		xq += four_to_double(v) * four_to_double(q);
		qq += four_to_double(q * q);
	}
	return (struct fit_sums){ four_sum(&xq), four_sum(&qq) };
}

static float greatest(const float *x, int n)
{
	float most = 0;

	for (int i = 0; i < n; i++)
		most = fmaxf(most, fabsf(x[i]));
	return most;
}

/* The scale that suits a group best, were any scale possible. */
static float group_scale(const struct fit_scheme *s, const void *set, const float *x)
{
	float most = greatest(x, s->width), best = 0;
	double gain = 0;
	uint32_t code[FIT_VALUES];

	if (most == 0)
		return 0;
	for (int i = 0; i < s->tries * (s->both ? 2 : 1); i++) {
		float at = s->from + (s->to - s->from) * (float)(i % s->tries) / (float)s->tries;
		float scale = most / (s->top * at);
		struct fit_sums got = s->pick(set, x, i < s->tries ? scale : -scale, code);

		if (got.qq > 0 && got.xq * got.xq > gain * got.qq) {
			gain = got.xq * got.xq / got.qq;
			best = (float)(got.xq / got.qq);
		}
	}
	return best;
}

static float factor(const struct fit_scheme *s, int code)
{
	return s->step * (float)code + s->base;
}

/* Chooses code and levels of group g for a block scale of f->d. Adds to *error (less the sum of squares) and *sums. */
static void settle_group(const struct fit_scheme *s, const void *set, const float *x, float ideal, int g, struct fit *f,
			 double *error, struct fit_sums *sums)
{
	float want = f->d != 0 ? (ideal / f->d - s->base) / s->step : 0;
	int middle = fit_nearest(fit_clamp(want, (float)s->low, (float)s->high));
	double least = INFINITY;
	struct fit_sums chosen = { 0, 0 };

	for (int c = middle - 1; c <= middle + 1; c++) {
		uint32_t code[FIT_VALUES];

		if (c < s->low || c > s->high)
			continue;
		double k = factor(s, c), scale = f->d * k;
		struct fit_sums got = s->pick(set, x + g * s->width, (float)scale, code);
		double e = scale * (scale * got.qq - 2 * got.xq);
		if (e < least) {
			least = e;
			chosen = (struct fit_sums){ k * got.xq, k * k * got.qq };
			f->scale[g] = c;
			memcpy(f->code + g * s->codes_per_group, code, (size_t)s->codes_per_group * sizeof *code);
		}
	}
	*error += least;
	sums->xq += chosen.xq;
	sums->qq += chosen.qq;
}

/* The block scale that lets the code of the greatest factor mean the greatest of the ideal scales. */
static float first_scale(const struct fit_scheme *s, const float *ideal)
{
	float low = factor(s, s->low), high = factor(s, s->high), peak = 0;

	for (int g = 0; g < s->groups; g++)
		if (fabsf(ideal[g]) > fabsf(peak))
			peak = ideal[g];
	return peak / (fabsf(low) > fabsf(high) ? low : high);
}

void fit_block(const struct fit_scheme *s, const void *set, const float *x, struct fit *f)
{
	float ideal[FIT_GROUPS];
	double least = INFINITY;
	struct fit now = { 0 };

	set = set ? set : s->set;
	for (int g = 0; g < s->groups; g++)
		ideal[g] = group_scale(s, set, x + g * s->width);
	now.d = fit_half(first_scale(s, ideal));
	for (int pass = 0; pass < PASSES; pass++) {
		double error = 0;
		struct fit_sums sums = { 0, 0 };

		for (int g = 0; g < s->groups; g++)
			settle_group(s, set, x, ideal[g], g, &now, &error, &sums);
		if (!(error < least))
			break;
		least = error;
		*f = now;
		now.d = sums.qq > 0 ? fit_half((float)(sums.xq / sums.qq)) : 0;
	}
}

static void encode_nibbles(const struct fit_scheme *s, uint8_t *b, const float *src)
{
	float x[32];
	struct fit f;

	fit_load(x, src, 32);
	fit_block(s, NULL, x, &f);
	put_half(b, f.d);
	for (int i = 0; i < 16; i++)
		b[2 + i] = (uint8_t)(f.code[i] | f.code[i + 16] << 4);
}

void fit_encode_nibbles(const struct fit_scheme *s, uint8_t *b, const float *x, size_t n)
{
	for (; n--; b += 2 + 16, x += 32)
		encode_nibbles(s, b, x);
}
