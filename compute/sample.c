/* SPDX-License-Identifier: MIT */
/*
 * A chain of samplers over the candidates of one position, in llama.cpp's order and with its defaults. Each one narrows
 * or reweighs the list; the last draws. Logits are never changed in the caller's memory.
 */
#include "error.h"
#include "sampler.h"
#include "source.h"
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static const char *const breakers[] = { "\n", ":", "\"", "*", NULL };

const struct sampler_options sampler_defaults = {
	.samplers = "penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature",
	.seed = UINT32_MAX,
	.temp = 0.8f, .dynatemp_range = 0, .dynatemp_exponent = 1,
	.top_k = 40, .top_p = 0.95f, .min_p = 0.05f, .typ_p = 1, .top_n_sigma = -1,
	.xtc_probability = 0, .xtc_threshold = 0.1f,
	.penalty_last_n = 64, .penalty_repeat = 1,
	.dry_base = 1.75f, .dry_allowed_length = 2, .dry_penalty_last_n = 64, .dry_breakers = breakers,
	.mirostat_tau = 5, .mirostat_eta = 0.1f,
};

static bool penalties_active(const struct sampler_options *o)
{
	return o->penalty_last_n != 0 && (o->penalty_repeat != 1 || o->penalty_freq != 0 || o->penalty_present != 0);
}

static bool sigma_active(const struct sampler_options *o)
{
	return o->top_n_sigma > 0;
}

static bool top_k_active(const struct sampler_options *o)
{
	return o->top_k > 0;
}

static bool typical_active(const struct sampler_options *o)
{
	return o->typ_p < 1;
}

static bool top_p_active(const struct sampler_options *o)
{
	return o->top_p < 1;
}

static bool min_p_active(const struct sampler_options *o)
{
	return o->min_p > 0;
}

static bool xtc_active(const struct sampler_options *o)
{
	return o->xtc_probability > 0 && o->xtc_threshold <= 0.5f;
}

static bool always(const struct sampler_options *o)
{
	return o != NULL;
}

static const struct stage stages[] = {
	{ "penalties", "", 'e', false, penalties_active, apply_penalties },
	{ "dry", "", 'd', false, dry_active, apply_dry },
	{ "top_n_sigma", "", 's', true, sigma_active, apply_top_n_sigma },
	{ "top_k", "", 'k', true, top_k_active, apply_top_k },
	{ "typ_p", "typ,typical,typical_p", 'y', false, typical_active, apply_typical },
	{ "top_p", "nucleus", 'p', true, top_p_active, apply_top_p },
	{ "min_p", "", 'm', true, min_p_active, apply_min_p },
	{ "xtc", "", 'x', false, xtc_active, apply_xtc },
	{ "temperature", "temp", 't', true, always, apply_temperature },
};
static const struct stage bias_stage = { .name = "bias", .apply = apply_bias };
static const struct stage plain_temperature = { .name = "temperature", .apply = apply_plain_temperature };
static const struct stage greedy_stage = { .name = "greedy", .apply = apply_greedy };
enum { STAGES = sizeof stages / sizeof *stages };

/* Whether the comma-separated names have word; - and _ are the same. */
static bool named(const char *names, const char *word, size_t n)
{
	for (;;) {
		size_t len = strcspn(names, ","), i = 0;

		while (i < n && i < len && (names[i] == word[i] || (names[i] == '_' && word[i] == '-')))
			i++;
		if (i == n && i == len)
			return true;
		if (!names[len])
			return false;
		names += len + 1;
	}
}

static const struct stage *stage_named(const char *word, size_t n)
{
	for (size_t i = 0; i < STAGES && n; i++)
		if (named(stages[i].name, word, n) || named(stages[i].aliases, word, n))
			return &stages[i];
	return NULL;
}

bool sampler_options_letters(struct sampler_options *o, const char *letters)
{
	size_t n = 0;

	for (; *letters; letters++) {
		const struct stage *st = stages;

		while (st < stages + STAGES && st->letter != *letters)
			st++;
		if (st == stages + STAGES || n + strlen(st->name) + 2 > sizeof o->samplers)
			return false;
		n += (size_t)sprintf(o->samplers + n, "%s%s", n ? ";" : "", st->name);
	}
	o->samplers[n] = '\0';
	return true;
}

/* ---- what a model says ---- */

#define AT(field) offsetof(struct sampler_options, field)
static const struct { const char *key; bool whole; size_t at; } model_keys[] = {
	{ "general.sampling.top_k", true, AT(top_k) },
	{ "general.sampling.top_p", false, AT(top_p) },
	{ "general.sampling.min_p", false, AT(min_p) },
	{ "general.sampling.xtc_probability", false, AT(xtc_probability) },
	{ "general.sampling.xtc_threshold", false, AT(xtc_threshold) },
	{ "general.sampling.temp", false, AT(temp) },
	{ "general.sampling.penalty_last_n", true, AT(penalty_last_n) },
	{ "general.sampling.penalty_repeat", false, AT(penalty_repeat) },
	{ "general.sampling.mirostat", true, AT(mirostat) },
	{ "general.sampling.mirostat_tau", false, AT(mirostat_tau) },
	{ "general.sampling.mirostat_eta", false, AT(mirostat_eta) },
};

static int take_key(struct sampler_options *o, struct source *s, size_t i, struct gguf_error *e)
{
	void *field = (char *)o + model_keys[i].at;
	int64_t whole;
	double number;
	int err;

	if (!model_keys[i].whole) {
		err = source_f64(s, model_keys[i].key, &number, e);
		if (!err)
			*(float *)field = (float)number;
		return err;
	}
	err = source_i64(s, model_keys[i].key, &whole, e);
	if (!err && (whole < INT32_MIN || whole > INT32_MAX))
		return gguf_fail(e, -ERANGE, 0, "%s: %lld does not fit", model_keys[i].key, (long long)whole);
	if (!err)
		*(int32_t *)field = (int32_t)whole;
	return err;
}

int sampler_options_from(struct sampler_options *o, struct source *s, struct gguf_error *e)
{
	static const char sequence[] = "general.sampling.sequence";
	struct gguf_bytes names;
	int err = source_string(s, sequence, &names, e);

	if (err && err != -ENOENT)
		return err;
	if (!err) {
		if (names.n >= sizeof o->samplers || memchr(names.p, '\0', names.n))
			return gguf_fail(e, -EINVAL, 0, "%s: not a list of samplers", sequence);
		memcpy(o->samplers, names.p, names.n);
		o->samplers[names.n] = '\0';
	}
	for (size_t i = 0; i < sizeof model_keys / sizeof *model_keys; i++) {
		err = take_key(o, s, i, e);
		if (err && err != -ENOENT)
			return err;
	}
	return 0;
}

/* ---- making ---- */

static const struct { const char *name; size_t at; float min; } floats[] = {
	{ "temp", AT(temp), -FLT_MAX },
	{ "dynatemp range", AT(dynatemp_range), -FLT_MAX },
	{ "dynatemp exponent", AT(dynatemp_exponent), -FLT_MAX },
	{ "top-p", AT(top_p), -FLT_MAX },
	{ "min-p", AT(min_p), -FLT_MAX },
	{ "typical-p", AT(typ_p), -FLT_MAX },
	{ "top-n-sigma", AT(top_n_sigma), -FLT_MAX },
	{ "xtc probability", AT(xtc_probability), -FLT_MAX },
	{ "xtc threshold", AT(xtc_threshold), -FLT_MAX },
	{ "repeat penalty", AT(penalty_repeat), FLT_MIN },
	{ "frequency penalty", AT(penalty_freq), -FLT_MAX },
	{ "presence penalty", AT(penalty_present), -FLT_MAX },
	{ "dry multiplier", AT(dry_multiplier), -FLT_MAX },
	{ "dry base", AT(dry_base), -FLT_MAX },
	{ "mirostat entropy", AT(mirostat_tau), -FLT_MAX },
	{ "mirostat rate", AT(mirostat_eta), -FLT_MAX },
};

static int check(const struct sampler_options *o, size_t n_vocab, struct gguf_error *e)
{
	if (n_vocab == 0 || n_vocab > INT32_MAX)
		return gguf_fail(e, -EINVAL, 0, "sampler: a vocabulary of %zu tokens", n_vocab);
	if (o->mirostat < 0 || o->mirostat > 2)
		return gguf_fail(e, -EINVAL, 0, "sampler: mirostat %d is none of 0, 1, 2", o->mirostat);
	for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
		float v = *(const float *)((const char *)o + floats[i].at);

		if (!(v >= floats[i].min && v <= FLT_MAX))
			return gguf_fail(e, -EINVAL, 0, "sampler: %s: %g is out of range", floats[i].name, (double)v);
	}
	for (size_t i = 0; i < o->bias_count; i++)
		if (o->bias[i].id < 0 || (size_t)o->bias[i].id >= n_vocab)
			return gguf_fail(e, -EINVAL, 0, "logit bias: token %d: the vocabulary has %zu", o->bias[i].id,
					 n_vocab);
	return 0;
}

/*
 * At a temperature of zero the best candidate is the answer: stages at the end that cannot change which one that is are
 * left out.
 */
static void make_greedy(struct sampler *s)
{
	while (s->chained && s->chain[s->chained - 1]->keeps_top)
		s->chained--;
	s->chain[s->chained++] = &greedy_stage;
}

static int make_chain(struct sampler *s, struct gguf_error *e)
{
	bool tempered = false;

	if (s->o.bias_count)
		s->chain[s->chained++] = &bias_stage;
	for (const char *p = s->o.samplers; *p;) {
		size_t n = strcspn(p, ";");
		const struct stage *st = stage_named(p, n);

		if (!st)
			return gguf_fail(e, -EINVAL, 0, "sampler: no sampler is called %.*s", (int)n, p);
		if (s->chained == STAGES_MAX - 1)
			return gguf_fail(e, -EINVAL, 0, "sampler: more than %d in a row", STAGES_MAX - 2);
		tempered = tempered || st->apply == apply_temperature;
		if (st->active(&s->o) && !s->o.mirostat)
			s->chain[s->chained++] = st;
		p += n + (p[n] == ';');
	}
	if (s->o.mirostat)
		s->chain[s->chained++] = &plain_temperature;
	else if (tempered && s->o.temp <= 0 && s->o.dynatemp_range <= 0)
		make_greedy(s);
	return 0;
}

static size_t window(int32_t last_n, unsigned context)
{
	if (last_n < 0 || (context && (unsigned)last_n > context))
		return context;
	return (size_t)last_n;
}

static int make_memory(struct sampler *s, const struct vocab *v)
{
	size_t dry = dry_active(&s->o) ? window(s->o.dry_penalty_last_n, s->o.context) : 0;

	s->window = penalties_active(&s->o) ? window(s->o.penalty_last_n, s->o.context) : 0;
	s->said_room = s->window > dry ? s->window : dry;
	s->said_room += s->said_room == 0;
	s->cands.vocab = s->cands.n;
	s->cands.all = malloc(s->cands.vocab * sizeof *s->cands.all);
	s->cands.spare = malloc(s->cands.vocab * sizeof *s->cands.spare);
	s->count = calloc(s->cands.vocab, sizeof *s->count);
	s->said = malloc(s->said_room * sizeof *s->said);
	s->bias = malloc((s->o.bias_count + 1) * sizeof *s->bias);
	if (!s->cands.all || !s->cands.spare || !s->count || !s->said || !s->bias)
		return -ENOMEM;
	if (s->o.bias_count)
		memcpy(s->bias, s->o.bias, s->o.bias_count * sizeof *s->bias);
	return dry_active(&s->o) ? dry_new(&s->dry, &s->o, s->cands.vocab, v, dry + (dry == 0)) : 0;
}

static uint32_t clock_seed(void)
{
	uint32_t seed;

	if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
		seed = (uint32_t)time(NULL);
	return seed;
}

int sampler_new(struct sampler **out, const struct sampler_options *o, size_t n_vocab, const struct vocab *v,
		struct gguf_error *e)
{
	struct sampler *s;
	int err = check(o, n_vocab, e);

	if (err)
		return err;
	s = calloc(1, sizeof *s);
	if (!s)
		return gguf_fail(e, -ENOMEM, 0, "sampler: out of memory");
	s->o = *o;
	s->seed = o->seed == UINT32_MAX ? clock_seed() : o->seed;
	s->cands.n = n_vocab;
	err = make_chain(s, e);
	if (!err) {
		err = make_memory(s, v);
		if (err)
			gguf_fail(e, err, 0, "sampler: %s", strerror(-err));
	}
	if (err) {
		sampler_free(s);
		return err;
	}
	sampler_reset(s);
	*out = s;
	return 0;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	dry_free(s->dry);
	free(s->cands.all);
	free(s->cands.spare);
	free(s->count);
	free(s->said);
	free(s->bias);
	free(s);
}

void sampler_forget(struct sampler *s)
{
	s->said_n = s->said_at = 0;
	memset(s->count, 0, s->cands.vocab * sizeof *s->count);
}

void sampler_reset(struct sampler *s)
{
	sampler_forget(s);
	mt_seed(&s->draw, s->seed);
	mt_seed(&s->xtc, s->seed);
	s->mu = 2 * s->o.mirostat_tau;
}

uint32_t sampler_seed(const struct sampler *s)
{
	return s->seed;
}

void sampler_apply(struct sampler *s, const float *logits)
{
	cands_load(&s->cands, logits);
	for (size_t i = 0; i < s->chained; i++)
		s->chain[i]->apply(s);
}

int32_t sampler_pick(struct sampler *s, const float *logits)
{
	size_t i;

	sampler_apply(s, logits);
	i = s->o.mirostat ? mirostat_draw(s) : cands_draw(&s->cands, &s->draw);
	return s->cands.c[i].id;
}

void sampler_accept(struct sampler *s, int32_t id)
{
	if (id < 0 || (size_t)id >= s->cands.vocab)
		return;
	if (s->window) {
		if (s->said_n >= s->window)
			s->count[sampler_said(s, s->window - 1)]--;
		s->count[id]++;
	}
	s->said[s->said_at] = id;
	s->said_at = (s->said_at + 1) % s->said_room;
	s->said_n += s->said_n < s->said_room;
}
