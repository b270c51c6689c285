/* SPDX-License-Identifier: MIT */
#include "fit.h"
#include <math.h>
#include "four.h"

enum { PASSES = 4 };

/* A group's scale and minimum, any number; value = scale * q - min. */
struct line {
	float scale, min;
};

/* Sums over a group of values x and their q. */
struct moments {
	double n, x, q, xq, qq;
};

/* Chooses q for that line; returns the sums. */
static struct moments choose(const struct affine_scheme *s, const float *x, struct line l, int32_t *q)
{
	float inverse = l.scale != 0 ? 1 / l.scale : 0;
	four_double sx = { 0 }, sq = { 0 }, sxq = { 0 }, sqq = { 0 };

	for (int i = 0; i < s->width; i += 4) {
		four v = four_load(x + i), level = four_nearest(four_clamp((v + l.min) * inverse, 0, (float)s->top));
		four_int whole = four_to_int(level);

		memcpy(q + i, &whole, sizeof whole);
		sx += four_to_double(v);
		sq += four_to_double(level);
		sxq += four_to_double(v) * four_to_double(level);
		sqq += four_to_double(level * level);
	}
	return (struct moments){ s->width, four_sum(&sx), four_sum(&sq), four_sum(&sxq), four_sum(&sqq) };
}

/* Squared error, less the sum of squared values. */
static double error_of(const struct moments *m, double scale, double min)
{
	return scale * (scale * m->qq - 2 * m->xq - 2 * min * m->q) + min * (min * m->n + 2 * m->x);
}

/* The best line for the q that were chosen. */
static struct line line_through(const struct affine_scheme *s, const struct moments *m)
{
	double det = m->n * m->qq - m->q * m->q;
	double scale = det > 0 ? (m->n * m->xq - m->x * m->q) / det : 0;
	double min = (scale * m->q - m->x) / m->n;

	if (det <= 0 || (!s->free && (min < 0 || scale < 0))) {
		scale = m->qq > 0 ? fmax(m->xq / m->qq, 0) : 0;
		min = 0;
	}
	return (struct line){ (float)scale, (float)min };
}

/* Fits a group on its own. */
static struct line group_line(const struct affine_scheme *s, const float *x)
{
	float low = x[0], high = x[0];
	double least = INFINITY;
	struct line best = { 0, 0 };
	int32_t q[FIT_VALUES];

	for (int i = 1; i < s->width; i++) {
		low = fminf(low, x[i]);
		high = fmaxf(high, x[i]);
	}
	if (!s->free)
		low = fminf(low, 0);
	if (high <= low)
		return (struct line){ 0, -low };
	for (int i = 0; i < s->tries; i++) {
		/* from a little too fine, which clips both ends, to a little too coarse */
		float steps = (float)s->top + 0.8f - 1.6f * (float)i / (float)s->tries;
		float scale = (high - low) / steps;
		struct line l = { scale, -low - (scale * (float)s->top - (high - low)) / 2 };

		for (int again = 0; again < 2; again++) {
			struct moments m = choose(s, x, l, q);
			l = line_through(s, &m);
			double e = error_of(&m, l.scale, l.min);
			if (e < least) {
				least = e;
				best = l;
			}
		}
	}
	return best;
}

static int code_near(const struct affine_scheme *s, float want, float unit)
{
	return unit != 0 ? fit_nearest(fit_clamp(want / unit, (float)s->low, (float)s->high)) : s->low;
}

/* Normal equations for d and dmin over all groups. */
struct normal {
	double ss, sm, mm, xs, xm;
};

/* Chooses codes and q of group g for a->d and a->dmin. Adds to *error and *eq. */
static void settle_group(const struct affine_scheme *s, const float *x, struct line ideal, int g, struct affine *a,
			 double *error, struct normal *eq)
{
	int c = code_near(s, ideal.scale, a->d), k = code_near(s, ideal.min, a->dmin);
	double least = INFINITY;
	struct moments m = { 0 };

	for (int i = 0; i < 9; i++) {
		int scale = c + i % 3 - 1, min = k + i / 3 - 1;
		int32_t q[FIT_VALUES];

		if (scale < s->low || scale > s->high || min < s->low || min > s->high)
			continue;
		struct line l = { a->d * (float)scale, a->dmin * (float)min };
		struct moments now = choose(s, x, l, q);
		double e = error_of(&now, l.scale, l.min);
		if (e < least) {
			least = e;
			m = now;
			a->scale[g] = scale;
			a->min[g] = min;
			memcpy(a->q + g * s->width, q, (size_t)s->width * sizeof *q);
		}
	}
	*error += least;
	eq->ss += m.qq * a->scale[g] * a->scale[g];
	eq->sm += m.q * a->scale[g] * a->min[g];
	eq->mm += m.n * a->min[g] * a->min[g];
	eq->xs += m.xq * a->scale[g];
	eq->xm += m.x * a->min[g];
}

/* d and dmin that suit the codes and q best. */
static void solve(const struct normal *eq, struct affine *a)
{
	double det = eq->ss * eq->mm - eq->sm * eq->sm;

	if (det > 0) {
		a->d = fit_half((float)((eq->xs * eq->mm - eq->sm * eq->xm) / det));
		a->dmin = fit_half((float)((eq->xs * eq->sm - eq->ss * eq->xm) / det));
	} else if (eq->ss > 0) {
		a->d = fit_half((float)(eq->xs / eq->ss));
	}
}

void affine_block(const struct affine_scheme *s, const float *x, struct affine *a)
{
	struct line ideal[FIT_GROUPS], peak = { 0, 0 };
	struct affine now = { 0 };
	double least = INFINITY;

	for (int g = 0; g < s->groups; g++) {
		ideal[g] = group_line(s, x + g * s->width);
		peak.scale = fmaxf(peak.scale, ideal[g].scale);
		if (fabsf(ideal[g].min) > fabsf(peak.min))
			peak.min = ideal[g].min;
	}
	now.d = fit_half(peak.scale / (float)s->high);
	now.dmin = fit_half(peak.min / (float)s->high);
	for (int pass = 0; pass < PASSES; pass++) {
		double error = 0;
		struct normal eq = { 0 };

		for (int g = 0; g < s->groups; g++)
			settle_group(s, x + g * s->width, ideal[g], g, &now, &error, &eq);
		if (!(error < least))
			break;
		least = error;
		*a = now;
		solve(&eq, &now);
	}
}
