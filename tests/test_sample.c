/* SPDX-License-Identifier: MIT */
/* Samplers against the same written plainly: sort everything, sum in double, no shortcuts. */
#include "sampler.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VOCAB = 600 };

struct item { int id; double logit, p; };
struct list { struct item at[VOCAB]; int n; };

/* ---- the plain form ---- */

static int falling(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->logit < y->logit ? 1 : x->logit > y->logit ? -1 : x->id - y->id;
}

static void softmax(struct list *l)
{
	double max = -INFINITY, sum = 0;

	for (int i = 0; i < l->n; i++)
		max = fmax(max, l->at[i].logit);
	for (int i = 0; i < l->n; i++)
		sum += l->at[i].p = exp(l->at[i].logit - max);
	for (int i = 0; i < l->n; i++)
		l->at[i].p /= sum;
}

static void sort(struct list *l)
{
	qsort(l->at, (size_t)l->n, sizeof l->at[0], falling);
	softmax(l);
}

static double plain_entropy(const struct list *l)
{
	double sum = 0;

	for (int i = 0; i < l->n; i++)
		sum -= l->at[i].p > 0 ? l->at[i].p * log(l->at[i].p) : 0;
	return sum;
}

static void plain_top_k(struct list *l, const struct sampler_options *o)
{
	sort(l);
	l->n = o->top_k > 0 && o->top_k < l->n ? o->top_k : l->n;
}

static void plain_top_p(struct list *l, const struct sampler_options *o)
{
	double sum = 0;
	int n = 0;

	sort(l);
	do
		sum += l->at[n++].p;
	while (n < l->n && (sum < (double)o->top_p || n < (int)o->min_keep));
	l->n = o->top_p < 1 ? n : l->n;
}

static void plain_min_p(struct list *l, const struct sampler_options *o)
{
	int n = 0;

	sort(l);
	while (n < l->n && (l->at[n].p >= (double)o->min_p * l->at[0].p || n < (int)o->min_keep))
		n++;
	l->n = n;
}

static int by_p(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return x->p < y->p ? -1 : x->p > y->p ? 1 : x->id - y->id;
}

static void plain_typical(struct list *l, const struct sampler_options *o)
{
	double mean, sum = 0, most;
	int n = 0;

	if (o->typ_p >= 1)
		return;
	sort(l);
	most = l->at[0].p / exp(l->at[0].logit);
	mean = plain_entropy(l);
	for (int i = 0; i < l->n; i++)
		l->at[i].p = fabs(-log(l->at[i].p) - mean);
	qsort(l->at, (size_t)l->n, sizeof l->at[0], by_p);
	while (n < l->n && (sum <= (double)o->typ_p || n < (int)o->min_keep))
		sum += most * exp(l->at[n++].logit);
	l->n = n;
}

static void plain_sigma(struct list *l, const struct sampler_options *o)
{
	double sum = 0, squares = 0;
	int n = 0;

	if (o->top_n_sigma <= 0)
		return;
	sort(l);
	for (int i = 0; i < l->n; i++)
		sum += l->at[i].logit;
	for (int i = 0; i < l->n; i++)
		squares += pow(l->at[i].logit - sum / l->n, 2);
	while (n < l->n && l->at[n].logit >= l->at[0].logit - (double)o->top_n_sigma * sqrt(squares / l->n))
		n++;
	l->n = n;
}

static void plain_xtc(struct list *l, const struct sampler_options *o)
{
	int above = 0;

	if (o->xtc_probability < 1)
		return;
	sort(l);
	while (above < l->n && l->at[above].p >= (double)o->xtc_threshold)
		above++;
	if (above > 1) {
		memmove(l->at, l->at + above - 1, (size_t)(l->n - above + 1) * sizeof l->at[0]);
		l->n -= above - 1;
	}
}

static void plain_temperature(struct list *l, const struct sampler_options *o)
{
	double t = o->temp, low = fmax(0, t - (double)o->dynatemp_range), high = t + (double)o->dynatemp_range;

	softmax(l);
	if (o->dynatemp_range > 0 && l->n == 1)
		return;
	if (o->dynatemp_range > 0)
		t = low + (high - low) * pow(plain_entropy(l) / log(l->n), o->dynatemp_exponent);
	for (int i = 0; i < l->n; i++)
		l->at[i].logit /= t;
}

static void plain_chain(struct list *l, const struct sampler_options *o)
{
	plain_sigma(l, o);
	plain_top_k(l, o);
	plain_typical(l, o);
	plain_top_p(l, o);
	plain_min_p(l, o);
	plain_xtc(l, o);
	plain_temperature(l, o);
	sort(l);
}

/* ---- rows ---- */

static struct sampler_options off(void)
{
	struct sampler_options o = sampler_defaults;

	o.temp = 1;
	o.top_k = 0;
	o.top_p = 1;
	o.min_p = 0;
	o.seed = 1;
	return o;
}

static const struct row {
	const char *what;
	float temp, dyn, dyn_exp;
	int top_k;
	float top_p, min_p, typ_p, sigma, xtc, xtc_t;
	size_t min_keep;
} rows[] = {
	/*                        temp dyn exp  k  top-p min-p typ sigma xtc threshold keep */
	{ "nothing",                1,   0, 1,   0, 1,    0,    1,    -1, 0, .1f, 0 },
	{ "temperature",            .6f, 0, 1,   0, 1,    0,    1,    -1, 0, .1f, 0 },
	{ "top-k",                  1,   0, 1,  40, 1,    0,    1,    -1, 0, .1f, 0 },
	{ "top-k 1",                1,   0, 1,   1, 1,    0,    1,    -1, 0, .1f, 0 },
	{ "top-k, all",             1,   0, 1, 999, 1,    0,    1,    -1, 0, .1f, 0 },
	{ "top-p",                  1,   0, 1,   0, .9f,  0,    1,    -1, 0, .1f, 0 },
	{ "top-p, far",             1,   0, 1,   0, .999f, 0,   1,    -1, 0, .1f, 0 },
	{ "top-p 0",                1,   0, 1,   0, 0,    0,    1,    -1, 0, .1f, 0 },
	{ "top-p 0 keeps three",    1,   0, 1,   0, 0,    0,    1,    -1, 0, .1f, 3 },
	{ "min-p",                  1,   0, 1,   0, 1,    .05f, 1,    -1, 0, .1f, 0 },
	{ "min-p 1",                1,   0, 1,   0, 1,    1,    1,    -1, 0, .1f, 0 },
	{ "min-p keeps seven",      1,   0, 1,   0, 1,    .9f,  1,    -1, 0, .1f, 7 },
	{ "typical",                1,   0, 1,   0, 1,    0,    .5f,  -1, 0, .1f, 0 },
	{ "typical of 40",          1,   0, 1,  40, 1,    0,    .9f,  -1, 0, .1f, 0 },
	{ "top-n-sigma",            1,   0, 1,   0, 1,    0,    1,     1, 0, .1f, 0 },
	{ "xtc",                    1,   0, 1,   0, 1,    0,    1,    -1, 1, .02f, 0 },
	{ "xtc above all",          1,   0, 1,   0, 1,    0,    1,    -1, 1, .5f, 0 },
	{ "dynamic temperature",    1,  .5f, 1, 40, 1,    0,    1,    -1, 0, .1f, 0 },
	{ "dynamic, exponent 2",    .8f, .7f, 2, 0, 1,    0,    1,    -1, 0, .1f, 0 },
	{ "llama.cpp's defaults",   .8f, 0, 1,  40, .95f, .05f, 1,    -1, 0, .1f, 0 },
	{ "all at once",            .7f, .2f, 1, 90, .98f, .002f, .96f, 2, 1, .15f, 0 },
	{ "all, and one is left",   .7f, .2f, 1, 90, .9f, .02f, .8f,   2, 1, .05f, 0 },
};

static void fill(float *logits, struct list *l, unsigned seed)
{
	srand(seed);
	l->n = VOCAB;
	for (int i = 0; i < VOCAB; i++) {
		/* a few on top of many, and equals */
		logits[i] = (float)(rand() % 4000) / 1000 + (rand() % 40 ? 0 : (float)(rand() % 600) / 100);
		l->at[i] = (struct item){ .id = i, .logit = (double)logits[i] };
	}
}

static int same(const struct cands *got, const struct list *want)
{
	int n = 0;

	for (size_t i = 0; i < got->n; i++)
		n += got->c[i].logit != -INFINITY;
	if (n != want->n)
		return 0;
	for (int i = 0; i < n; i++)
		if (got->c[i].id != want->at[i].id || !(fabs((double)got->c[i].logit - want->at[i].logit) <= 1e-4))
			return 0;
	return 1;
}

static void test_rows(void)
{
	static struct list plain;
	static float logits[VOCAB];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *r = &rows[i];
		struct sampler_options o = off();
		struct gguf_error e;
		struct sampler *s;
		int good = 0;

		o.temp = r->temp, o.dynatemp_range = r->dyn, o.dynatemp_exponent = r->dyn_exp, o.top_k = r->top_k;
		o.top_p = r->top_p, o.min_p = r->min_p, o.typ_p = r->typ_p, o.top_n_sigma = r->sigma;
		o.xtc_probability = r->xtc, o.xtc_threshold = r->xtc_t, o.min_keep = r->min_keep;
		if (sampler_new(&s, &o, VOCAB, NULL, &e))
			continue;
		for (unsigned seed = 0; seed < 20; seed++) {
			fill(logits, &plain, seed);
			plain_chain(&plain, &o);
			sampler_apply(s, logits);
			/* typical leaves its own order: compare as sets */
			cands_open(&s->cands);
			cands_rank(&s->cands, s->cands.n);
			good += same(&s->cands, &plain);
		}
		ok(good == 20, "%s: %d of 20", r->what, good);
		sampler_free(s);
	}
}

/* ---- the draw ---- */

static void test_twister(void)
{
	struct mt m;
	uint32_t v = 0;

	mt_seed(&m, 5489);
	for (int i = 0; i < 10000; i++)
		v = mt_next(&m);
	ok(v == 4123659995U, "the 10000th word is the C++ standard's");
	mt_seed(&m, 42);
	ok(mt_double(&m) == (1608637542U + 3421126067U * 0x1p32) * 0x1p-64, "a double is made of two words, low first");
	ok(mt_float(&m) == (float)4083286876U * 0x1p-32f, "a float of one");
}

static void test_frequencies(void)
{
	static const float p[] = { .1f, .2f, .3f, .4f };
	struct sampler_options o = off();
	struct gguf_error e;
	struct sampler *s, *t;
	float logits[4];
	int count[4] = { 0 }, equal = 0;
	enum { N = 40000 };

	for (int i = 0; i < 4; i++)
		logits[i] = logf(p[i]);
	if (!ok(!sampler_new(&s, &o, 4, NULL, &e) && !sampler_new(&t, &o, 4, NULL, &e), "made"))
		return;
	for (int i = 0; i < N; i++) {
		int32_t id = sampler_pick(s, logits);

		count[id]++;
		equal += id == sampler_pick(t, logits);
	}
	for (int i = 0; i < 4; i++) /* within five standard deviations */
		ok(fabs(count[i] - (double)p[i] * N) < 5 * sqrt((double)p[i] * (1 - (double)p[i]) * N), "%d is drawn %d times", i, count[i]);
	ok(equal == N, "the same seed draws the same");
	sampler_reset(s);
	sampler_reset(t);
	sampler_pick(t, logits);
	for (int i = equal = 0; i < 1000; i++)
		equal += sampler_pick(s, logits) == sampler_pick(t, logits);
	ok(equal < 900, "another place in the sequence draws others");
	sampler_free(s);
	sampler_free(t);
}

/* A draw by hand: the words of MT19937 for seed 1 are known, so is where they fall. */
static void test_known_draw(void)
{
	float logits[3] = { 0, 0, 0 };
	struct sampler_options o = off();
	struct gguf_error e;
	struct sampler *s;
	struct mt m;
	int good = 0;

	mt_seed(&m, 1);
	if (sampler_new(&s, &o, 3, NULL, &e))
		return;
	for (int i = 0; i < 300; i++) {
		double r = mt_double(&m) * 3;

		good += sampler_pick(s, logits) == (r <= 1 ? 0 : r <= 2 ? 1 : 2);
	}
	ok(good == 300, "a uniform draw is where the twister says");
	sampler_free(s);
}

static void test_mirostat2(void)
{
	float logits[VOCAB];
	struct list l;
	struct sampler_options o = off();
	struct gguf_error e;
	struct sampler *s;
	double mu;
	int good = 0;

	o.mirostat = 2;
	o.mirostat_tau = 3;
	mu = 2 * (double)o.mirostat_tau;
	if (sampler_new(&s, &o, VOCAB, NULL, &e))
		return;
	for (unsigned i = 0; i < 50; i++) {
		int n = 0, k = 0;
		int32_t id;

		fill(logits, &l, i);
		sort(&l);
		while (n < l.n && -log2(l.at[n].p) <= mu)
			n++;
		l.n = n ? n : 1;
		softmax(&l);
		id = sampler_pick(s, logits);
		while (k < l.n && l.at[k].id != id)
			k++;
		if (k == l.n)
			break;
		mu -= (double)o.mirostat_eta * (-log2(l.at[k].p) - (double)o.mirostat_tau);
		good += fabs(mu - (double)s->mu) < 1e-3;
	}
	ok(good == 50, "mirostat 2: the surprise is steered: %d of 50", good);
	sampler_free(s);
}

static void test_mirostat1(void)
{
	float logits[VOCAB];
	struct sampler_options o = off();
	struct gguf_error e;
	struct sampler *s;
	double surprise = 0;
	struct list l;
	enum { N = 2000 };

	o.mirostat = 1;
	o.mirostat_tau = 4;
	if (sampler_new(&s, &o, VOCAB, NULL, &e))
		return;
	fill(logits, &l, 3);
	softmax(&l);
	for (int i = 0; i < N; i++) {
		int32_t id = sampler_pick(s, logits);
		double kept = 0;

		for (size_t k = 0; k < s->cands.n; k++)
			kept += l.at[s->cands.c[k].id].p;
		if (i >= N / 2)
			surprise -= log2(l.at[id].p / kept);
	}
	surprise /= N / 2.0;
	ok(fabs(surprise - 4) < .3, "mirostat 1: the mean surprise comes to tau: %.2f bits", surprise);
	sampler_free(s);
}

/* ---- what looks back ---- */

static void test_penalties(void)
{
	static const int32_t said[] = { 0, 1, 1, 2, 3, 3, 3 }; /* the window of five forgets the first two */
	float logits[6] = { 2, -2, 2, -2, 2, -2 };
	static const double count[6] = { 0, 1, 1, 3, 0, 0 };
	struct sampler_options o = off();
	struct gguf_error e;
	struct sampler *s;
	int good = 0;

	o.penalty_last_n = 5;
	o.penalty_repeat = 1.25f;
	o.penalty_freq = .5f;
	o.penalty_present = .125f;
	if (sampler_new(&s, &o, 6, NULL, &e))
		return;
	for (size_t i = 0; i < sizeof said / sizeof *said; i++)
		sampler_accept(s, said[i]);
	sampler_accept(s, -1);
	sampler_accept(s, 6);
	sampler_apply(s, logits);
	for (size_t i = 0; i < 6; i++) {
		int32_t id = s->cands.c[i].id;
		double want = (double)logits[id];

		if (count[id] > 0)
			want = (want > 0 ? want / 1.25 : want * 1.25) - count[id] * .5 - .125;
		good += fabs((double)s->cands.c[i].logit - want) < 1e-6;
	}
	ok(good == 6, "penalties by the last five");
	sampler_reset(s);
	sampler_apply(s, logits);
	ok(s->cands.c[3].logit == -2, "a reset forgets");
	sampler_free(s);
}

/* By comparing every place with every other. */
static double plain_dry(const int32_t *said, int n, int32_t next, const struct sampler_options *o)
{
	int longest = -1;

	for (int i = 0; i < n - 1; i++) {
		int m = 0;

		if (said[i + 1] != next)
			continue;
		while (m <= i && said[i - m] == said[n - 1 - m])
			m++;
		longest = m > longest ? m : longest;
	}
	return longest >= o->dry_allowed_length ?
		(double)o->dry_multiplier * pow((double)o->dry_base, longest - o->dry_allowed_length) : 0;
}

static void test_dry(void)
{
	struct sampler_options o = off();
	struct gguf_error e;
	int good = 0, punished = 0;

	o.dry_multiplier = .8f;
	o.dry_penalty_last_n = 50;
	for (unsigned seed = 0; seed < 50; seed++) {
		float logits[4] = { 0 };
		int32_t said[60];
		struct sampler *s;
		int n = seed % 60, wrong = 0;

		srand(seed);
		if (sampler_new(&s, &o, 4, NULL, &e))
			return;
		for (int i = 0; i < n; i++)
			sampler_accept(s, said[i] = rand() % (seed % 3 + 2));
		sampler_apply(s, logits);
		for (size_t i = 0; i < 4; i++) {
			int32_t id = s->cands.raw ? (int32_t)i : s->cands.c[i].id;
			double got = s->cands.raw ? 0 : -(double)s->cands.c[i].logit;
			double want = plain_dry(n > 50 ? said + n - 50 : said, n > 50 ? 50 : n, id, &o);

			wrong += !(fabs(got - want) <= 1e-5 * (1 + want));
			punished += want > 0;
		}
		good += !wrong;
		sampler_free(s);
	}
	ok(good == 50 && punished > 20, "dry: %d of 50 contexts, %d tokens punished", good, punished);
}

/* ---- odd input ---- */

static const struct odd {
	const char *what;
	float logits[4];
	int32_t want;
} odds[] = {
	{ "NaN loses", { NAN, 1, NAN, 0 }, 1 },
	{ "NaN first and last", { NAN, -3, -2, NAN }, 2 },
	{ "only NaN", { NAN, NAN, NAN, NAN }, 0 },
	{ "only -inf", { -INFINITY, -INFINITY, -INFINITY, -INFINITY }, 0 },
	{ "+inf wins", { 1e30f, INFINITY, 5, NAN }, 1 },
	{ "equals: the lower id", { 0, 7, 7, 7 }, 1 },
};

static void test_odd(void)
{
	static const struct { const char *what; float temp; int top_k, mirostat; float typ_p, sigma; } ways[] = {
		{ "greedy", 0, 40, 0, 1, -1 }, { "greedy without top-k", 0, 0, 0, 1, -1 }, { "top-k 1", 1, 1, 0, 1, -1 },
		{ "greedy after top-n-sigma", 0, 0, 0, 1, 1 },
	};

	for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
		for (size_t i = 0; i < sizeof odds / sizeof *odds; i++) {
			struct sampler_options o = off();
			struct gguf_error e;
			struct sampler *s;
			int32_t id;

			o.temp = ways[w].temp, o.top_k = ways[w].top_k, o.top_n_sigma = ways[w].sigma;
			if (sampler_new(&s, &o, 4, NULL, &e))
				continue;
			id = sampler_pick(s, odds[i].logits);
			ok(id == odds[i].want, "%s, %s: %d", ways[w].what, odds[i].what, id);
			sampler_free(s);
		}
}

/* Whatever stages run on whatever logits: an id of the vocabulary comes out, and no arithmetic error. */
static void test_survives(void)
{
	static const float bad[] = { NAN, INFINITY, -INFINITY, 0, -0.0f, 3e38f, -3e38f, 1 };
	int good = 0, tried = 0;

	for (unsigned seed = 0; seed < 400; seed++) {
		struct sampler_options o = sampler_defaults;
		struct gguf_error e;
		float logits[8];
		struct sampler *s;

		srand(seed);
		o.seed = seed;
		o.temp = (float)(rand() % 3), o.top_k = rand() % 4, o.top_p = (float)(rand() % 3) / 2;
		o.typ_p = (float)(rand() % 3) / 2, o.top_n_sigma = (float)(rand() % 3) - 1, o.min_keep = (size_t)rand() % 3;
		o.xtc_probability = (float)(rand() % 2), o.dynatemp_range = (float)(rand() % 2), o.mirostat = rand() % 3;
		o.dry_multiplier = (float)(rand() % 2), o.penalty_present = (float)(rand() % 2);
		if (sampler_new(&s, &o, 8, NULL, &e))
			continue;
		for (int k = 0; k < 20; k++) {
			int32_t id;

			for (int i = 0; i < 8; i++)
				logits[i] = bad[rand() % 8];
			id = sampler_pick(s, logits);
			good += id >= 0 && id < 8;
			tried++;
			sampler_accept(s, id);
		}
		sampler_free(s);
	}
	ok(tried == 8000 && good == tried, "an id comes out of anything: %d of %d", good, tried);
}

static void test_options(void)
{
	static const struct sampler_bias biases[] = { { 2, 100 }, { 1, -INFINITY } }, outside = { 9, 0 };
	struct sampler_options o = off();
	float logits[4] = { 1, 50, 0, 2 };
	struct gguf_error e;
	struct sampler *s;

	o.bias = biases;
	o.bias_count = 2;
	o.temp = 0;
	if (ok(!sampler_new(&s, &o, 4, NULL, &e), "biases")) {
		ok(sampler_pick(s, logits) == 2 && logits[2] == 0, "logit bias decides, the logits stay");
		sampler_free(s);
	}
	o.bias = &outside;
	o.bias_count = 1;
	ok(sampler_new(&s, &o, 4, NULL, &e) && strstr(e.text, "token 9"), "a bias outside of the vocabulary: %s", e.text);
	o = off();
	strcpy(o.samplers, "top-k;nucleus;temp");
	ok(!sampler_new(&s, &o, 4, NULL, &e), "other names");
	sampler_free(s);
	strcpy(o.samplers, "top_k;topp");
	ok(sampler_new(&s, &o, 4, NULL, &e) && strstr(e.text, "topp"), "a wrong name: %s", e.text);
	ok(sampler_options_letters(&o, "edskypmxt") && !strcmp(o.samplers, sampler_defaults.samplers), "letters");
	ok(!sampler_options_letters(&o, "kq"), "a wrong letter");
	o = off();
	o.penalty_repeat = 0;
	ok(sampler_new(&s, &o, 4, NULL, &e), "a penalty that divides by zero: %s", e.text);
	o = off();
	o.temp = NAN;
	ok(sampler_new(&s, &o, 4, NULL, &e), "a temperature that is no number: %s", e.text);
	ok(sampler_new(&s, &(struct sampler_options){ .mirostat = 3 }, 4, NULL, &e), "mirostat 3: %s", e.text);
}

/* The two ways of ranking give one order, equals by id. */
static void test_rank(void)
{
	enum { N = 20000 };
	static struct cand all[N], spare[N];
	static float logits[N];
	struct cands c = { .all = all, .spare = spare, .vocab = N };
	int good = 0;

	srand(7);
	for (int i = 0; i < N; i++)
		logits[i] = rand() % 50 ? (float)(rand() % 3000 - 1500) / 100 : i % 2 ? -INFINITY : -0.0f;
	for (size_t k = 1; k < N; k = k * 3 + 1) {
		cands_load(&c, logits);
		cands_rank(&c, k);
		cands_rank(&c, N);
		for (size_t i = 1; i < N; i++)
			if (!(c.c[i - 1].logit > c.c[i].logit || (c.c[i - 1].logit == c.c[i].logit && c.c[i - 1].id < c.c[i].id)))
				goto out;
		good++;
	}
out:
	ok(good == 9, "ranked from any start: %d", good);
}

/* The order is the user's: penalties after top-k can make a token win that greedy would not have seen. */
static void test_order(void)
{
	float logits[4] = { 5, 4, 3.9f, 0 };
	struct sampler_options o = off();
	struct gguf_error e;
	struct sampler *s;

	o.temp = 0;
	o.top_k = 2;
	o.penalty_present = 10;
	for (int first = 0; first < 2; first++) {
		strcpy(o.samplers, first ? "penalties;top_k;temperature" : "top_k;penalties;temperature");
		if (sampler_new(&s, &o, 4, NULL, &e))
			continue;
		sampler_accept(s, 0);
		sampler_accept(s, 1);
		ok(sampler_pick(s, logits) == (first ? 2 : 0), "%s", o.samplers);
		sampler_free(s);
	}
}

/* With --bench: the cost of one pick. */
static int bench(void)
{
	enum { N = 151936, TIMES = 200 };
	static const struct { const char *what; int top_k; float temp, top_p, min_p, repeat; int mirostat; } ways[] = {
		{ "defaults", 40, .8f, .95f, .05f, 1, 0 }, { "greedy", 40, 0, .95f, .05f, 1, 0 },
		{ "repeat penalty", 40, .8f, .95f, .05f, 1.1f, 0 }, { "top-p only", 0, .8f, .95f, 0, 1, 0 },
		{ "min-p only", 0, .8f, 1, .05f, 1, 0 }, { "temperature only", 0, .8f, 1, 0, 1, 0 },
		{ "mirostat 1", 0, .8f, 1, 0, 1, 1 }, { "mirostat 2", 0, .8f, 1, 0, 1, 2 },
	};
	static float logits[N];

	for (int i = 0; i < N; i++)
		logits[i] = (float)(rand() % 10000) / 1000 + (rand() % 1000 ? 0 : (float)(rand() % 1000) / 100);
	for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
		struct sampler_options o = sampler_defaults;
		struct timespec a, b;
		struct gguf_error e;
		struct sampler *s;

		o.seed = 1, o.top_k = ways[w].top_k, o.temp = ways[w].temp, o.top_p = ways[w].top_p;
		o.min_p = ways[w].min_p, o.penalty_repeat = ways[w].repeat, o.mirostat = ways[w].mirostat;
		if (sampler_new(&s, &o, N, NULL, &e))
			return 1;
		clock_gettime(CLOCK_MONOTONIC, &a);
		for (int i = 0; i < TIMES; i++)
			sampler_accept(s, sampler_pick(s, logits));
		clock_gettime(CLOCK_MONOTONIC, &b);
		printf("%-18s %8.3f ms for one of %d\n", ways[w].what,
		       ((double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6) / TIMES, N);
		sampler_free(s);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--bench"))
		return bench();
	test_rows();
	test_rank();
	test_twister();
	test_frequencies();
	test_known_draw();
	test_mirostat1();
	test_mirostat2();
	test_penalties();
	test_dry();
	test_odd();
	test_survives();
	test_options();
	test_order();
	done();
}
