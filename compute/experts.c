/* SPDX-License-Identifier: MIT */
/* A mixture of experts: a router chooses a few for each token, and their outputs are added, weighted. */
#include "engine.h"
#include <math.h>
#include <string.h>

/* The sum that weights are divided by is not let below this, the smallest normal half. */
#define LEAST_SUM 0x1p-14f

struct router {
	const struct layer *l;
	const struct hyper *h;
	const struct vec *v;
};

/* Experts in groups: all but the best groups are out. A group is as good as its two best experts together. */
static void drop_groups(const struct router *r, float *choice)
{
	unsigned size = r->l->experts / r->h->groups;
	float score[MAX_EXPERTS];

	for (unsigned g = 0; g < r->h->groups; g++) {
		float best = -INFINITY, second = -INFINITY;

		for (unsigned i = g * size; i < (g + 1) * size; i++) {
			second = choice[i] > best ? best : fmaxf(second, choice[i]);
			best = fmaxf(best, choice[i]);
		}
		score[g] = size > 1 ? best + second : best;
	}
	for (unsigned left = r->h->groups; left > r->h->groups_used; left--) {
		unsigned worst = 0;

		for (unsigned g = 1; g < r->h->groups; g++)
			if (score[g] <= score[worst] || score[worst] == INFINITY)
				worst = g;
		score[worst] = INFINITY;
		for (unsigned i = worst * size; i < (worst + 1) * size; i++)
			choice[i] = -INFINITY;
	}
}

/* The best experts, best first; of equals the first. */
static void choose(const struct router *r, float *choice, uint32_t *chosen)
{
	for (unsigned k = 0; k < r->l->used; k++) {
		unsigned best = 0;

		for (unsigned i = 1; i < r->l->experts; i++)
			if (choice[i] > choice[best])
				best = i;
		chosen[k] = best;
		choice[best] = -INFINITY;
	}
}

static void weigh(const struct router *r, const float *score, const uint32_t *chosen, float *weight)
{
	float sum = 0;

	for (unsigned k = 0; k < r->l->used; k++)
		weight[k] = score[chosen[k]];
	if (r->h->gating == GATE_CHOSEN)
		r->v->softmax(weight, r->l->used);
	for (unsigned k = 0; k < r->l->used; k++)
		sum += weight[k];
	sum = sum > LEAST_SUM ? sum : LEAST_SUM;
	for (unsigned k = 0; k < r->l->used; k++) {
		if (r->h->weights_norm && r->h->gating != GATE_CHOSEN)
			weight[k] /= sum;
		weight[k] *= r->h->weights_scale;
	}
}

static void route(const struct router *r, float *score, uint32_t *chosen, float *weight)
{
	float choice[MAX_EXPERTS];
	unsigned n = r->l->experts;

	if (r->h->gating == GATE_SOFTMAX)
		r->v->softmax(score, n);
	if (r->h->gating == GATE_SIGMOID)
		r->v->sigmoid(score, n);
	memcpy(choice, score, n * sizeof(*choice));
	if (r->l->select_bias)
		r->v->add(choice, r->l->select_bias, n);
	if (r->h->groups > 1)
		drop_groups(r, choice);
	choose(r, choice, chosen);
	weigh(r, score, chosen, weight);
}

static void route_tokens(const struct pass *p, const struct team *t, const struct layer *l)
{
	const struct llm *m = p->m;
	const struct router r = { l, &m->model->h, m->v };
	size_t from, to;

	team_share(t, p->n, 1, &from, &to);
	for (size_t i = from; i < to; i++)
		route(&r, row(m->router, i), m->chosen + i * l->used, m->weight + i * l->used);
	team_barrier(t);
}

/* Sorts the (token, choice) pairs by expert: a row for each. */
static void plan(const struct pass *p, const struct layer *l)
{
	const struct llm *m = p->m;
	uint32_t *next = m->first + l->experts + 1;
	size_t pairs = p->n * l->used;

	memset(m->first, 0, (l->experts + 1) * sizeof(*m->first));
	for (size_t i = 0; i < pairs; i++)
		m->first[m->chosen[i] + 1]++;
	for (unsigned e = 0; e < l->experts; e++)
		m->first[e + 1] += m->first[e];
	memcpy(next, m->first, l->experts * sizeof(*next));
	for (size_t i = 0; i < pairs; i++) {
		m->place[i] = next[m->chosen[i]]++;
		m->row_token[m->place[i]] = (uint32_t)(i / l->used);
	}
}

static struct mat expert_mat(const struct bank *b, unsigned e)
{
	struct mat w = b->w;

	w.data = b->each[e];
	return w;
}

static void multiply(const struct team *t, const struct bank *b, unsigned e, const struct act *a, struct rows y)
{
	struct mat w = expert_mat(b, e);

	mat_mul(&w, a, y.p, y.stride, t);
}

static void finish_bank(const struct pass *p, const struct team *t, const struct bank *b, unsigned e, struct rows y,
			size_t n)
{
	const struct linear l = {
		.w = b->w, .bias = b->bias ? b->bias + (size_t)e * b->w.out : NULL, .scale = b->scale ? b->scale[e] : 1,
	};

	finish_linear(p, t, &l, y, n);
}

/* Expert e for its n tokens, whose rows begin at first. */
static void one_expert(const struct pass *p, const struct team *t, const struct layer *l, unsigned e)
{
	struct llm *m = p->m;
	size_t first = m->first[e], n = m->first[e + 1] - first;
	struct rows g = { row(m->e_gate, first), m->e_gate.stride }, u = rows_at(g, l->expert_ffn);
	struct rows out = { row(m->e_out, first), m->e_out.stride };
	bool fused = !l->e_gate.w.out;

	act_load(m->act, t, act_form(l->e_up.w.type) | (fused ? 0 : act_form(l->e_gate.w.type)), m->h.p, m->h.stride,
		 m->row_token + first, n, l->e_up.w.in);
	team_barrier(t);
	if (!fused)
		multiply(t, &l->e_gate, e, m->act, g);
	multiply(t, &l->e_up, e, m->act, fused ? g : u);
	team_barrier(t);
	if (!fused)
		finish_bank(p, t, &l->e_gate, e, g, n);
	finish_bank(p, t, &l->e_up, e, fused ? g : u, n);
	if (l->e_up.bias || l->e_up.scale)
		team_barrier(t);
	activate(p, t, g, u, n, l->expert_ffn);
	team_barrier(t);
	act_load(m->act, t, act_form(l->e_down.w.type), g.p, g.stride, NULL, n, l->expert_ffn);
	team_barrier(t);
	multiply(t, &l->e_down, e, m->act, out);
	team_barrier(t);
	finish_bank(p, t, &l->e_down, e, out, n);
	if (l->e_down.bias || l->e_down.scale)
		team_barrier(t);
}

/* The shared expert goes to out, by its own gate where it has one; without one out is cleared. */
static void shared_expert(const struct pass *p, const struct team *t, const struct layer *l)
{
	struct llm *m = p->m;
	struct rows g = m->shared, u = rows_at(g, l->shared_ffn);
	size_t from, to;

	act_load(m->act, t, act_form(l->s_gate.w.type) | act_form(l->s_up.w.type), m->h.p, m->h.stride, NULL, p->n,
		 l->s_up.w.in);
	team_barrier(t);
	mat_mul(&l->s_gate.w, m->act, g.p, g.stride, t);
	mat_mul(&l->s_up.w, m->act, u.p, u.stride, t);
	team_barrier(t);
	activate(p, t, g, u, p->n, l->shared_ffn);
	team_barrier(t);
	act_load(m->act, t, act_form(l->s_down.w.type), g.p, g.stride, NULL, p->n, l->shared_ffn);
	team_barrier(t);
	apply(p, t, &l->s_down, m->act, m->out, p->n);
	if (!l->s_router.w.out)
		return;
	act_load(m->act, t, act_form(l->s_router.w.type), m->h.p, m->h.stride, NULL, p->n, l->s_up.w.in);
	team_barrier(t);
	mat_mul(&l->s_router.w, m->act, m->router.p, m->router.stride, t);
	team_barrier(t);
	team_share(t, p->n, 1, &from, &to);
	for (size_t i = from; i < to; i++) {
		m->v->sigmoid(row(m->router, i), 1);
		m->v->scale(row(m->out, i), *row(m->router, i), l->s_up.w.in);
	}
	team_barrier(t);
}

/* Adds what the experts of a token gave, best first. */
static void combine(const struct pass *p, const struct team *t, const struct layer *l, bool clear)
{
	const struct llm *m = p->m;
	size_t width = m->model->h.width, from, to;

	team_share(t, p->n, 1, &from, &to);
	for (size_t i = from; i < to; i++) {
		if (clear)
			memset(row(m->out, i), 0, width * sizeof(float));
		for (unsigned k = 0; k < l->used; k++) {
			size_t pair = i * l->used + k;

			m->v->add_scaled(row(m->out, i), row(m->e_out, m->place[pair]), m->weight[pair], width);
		}
	}
	team_barrier(t);
}

void experts(const struct pass *p, const struct team *t, const struct layer *l)
{
	struct llm *m = p->m;

	act_load(m->act, t, act_form(l->router.w.type), m->h.p, m->h.stride, NULL, p->n, l->router.w.in);
	team_barrier(t);
	apply(p, t, &l->router, m->act, m->router, p->n);
	route_tokens(p, t, l);
	if (t->id == 0)
		plan(p, l);
	team_barrier(t);
	for (unsigned e = 0; e < l->experts; e++)
		if (m->first[e + 1] > m->first[e])
			one_expert(p, t, l, e);
	if (l->s_up.w.out)
		shared_expert(p, t, l);
	combine(p, t, l, !l->s_up.w.out);
}
