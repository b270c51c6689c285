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

static void activate_part(const struct llm *m, float *g, const float *u, size_t n)
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

void activate(const struct pass *p, const struct team *t, struct rows g, struct rows u, size_t count, size_t len)
{
	enum { STEP = 64 }; /* a thread's part of a row */
	size_t steps = (len + STEP - 1) / STEP, from, to;

	team_share(t, count * steps, 1, &from, &to);
	while (from < to) {
		size_t i = from / steps, first = from % steps, some = steps - first < to - from ? steps - first : to - from;
		size_t at = first * STEP, end = (first + some) * STEP < len ? (first + some) * STEP : len;

		activate_part(p->m, row(g, i) + at, u.p ? row(u, i) + at : NULL, end - at);
		from += some;
	}
}

void finish_linear(const struct pass *p, const struct team *t, const struct linear *l, struct rows y, size_t n)
{
	size_t from, to;

	if (!l->bias && l->scale == 1)
		return;
	team_share(t, n, 1, &from, &to);
	for (size_t i = from; i < to; i++) {
		if (l->scale != 1)
			p->m->v->scale(row(y, i), l->scale, l->w.out);
		if (l->bias)
			p->m->v->add(row(y, i), l->bias, l->w.out);
	}
}

void apply(const struct pass *p, const struct team *t, const struct linear *l, const struct act *a, struct rows y,
	   size_t n)
{
	mat_mul(&l->w, a, y.p, y.stride, t);
	team_barrier(t);
	if (!l->bias && l->scale == 1)
		return;
	finish_linear(p, t, l, y, n);
	team_barrier(t);
}
