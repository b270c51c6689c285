/* SPDX-License-Identifier: MIT */
/* A model with its cache and the memory of a pass. Nothing is allocated after it was made. */
#ifndef ENGINE_H
#define ENGINE_H
#include "act.h"
#include "crew.h"
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
	struct crew crew; /* of the team, how many a batch is given */
	struct finite *look; /* NULL from the end of the first batch on */
	unsigned position;
	struct act *act;       /* room for what is multiplied: parts of it are views (act_part) */
	struct act *expert_act; /* the same for a row for each token and chosen expert; NULL: no experts */
	struct act **head_act; /* low-rank attention: of each thread, for matrices of one head */
	void *memory; /* all of what follows */
	size_t size;
	struct rows x, h, out;    /* the hidden state, its normalised form, what a branch gives */
	struct rows q, att;       /* queries, then keys and values where heads make them; what the heads saw */
	struct rows gate;         /* of the feed-forward: gate, then up */
	struct rows low, unfold;  /* low-rank attention: the compressed forms; queries or keys and values unfolded */
	struct rows turn, turn_local; /* cosines and sines of the batch's positions */
	struct rows router, shared; /* scores of experts and that of the shared one; the shared expert's gate and up */
	struct rows e_gate, e_out; /* a row for each token and chosen expert */
	uint32_t *chosen, *place, *row_token; /* experts of a token; its rows in e_gate; the token of a row */
	float *weight;            /* of a token's experts */
	uint32_t *first;          /* of each expert: its first row, and one past the last expert's */
	uint32_t *active, actives; /* the experts that have rows, and how many */
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

/*
 * Branches: from p->m->h to p->m->out, for all tokens of the batch. What their first products want of h stands in
 * m->act, in the forms that branch_forms gives: who makes h puts it there. A barrier is behind the last write to out.
 */
unsigned attend_forms(const struct llm *m, const struct layer *l);
unsigned ffn_forms(const struct layer *l);
/*
 * Keys and values of all tokens of p go to the cache; out gets what the tokens of rest see, which are the last ones of
 * p (all of them but in the last layer). Where they are fewer, they are all that is left in m from here on.
 */
void attend(const struct pass *p, const struct pass *rest, const struct team *t, unsigned layer);
void attend_mla(const struct pass *p, const struct pass *rest, const struct team *t, unsigned layer);
/* Moves the rows of rest, the last tokens of p, to the front, where its pass looks for them. A barrier is behind it. */
void narrow(const struct pass *p, const struct pass *rest, const struct team *t);
void ffn(const struct pass *p, const struct team *t, const struct layer *l);
void experts(const struct pass *p, const struct team *t, const struct layer *l);

/* The view of m->act that branches begin with. */
static inline struct act hidden_act(const struct pass *p)
{
	return act_part(p->m->act, 0, p->n, p->m->model->h.width);
}

/* The forms that l wants of what it multiplies; none where there is no l. */
static inline unsigned linear_forms(const struct linear *l)
{
	return l->w.out ? act_form(l->w.type) : 0;
}

/* Puts n rows of len values into m->act, in these forms. A barrier is behind it. */
struct act load_rows(const struct pass *p, const struct team *t, unsigned forms, struct rows x, size_t n, size_t len);
/*
 * y = l(a) for all rows of a; biases and scales included. Begins and ends with nothing in flight: a barrier is behind
 * it.
 */
void apply(const struct pass *p, const struct team *t, const struct linear *l, const struct act *a, struct rows y);
/* Normalises n rows of len values; the threads share the rows. No barrier. */
void normalise(const struct pass *p, const struct team *t, const struct norm *n, struct rows y, struct rows x,
	       size_t count, size_t len);
/* g = act(g) * u for n values; u NULL: g = act(g). */
void activate(const struct llm *m, float *g, const float *u, size_t n);
/*
 * act(g) * u (or act(g), where u.p is NULL), len values in a row, goes to a in the forms given. The threads share the
 * values. No barrier.
 */
struct gated {
	const struct linear *gate, *up; /* whose biases and scales are still to be applied, or gate NULL: nobody's */
	struct rows g, u;
	size_t len;
};
void activate_into(const struct pass *p, const struct team *t, const struct gated *g, const struct act *a,
		   unsigned forms);
/* Adds the bias and applies the scale of l to y, values from .. to-1 of a row, where it has some. */
void finish_row(const struct llm *m, const struct linear *l, float *y, size_t from, size_t to);
/* The same for rows; the threads share them. No barrier. */
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
