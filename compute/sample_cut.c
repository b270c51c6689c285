/* SPDX-License-Identifier: MIT */
/* The stages that look at nothing but the candidates. */
#include "sampler.h"
#include <math.h>

void apply_bias(struct sampler *s)
{
	struct cand *c = cands_open(&s->cands);

	/* the first stage: candidate i is token i */
	for (size_t i = 0; i < s->o.bias_count; i++) {
		float *logit = &c[s->bias[i].id].logit;
		float sum = *logit + s->bias[i].bias;

		*logit = isnan(sum) ? -INFINITY : sum > 0 && isinf(sum) ? HUGE_VALF : sum;
	}
}

void apply_top_k(struct sampler *s)
{
	size_t k = (size_t)s->o.top_k;

	cands_keep(&s->cands, k < s->cands.n ? k : s->cands.n);
}

void apply_greedy(struct sampler *s)
{
	cands_keep(&s->cands, 1);
}

void apply_top_p(struct sampler *s)
{
	struct cands *c = &s->cands;
	float sum = 0;
	size_t n = 0;

	cands_softmax(c);
	while (n < c->n) {
		sum += cands_at(c, n++)->p;
		if (sum >= s->o.top_p && n >= s->o.min_keep)
			break;
	}
	cands_keep(c, n);
}

/* Keeps, in their order, those of at least least. */
static size_t keep_from(struct cands *s, float least)
{
	size_t n = 0, ranked = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->c[i].logit >= least) {
			struct cand kept = s->c[i];

			s->c[i] = s->c[n];
			s->c[n++] = kept;
			ranked += i < s->ranked;
		}
	s->ranked = ranked;
	return n;
}

void apply_min_p(struct sampler *s)
{
	struct cands *c = &s->cands;
	size_t n = keep_from(c, cands_max(c) + logf(s->o.min_p)), least = s->o.min_keep < c->n ? s->o.min_keep : c->n;

	least += least == 0; /* a min_p over 1 would keep none */
	if (n >= least)
		c->n = n;
	else
		cands_keep(c, least);
}

void apply_top_n_sigma(struct sampler *s)
{
	struct cands *c = &s->cands;
	double sum = 0, squares = 0, mean;
	size_t valid = 0;
	float least;

	if (c->n <= 1)
		return;
	cands_rank(c, 1);
	for (size_t i = 0; i < c->n; i++)
		if (c->c[i].logit != -INFINITY) {
			sum += c->c[i].logit;
			valid++;
		}
	mean = valid ? sum / (double)valid : 0;
	for (size_t i = 0; i < c->n; i++)
		if (c->c[i].logit != -INFINITY)
			squares += (c->c[i].logit - mean) * (c->c[i].logit - mean);
	least = c->c[0].logit - s->o.top_n_sigma * (float)(valid ? sqrt(squares / (double)valid) : 0);
	for (size_t i = 0; i < c->n; i++)
		if (c->c[i].logit < least)
			c->c[i].logit = -INFINITY;
	c->sorted = true;
}

static float entropy(const struct cands *c)
{
	float sum = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->c[i].p > 0)
			sum -= c->c[i].p * logf(c->c[i].p);
	return sum;
}

/*
 * Ranks by how far a candidate's surprise is from the mean surprise. The logit makes room for that distance and waits in
 * p, from which the probability is made again.
 */
void apply_typical(struct sampler *s)
{
	struct cands *c = &s->cands;
	float divisor = cands_softmax(c), mean = entropy(c), sum = 0, max = -INFINITY;
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		struct cand *k = &c->c[i];
		float distance = fabsf(-logf(k->p) - mean);

		max = k->logit > max ? k->logit : max;
		k->p = k->logit;
		k->logit = -distance;
	}
	if (max == -INFINITY)
		max = 0;
	c->ranked = 0;
	while (n < c->n) {
		sum += expf(cands_at(c, n++)->p - max) / divisor;
		if (sum > s->o.typ_p && n >= s->o.min_keep)
			break;
	}
	c->n = n;
	for (size_t i = 0; i < n; i++)
		c->c[i].logit = c->c[i].p;
	c->ranked = 0;
	c->sorted = false;
}

void apply_xtc(struct sampler *s)
{
	struct cands *c = &s->cands;
	size_t last = 0;

	if (c->n < 2 || mt_float(&s->xtc) > s->o.xtc_probability)
		return;
	cands_softmax(c);
	for (size_t i = 0; i < c->n && cands_at(c, i)->p >= s->o.xtc_threshold; i++)
		last = i;
	c->sorted = true;
	if (last == 0 || c->n - last < s->o.min_keep)
		return;
	c->c += last;
	c->n -= last;
	c->ranked -= last;
}

static float dynamic(struct cands *c, const struct sampler_options *o)
{
	float low = o->temp > o->dynatemp_range ? o->temp - o->dynatemp_range : 0, high = o->temp + o->dynatemp_range;
	float most = -logf(1.0f / (float)c->n);

	cands_rank(c, 1);
	cands_softmax(c);
	c->sorted = true;
	return low + (high - low) * powf(entropy(c) / most, o->dynatemp_exponent);
}

static void scale(struct cands *c, float temp)
{
	if (!(temp > 0)) {
		cands_keep(c, 1);
		return;
	}
	cands_spread(c);
	for (size_t i = 0; i < c->n; i++)
		c->c[i].logit /= temp;
}

void apply_plain_temperature(struct sampler *s)
{
	scale(&s->cands, s->o.temp);
}

void apply_temperature(struct sampler *s)
{
	if (s->o.dynatemp_range <= 0)
		scale(&s->cands, s->o.temp);
	else if (s->cands.n > 1)
		scale(&s->cands, dynamic(&s->cands, &s->o));
}

/* How many candidates to keep: the exponent of Zipf's law, estimated from the first hundred, and mu say. */
static size_t mirostat_keep(struct sampler *s)
{
	enum { SAMPLE = 100 };
	struct cands *c = &s->cands;
	float tb = 0, tt = 0, exponent, over, k;

	for (size_t i = 0; i + 1 < SAMPLE && i + 1 < c->n; i++) {
		float t = logf((float)(i + 2) / (float)(i + 1));
		float b = logf(cands_at(c, i)->p / cands_at(c, i + 1)->p);

		tb += t * b;
		tt += t * t;
	}
	exponent = tb / tt;
	over = exponent - 1;
	k = powf(over * powf(2, s->mu) / (1 - powf((float)c->vocab, -over)), 1 / exponent);
	if (!(k >= 1))
		return 1;
	return k < (float)c->n ? (size_t)k : c->n;
}

static size_t mirostat2_keep(struct sampler *s)
{
	struct cands *c = &s->cands;
	size_t n = 0;

	while (n < c->n && !(-log2f(cands_at(c, n)->p) > s->mu))
		n++;
	return n ? n : 1;
}

size_t mirostat_draw(struct sampler *s)
{
	struct cands *c = &s->cands;
	size_t i;

	cands_softmax(c);
	cands_keep(c, s->o.mirostat == 1 ? mirostat_keep(s) : mirostat2_keep(s));
	cands_softmax(c);
	i = cands_draw_p(c, &s->draw);
	s->mu -= s->o.mirostat_eta * (-log2f(c->c[i].p) - s->o.mirostat_tau);
	return i;
}
