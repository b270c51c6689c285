/* SPDX-License-Identifier: MIT */
/* A model with its cache and the memory of a pass. Nothing is allocated after it was made. */
#ifndef ENGINE_H
#define ENGINE_H
#include "kv.h"
#include "llm.h"
#include "network.h"
#include "team.h"
#include "vec.h"

/* Activations of a batch: rows of so many floats for each token. */
struct rows {
	float *p;
	size_t stride;
};

struct llm {
	struct model *model;
	struct llm_options opt;
	const struct vec *v;
	struct kv kv;
	unsigned *kv_heads; /* of each layer, as the cache counts them */
	struct team_barrier *team;
	unsigned position;
	struct act *act;
	struct act **head_act; /* low-rank attention: of each thread, for matrices of one head */
	void *memory; /* all of what follows */
	size_t size;
	struct rows x, h, out;    /* the hidden state, its normalised form, what a branch gives */
	struct rows q, att;       /* queries, then keys and values where heads make them; what the heads saw */
	struct rows gate;         /* of the feed-forward: gate, then up */
	struct rows low, unfold;  /* low-rank attention: the compressed forms; queries or keys and values unfolded */
	struct rows turn, turn_local; /* cosines and sines of the batch's positions */
	struct rows router, shared; /* scores of experts; the shared expert's gate and up */
	struct rows e_gate, e_out; /* a row for each token and chosen expert */
	uint32_t *chosen, *place, *row_token; /* experts of a token; its rows in e_gate; the token of a row */
	float *weight;            /* of a token's experts */
	uint32_t *first;          /* of each expert: its first row, and one past the last expert's */
	float *scratch;           /* a part for each thread */
	size_t scratch_size;
};

/* One batch on its way through the layers. Every thread of the team has the same one. */
struct pass {
	struct llm *m;
	const int32_t *ids;
	size_t n;
	uint32_t at;        /* the position of the first token */
	float *logits;      /* NULL: not wanted */
	bool every;         /* of each token, else of the last */
	float *hidden;      /* states after the last norm, or NULL */
};

void forward(const struct team *t, void *pass);

/* Branches: from p->m->h to p->m->out, for all tokens of the batch. A barrier is behind the last write. */

/*
 * Keys and values of all tokens of p go to the cache; out gets what the tokens of rest see, which are the last ones of p
 * (all of them but in the last layer). Where they are fewer, they are all that is left in m from here on.
 */
void attend(const struct pass *p, const struct pass *rest, const struct team *t, unsigned layer);
void attend_mla(const struct pass *p, const struct pass *rest, const struct team *t, unsigned layer);
/* Moves the rows of rest, the last tokens of p, to the front, where its pass looks for them. A barrier is behind it. */
void narrow(const struct pass *p, const struct pass *rest, const struct team *t);
void ffn(const struct pass *p, const struct team *t, const struct layer *l);
void experts(const struct pass *p, const struct team *t, const struct layer *l);

/* y = l(x) for n rows; biases and scales included. Begins and ends with nothing in flight: a barrier is behind it. */
void apply(const struct pass *p, const struct team *t, const struct linear *l, const struct act *a, struct rows y,
	   size_t n);
/* Normalises n rows of len values; the threads share the rows. No barrier. */
void normalise(const struct pass *p, const struct team *t, const struct norm *n, struct rows y, struct rows x,
	       size_t count, size_t len);
/* g = act(g) * u for count rows; u NULL: g = act(g). The threads share the values. No barrier. */
void activate(const struct pass *p, const struct team *t, struct rows g, struct rows u, size_t count, size_t len);
/* Adds the bias and applies the scale of l to rows y, where it has some. The threads share the rows. No barrier. */
void finish_linear(const struct pass *p, const struct team *t, const struct linear *l, struct rows y, size_t n);
/* What the tokens of the batch see in layer, as scores of heads against kv_heads of the cache; q to att. */
struct heads {
	unsigned heads, kv_heads;
	struct rows q, out; /* q is scaled */
};
void attend_cache(const struct pass *p, const struct team *t, unsigned layer, const struct heads *h);
/* The factor of queries at a position. */
float query_scale(const struct hyper *h, uint32_t position);

static inline struct rows rows_at(struct rows r, size_t column)
{
	return (struct rows){ r.p ? r.p + column : NULL, r.stride };
}

static inline float *row(struct rows r, size_t i)
{
	return r.p + i * r.stride;
}
#endif
