/* SPDX-License-Identifier: MIT */
/*
 * Two models on one text, as llama-perplexity compares them: of each position the Kullback-Leibler divergence from the
 * base's distribution (natural logarithms), and what became of the right token's probability. Sums are in double.
 */
#include "divergence.h"
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static size_t top_of(const float *logits, size_t n)
{
	size_t top = 0;

	for (size_t i = 1; i < n; i++)
		if (logits[i] > logits[top])
			top = i;
	return top;
}

static double sum_exp(const float *logits, size_t n, float max)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += expf(logits[i] - max);
	return sum;
}

double surprise(const float *logits, size_t n, int32_t id)
{
	float max = logits[top_of(logits, n)];

	return max + log(sum_exp(logits, n, max)) - logits[id];
}

/* ---- packed positions ---- */

enum { HEAD = 4 }; /* words: two floats */

size_t packed_words(size_t n)
{
	return HEAD + (n + 1) / 2 * 2;
}

static void put_head(uint16_t *out, float step, float lowest)
{
	memcpy(out, &step, sizeof step);
	memcpy(out + 2, &lowest, sizeof lowest);
}

void pack_position(uint16_t *out, const float *logits, size_t n)
{
	float max = logits[top_of(logits, n)], min = max, log_sum = (float)log(sum_exp(logits, n, max)), step;

	for (size_t i = 0; i < n; i++)
		min = logits[i] < min ? logits[i] : min;
	if (min < max - 16)
		min = max - 16;
	step = (max - min) / 65535;
	memset(out, 0, packed_words(n) * sizeof *out);
	put_head(out, step, min - max - log_sum);
	for (size_t i = 0; i < n && step > 0; i++)
		if (logits[i] > min)
			out[HEAD + i] = (uint16_t)lrintf((logits[i] - min) * (1 / step));
}

void compare_position(struct compared *out, const float *logits, const uint16_t *base, size_t n, int32_t id)
{
	size_t top = top_of(logits, n), top_base = 0;
	float log_sum = (float)log(sum_exp(logits, n, logits[top])), all = logits[top] + log_sum, step, lowest;
	const uint16_t *p = base + HEAD;

	memcpy(&step, base, sizeof step);
	memcpy(&lowest, base + 2, sizeof lowest);
	out->nll = all - logits[id];
	out->nll_base = -(step * p[id] + lowest);
	out->kld = 0;
	for (size_t i = 0; i < n; i++) {
		float log_p = step * p[i] + lowest;

		if (p[i] > p[top_base])
			top_base = i;
		if (log_p > -16)
			out->kld += expf(log_p) * (log_p - logits[i] + all);
	}
	out->same_top = top == top_base;
	out->dp = exp(-out->nll) - exp(-out->nll_base);
}

/* ---- statistics ---- */

struct mean mean_of(double sum, double squares, size_t n)
{
	struct mean m = { 0, 0 };
	double variance;

	if (!n)
		return m;
	m.value = sum / (double)n;
	variance = squares / (double)n - m.value * m.value;
	if (variance > 0 && n > 10)
		m.error = sqrt(variance / (double)(n - 1));
	return m;
}

typedef double value_fn(const struct compared *c);
static double get_nll(const struct compared *c)
{
	return c->nll;
}

static double get_base(const struct compared *c)
{
	return c->nll_base;
}

static double get_kld(const struct compared *c)
{
	return c->kld;
}

static double get_dp(const struct compared *c)
{
	return c->dp;
}

static double get_dp2(const struct compared *c)
{
	return c->dp * c->dp;
}

static double get_same(const struct compared *c)
{
	return c->same_top;
}

static struct mean mean(const struct comparison *c, value_fn *get)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < c->n; i++) {
		double v = get(&c->at[i]);

		sum += v;
		squares += v * v;
	}
	return mean_of(sum, squares, c->n);
}

/* Of the means of the two surprises. */
static double covariance(const struct comparison *c, const struct mean *a, const struct mean *b)
{
	double sum = 0;

	for (size_t i = 0; i < c->n; i++)
		sum += c->at[i].nll * c->at[i].nll_base;
	return c->n < 10 ? 0 : (sum / (double)c->n - a->value * b->value) / (double)(c->n - 1);
}

static struct mean times(struct mean m, double factor)
{
	return (struct mean){ m.value * factor, m.error * factor };
}

static struct mean exp_of(struct mean m)
{
	return (struct mean){ exp(m.value), exp(m.value) * m.error };
}

struct figures {
	struct mean nll, base, ratio, kld, rms, same;
	double covariance;
};

static struct figures figures(const struct comparison *c)
{
	struct figures f = {
		.nll = mean(c, get_nll), .base = mean(c, get_base), .kld = mean(c, get_kld), .same = mean(c, get_same),
	};
	struct mean squares = mean(c, get_dp2);
	double spread;

	f.covariance = covariance(c, &f.nll, &f.base);
	spread = f.nll.error * f.nll.error + f.base.error * f.base.error - 2 * f.covariance;
	f.ratio = (struct mean){ f.nll.value - f.base.value, spread > 0 ? sqrt(spread) : 0 };
	f.rms.value = sqrt(squares.value);
	f.rms.error = f.rms.value > 0 ? 0.5 / f.rms.value * squares.error : 0;
	f.same.error = c->n > 1 ? sqrt(f.same.value * (1 - f.same.value) / (double)(c->n - 1)) : 0;
	return f;
}

void comparison_line(FILE *out, unsigned chunk, const struct comparison *c)
{
	struct figures f = figures(c);
	struct mean ppl = exp_of(f.nll), rms = times(f.rms, 100), same = times(f.same, 100);

	if (chunk == 1)
		fputs("chunk             PPL               ln(PPL(Q)/PPL(base))          KL Divergence              "
		      "\u0394p RMS"
		      "            Same top p\n",
		      out);
	fprintf(out, "%4u    %9.4f \u00b1 %9.4f    %10.5f \u00b1 %10.5f", chunk, ppl.value, ppl.error, f.ratio.value,
		f.ratio.error);
	fprintf(out, "    %10.5f \u00b1 %10.5f    %6.3f \u00b1 %6.3f %%    %6.3f \u00b1 %6.3f %%\n", f.kld.value,
		f.kld.error, rms.value, rms.error, same.value, same.error);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Between the two values next to a share of the sorted ones. */
static double percentile(const double *sorted, size_t n, double share)
{
	double at = share * (double)(n - 1);
	size_t i = (size_t)at;

	at -= (double)i;
	return i + 1 < n ? (1 - at) * sorted[i] + at * sorted[i + 1] : sorted[n - 1];
}

static const struct { const char *name; double share; bool quartile; } shares[] = {
	{ "Maximum", 1, false }, { "99.9%  ", .999, false }, { "99.0%  ", .99, false }, { "95.0%  ", .95, false },
	{ "90.0%  ", .9, false }, { "75.0%  ", .75, true }, { "Median ", .5, false }, { "25.0%  ", .25, true },
	{ "10.0%  ", .1, false }, { " 5.0%  ", .05, false }, { " 1.0%  ", .01, false }, { " 0.1%  ", .001, false },
	{ "Minimum", 0, false },
};

static int print_shares(FILE *out, const struct comparison *c, value_fn *get, const char *what, bool percent)
{
	double *v = malloc(c->n * sizeof *v);

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < c->n; i++)
		v[i] = get(&c->at[i]);
	qsort(v, c->n, sizeof *v, by_value);
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		double p = percentile(v, c->n, shares[i].share);

		if (percent)
			fprintf(out, "%s %s: %6.3f%%\n", shares[i].name, what, 100 * p);
		else if (!shares[i].quartile)
			fprintf(out, "%s %s: %10.6f\n", shares[i].name, what, p);
	}
	free(v);
	return 0;
}

static void print_mean(FILE *out, const char *what, struct mean m)
{
	fprintf(out, "%-30s: %10.6f \u00b1 %10.6f\n", what, m.value, m.error);
}

static void print_perplexities(FILE *out, const struct figures *f)
{
	struct mean ppl = exp_of(f->nll), base = exp_of(f->base), diff;
	double spread = ppl.error * ppl.error + base.error * base.error - 2 * ppl.value * base.value * f->covariance;
	double both = f->nll.error * f->base.error;

	diff = (struct mean){ ppl.value - base.value, spread > 0 ? sqrt(spread) : 0 };
	fputs("\n====== Perplexity statistics ======\n", out);
	print_mean(out, "Mean PPL(Q)", ppl);
	print_mean(out, "Mean PPL(base)", base);
	fprintf(out, "%-30s: %6.2f%%\n", "Cor(ln(PPL(Q)), ln(PPL(base)))", both > 0 ? 100 * f->covariance / both : 0);
	print_mean(out, "Mean ln(PPL(Q)/PPL(base))", f->ratio);
	print_mean(out, "Mean PPL(Q)/PPL(base)", exp_of(f->ratio));
	print_mean(out, "Mean PPL(Q)-PPL(base)", diff);
}

int comparison_report(FILE *out, const struct comparison *c)
{
	struct figures f = figures(c);
	struct mean dp = times(mean(c, get_dp), 100), rms = times(f.rms, 100), same = times(f.same, 100);

	if (c->n < 100)
		return -ERANGE;
	print_perplexities(out, &f);
	fputs("\n====== KL divergence statistics ======\n", out);
	fprintf(out, "Mean    KLD: %10.6f \u00b1 %10.6f\n", f.kld.value, f.kld.error);
	if (print_shares(out, c, get_kld, "KLD", false))
		return -ENOMEM;
	fputs("\n====== Token probability statistics ======\n", out);
	fprintf(out, "Mean    \u0394p: %6.3f \u00b1 %5.3f %%\n", dp.value, dp.error);
	if (print_shares(out, c, get_dp, "\u0394p", true))
		return -ENOMEM;
	fprintf(out, "RMS \u0394p    : %6.3f \u00b1 %5.3f %%\n", rms.value, rms.error);
	fprintf(out, "Same top p: %6.3f \u00b1 %5.3f %%\n", same.value, same.error);
	return 0;
}
