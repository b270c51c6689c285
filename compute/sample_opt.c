/* SPDX-License-Identifier: MIT */
/* The options of samplers, by llama.cpp's names, and the model's own defaults from general.sampling.*. */
#include "sample_opt.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void sample_args_init(struct sample_args *a, const struct sampler_options *base)
{
	*a = (struct sample_args){ .o = *base };
}

bool sample_args_bias(struct sample_args *a, int32_t id, float bias)
{
	if (a->o.bias_count == SAMPLE_BIASES)
		return false;
	a->bias[a->o.bias_count++] = (struct sampler_bias){ id, bias };
	a->o.bias = a->bias;
	return true;
}

static const char *read_samplers(void *field, const char *value)
{
	struct sample_args *a = field;

	if (strlen(value) >= sizeof(a->o.samplers))
		return "too long";
	strcpy(a->o.samplers, value);
	return NULL;
}

static const char *read_letters(void *field, const char *value)
{
	return sampler_options_letters(&((struct sample_args *)field)->o, value) ? NULL
										 : "a letter that is no sampler's";
}

static const char *read_seed(void *field, const char *value)
{
	long long v;

	if (!opt_int(value, -1, UINT32_MAX, &v))
		return "not a number";
	((struct sample_args *)field)->o.seed = (uint32_t)v;
	return NULL;
}

/* "15043+1", "15043-0.5", "15043-inf" */
static const char *read_bias(void *field, const char *value)
{
	char *end;
	long id = strtol(value, &end, 10);
	float bias;

	if (end == value || (*end != '+' && *end != '-') || id < 0 || id > INT32_MAX || !opt_float(end, &bias))
		return "not TOKEN+BIAS or TOKEN-BIAS";
	return sample_args_bias(field, (int32_t)id, bias) ? NULL : "too many";
}

static const char *read_breaker(void *field, const char *value)
{
	struct sample_args *a = field;

	if (a->breakers == SAMPLE_BREAKERS)
		return "too many";
	if (strcmp(value, "none"))
		a->breaker[a->breakers++] = value;
	a->o.dry_breakers = a->breaker;
	return NULL;
}

#define AT(field) offsetof(struct sample_args, o.field)
const struct opt sample_options[] = {
	{ "Sampling", NULL, NULL, OPT_GROUP, 0, NULL },
	{ "--samplers", "NAMES", "what is used, in this order, between semicolons (default:\n"
	  "                                      penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;temperature)", OPT_CALL, 0,
	  read_samplers },
	{ "--sampler-seq, --sampling-seq", "LETTERS", "the same, a letter each (default: edskypmxt)",
	  OPT_CALL, 0, read_letters },
	{ "-s, --seed", "N", "seed of the random numbers; -1: from the clock (default: -1)", OPT_CALL, 0, read_seed },
	{ "--temp, --temperature", "X", "temperature; 0: always the likeliest token", OPT_FLOAT, AT(temp), NULL },
	{ "--dynatemp-range", "X", "range of a temperature that follows the entropy; 0: off",
	  OPT_FLOAT, AT(dynatemp_range), NULL },
	{ "--dynatemp-exp", "X", "its exponent", OPT_FLOAT, AT(dynatemp_exponent), NULL },
	{ "--top-k", "N", "keep the N likeliest; 0: off", OPT_INT, AT(top_k), NULL },
	{ "--top-p", "P", "keep the likeliest that make up P; 1: off", OPT_FLOAT, AT(top_p), NULL },
	{ "--min-p", "P", "keep those of at least P times the likeliest; 0: off", OPT_FLOAT, AT(min_p), NULL },
	{ "--typical, --typical-p", "P", "keep the locally typical that make up P; 1: off",
	  OPT_FLOAT, AT(typ_p), NULL },
	{ "--top-nsigma, --top-n-sigma", "X", "keep logits within X standard deviations of the top; -1: off", OPT_FLOAT,
	  AT(top_n_sigma), NULL },
	{ "--xtc-probability", "P", "chance to leave out all likely tokens but the last; 0: off",
	  OPT_FLOAT, AT(xtc_probability),
	  NULL },
	{ "--xtc-threshold", "P", "likely: of at least P", OPT_FLOAT, AT(xtc_threshold), NULL },
	{ "--repeat-last-n", "N", "tokens that penalties look back on; -1: the context",
	  OPT_INT, AT(penalty_last_n), NULL },
	{ "--repeat-penalty", "X", "for tokens that occurred; 1: off", OPT_FLOAT, AT(penalty_repeat), NULL },
	{ "--presence-penalty", "X", "the same, subtracted; 0: off", OPT_FLOAT, AT(penalty_present), NULL },
	{ "--frequency-penalty", "X", "for each time they occurred; 0: off", OPT_FLOAT, AT(penalty_freq), NULL },
	{ "--dry-multiplier", "X", "penalty for going on with a repetition; 0: off",
	  OPT_FLOAT, AT(dry_multiplier), NULL },
	{ "--dry-base", "X", "its growth with each token of the repetition", OPT_FLOAT, AT(dry_base), NULL },
	{ "--dry-allowed-length", "N", "repetitions up to this long are free", OPT_INT, AT(dry_allowed_length), NULL },
	{ "--dry-penalty-last-n", "N", "tokens that it looks back on; -1: the context",
	  OPT_INT, AT(dry_penalty_last_n), NULL },
	{ "--dry-sequence-breaker", "TEXT", "repetitions end here; replaces newline, colon, quote, star; none",
	  OPT_CALL, 0,
	  read_breaker },
	{ "--mirostat", "N", "1 or 2: steer the surprise, in place of the above; 0: off", OPT_INT, AT(mirostat), NULL },
	{ "--mirostat-lr", "X", "its learning rate (eta)", OPT_FLOAT, AT(mirostat_eta), NULL },
	{ "--mirostat-ent", "X", "its target, in bits (tau)", OPT_FLOAT, AT(mirostat_tau), NULL },
	{ "-l, --logit-bias", "ID+X", "add X (or -X) to a token's logit", OPT_CALL, 0, read_bias },
	{ "--ignore-eos", NULL, "never end by itself: tokens that end generation get -inf", OPT_ON,
	  offsetof(struct sample_args, ignore_eos), NULL },
	{ 0 },
};
