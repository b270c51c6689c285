/* SPDX-License-Identifier: MIT */
/* The small steps between products: norms, activations, biases. */
#include "engine.h"

void normalise(const struct pass *p, const struct team *t, const struct norm *n, struct rows y, struct rows x,
	       size_t count, size_t len)
{
	const struct hyper *h = &p->m->model->h;
	const struct vec *v = p->m->v;
	size_t from, to;

	team_share(t, count, 1, &from, &to);
	for (size_t i = from; i < to; i++) {
		if (h->rms)
			v->norm_rms(row(y, i), row(x, i), n->w, len, h->eps);
		else
			v->norm_layer(row(y, i), row(x, i), n->w, n->b, len, h->eps);
	}
}

void activate(const struct llm *m, float *g, const float *u, size_t n)
{
	switch (m->model->arch->act) {
	case ACT_SILU:
		m->v->silu(g, u, n);
		break;
	case ACT_GELU:
		m->v->gelu(g, u, n);
		break;
	case ACT_CLAMPED:
		m->v->clamped(g, u, n);
	}
}

/* Values from .. to-1 of row i, which begin and end blocks of activations. */
static void activate_row(const struct pass *p, const struct gated *g, size_t i, size_t from, size_t to)
{
	if (g->gate) {
		finish_row(p->m, g->gate, row(g->g, i), from, to);
		finish_row(p->m, g->up, row(g->u, i), from, to);
	}
	activate(p->m, row(g->g, i) + from, g->u.p ? row(g->u, i) + from : NULL, to - from);
}

/*
 * Parts of a few blocks where there are fewer rows than threads, else whole rows: what was activated is put in while
 * it is near.
 */
void activate_into(const struct pass *p, const struct team *t, const struct gated *g, const struct act *a,
		   unsigned forms)
{
	enum { STEP = 4 }; /* blocks of a thread's part of a row */
	size_t steps = (a->blocks + STEP - 1) / STEP, from, to;

	team_share(t, a->tokens * steps, a->tokens < t->n ? 1 : steps, &from, &to);
	while (from < to) {
		size_t i = from / steps, first = from % steps;
		size_t some = steps - first < to - from ? steps - first : to - from;
		size_t end = (first + some) * STEP < a->blocks ? (first + some) * STEP : a->blocks;

		activate_row(p, g, i, first * STEP * ACT_BLOCK, end * ACT_BLOCK < g->len ? end * ACT_BLOCK : g->len);
		act_put(a, i, forms, row(g->g, i), first * STEP, end);
		from += some;
	}
}

void finish_row(const struct llm *m, const struct linear *l, float *y, size_t from, size_t to)
{
	if (l->scale != 1)
		m->v->scale(y + from, l->scale, to - from);
	if (l->bias)
		m->v->add(y + from, l->bias + from, to - from);
}

void finish_linear(const struct pass *p, const struct team *t, const struct linear *l, struct rows y, size_t n)
{
	size_t from, to;

	if (!l->bias && l->scale == 1)
		return;
	team_share(t, n, 1, &from, &to);
	for (size_t i = from; i < to; i++)
		finish_row(p->m, l, row(y, i), 0, l->w.out);
}

struct act load_rows(const struct pass *p, const struct team *t, unsigned forms, struct rows x, size_t n, size_t len)
{
	struct act a = act_part(p->m->act, 0, n, len);

	act_fill(&a, t, forms, x.p, x.stride, NULL);
	team_barrier(t);
	return a;
}

void apply(const struct pass *p, const struct team *t, const struct linear *l, const struct act *a, struct rows y)
{
	mat_mul(&l->w, a, y.p, y.stride, t);
	team_barrier(t);
	if (!l->bias && l->scale == 1)
		return;
	finish_linear(p, t, l, y, a->tokens);
	team_barrier(t);
}
