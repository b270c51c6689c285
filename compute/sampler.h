/* SPDX-License-Identifier: MIT */
/* Inside of sample.h: the candidates and the stages that thin them out. */
#ifndef SAMPLER_H
#define SAMPLER_H
#include "mt.h"
#include "sample.h"

struct cand {
	int32_t id;
	float logit, p;
};

/*
 * What is left to choose from. Order matters only where it is asked for: the first ranked ones are the largest in
 * falling order, the rest is in any; sorted says that the rest counts as ranked too, and will be when somebody looks.
 * Equal logits: the lower id first.
 */
struct cands {
	const float *raw;  /* not NULL: all tokens with these logits, and c is not filled yet */
	struct cand *all, *spare; /* room for the vocabulary, twice */
	struct cand *c;    /* the first left, within all */
	size_t n, ranked;
	size_t vocab;
	bool sorted;
};

void cands_load(struct cands *s, const float *logits);
/* Fills c where it is not yet. */
void cands_spread(struct cands *s);
/* The same for who changes logits: what was ranked is not any more. */
struct cand *cands_open(struct cands *s);
float cands_max(struct cands *s);
/* Makes the first k (at most n) ranked. */
void cands_rank(struct cands *s, size_t k);
/* Candidate i, ranked; takes more steps at once than i asks for. */
struct cand *cands_at(struct cands *s, size_t i);
/* Forgets all but the n (1 to the number there is) largest. */
void cands_keep(struct cands *s, size_t n);
/* Sets p, which sum to 1. Returns what exp(logit - largest logit) was divided by. */
float cands_softmax(struct cands *s);
/* Index of one drawn by logits, or by p (which cands_softmax set). One candidate is taken without a draw. */
size_t cands_draw(struct cands *s, struct mt *m);
size_t cands_draw_p(struct cands *s, struct mt *m);

struct dry;
struct sampler;
struct stage {
	const char *name, *aliases; /* aliases between commas; - is as good as _ */
	char letter;
	bool keeps_top; /* the best candidate stays the best */
	bool (*active)(const struct sampler_options *o);
	void (*apply)(struct sampler *s);
};

enum { STAGES_MAX = 16 };
struct sampler {
	struct sampler_options o;
	struct cands cands;
	const struct stage *chain[STAGES_MAX];
	size_t chained;
	struct mt draw, xtc;
	float mu;           /* mirostat: largest surprise, in bits */
	uint32_t seed;
	int32_t *said;      /* ring of what was said */
	size_t said_room, said_n, said_at;
	uint32_t *count;    /* how often each token is among the last penalty_last_n */
	size_t window;      /* penalty_last_n in effect */
	struct dry *dry;
	struct sampler_bias *bias;
};

/* The token said i before the last; i < said_n. */
static inline int32_t sampler_said(const struct sampler *s, size_t i)
{
	size_t back = i + 1;

	return s->said[s->said_at >= back ? s->said_at - back : s->said_at + s->said_room - back];
}

/* All of sampler_pick but the draw. */
void sampler_apply(struct sampler *s, const float *logits);
void apply_bias(struct sampler *s);
void apply_penalties(struct sampler *s);
void apply_top_n_sigma(struct sampler *s);
void apply_top_k(struct sampler *s);
void apply_typical(struct sampler *s);
void apply_top_p(struct sampler *s);
void apply_min_p(struct sampler *s);
void apply_xtc(struct sampler *s);
void apply_temperature(struct sampler *s);
void apply_plain_temperature(struct sampler *s);
void apply_greedy(struct sampler *s);
/* Mirostat replaces the draw: index of the candidate chosen. */
size_t mirostat_draw(struct sampler *s);

bool dry_active(const struct sampler_options *o);
int dry_new(struct dry **out, const struct sampler_options *o, size_t n_vocab, const struct vocab *v, size_t room);
void dry_free(struct dry *d); /* NULL is fine */
void apply_dry(struct sampler *s);
#endif
