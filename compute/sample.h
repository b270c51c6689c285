/* SPDX-License-Identifier: MIT */
/* From logits to a token: llama.cpp's samplers, order, defaults and names. */
#ifndef SAMPLE_H
#define SAMPLE_H
#include "gguf.h"

struct source;
struct sampler_bias { int32_t id; float bias; };
struct sampler_options {
	char samplers[128];         /* names in the order of their use, between semicolons */
	uint32_t seed;              /* UINT32_MAX: from the clock */
	float temp, dynatemp_range, dynatemp_exponent;
	int32_t top_k;
	float top_p, min_p, typ_p, top_n_sigma;
	float xtc_probability, xtc_threshold;
	int32_t penalty_last_n;     /* -1: the context */
	float penalty_repeat, penalty_freq, penalty_present;
	float dry_multiplier, dry_base;
	int32_t dry_allowed_length, dry_penalty_last_n;
	const char *const *dry_breakers; /* NULL-terminated */
	int mirostat;               /* 0, 1, 2 */
	float mirostat_tau, mirostat_eta;
	const struct sampler_bias *bias;
	size_t bias_count;
	size_t min_keep;
	unsigned context;           /* most tokens that penalties can look back on; 0: no such bound */
};
extern const struct sampler_options sampler_defaults;
/* Replaces the defaults by what general.sampling.* of the model says. */
int sampler_options_from(struct sampler_options *o, struct source *s, struct gguf_error *e);
/* Replaces the order by one letter a sampler. False: a letter that is none. */
bool sampler_options_letters(struct sampler_options *o, const char *letters);

struct vocab;
struct sampler;
/*
 * What o points to is read here only. v is for dry's breakers and may be NULL. -EINVAL for an unknown sampler or a value
 * out of range.
 */
int sampler_new(struct sampler **out, const struct sampler_options *o, size_t n_vocab, const struct vocab *v,
		struct gguf_error *e);
void sampler_free(struct sampler *s); /* NULL is fine */
/* Chooses a token from n_vocab logits (which it does not change). Never fails: NaN counts as -inf. Allocates nothing. */
int32_t sampler_pick(struct sampler *s, const float *logits);
/* Tells what was said: for penalties and dry. Prompt tokens too. */
void sampler_accept(struct sampler *s, int32_t id);
/* Forgets what was said. */
void sampler_forget(struct sampler *s);
/* The same, and starts the random numbers again. */
void sampler_reset(struct sampler *s);
/* The seed in use. */
uint32_t sampler_seed(const struct sampler *s);
#endif
