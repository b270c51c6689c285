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

/* Weights of the chosen, from their scores: normalised among themselves where the model says so, and scaled. */
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

/* A token's scores, as the router's product gives them, become its chosen experts and their weights. */
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
	for (size_t i = from; i < to; i++) {
		finish_row(m, &l->router, row(m->router, i), 0, l->experts);
		route(&r, row(m->router, i), m->chosen + i * l->used, m->weight + i * l->used);
	}
	team_barrier(t);
}

/* Sorts the (token, choice) pairs by expert: a row for each. */
static void plan(const struct pass *p, const struct layer *l)
{
	struct llm *m = p->m;
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
	m->actives = 0;
	for (unsigned e = 0; e < l->experts; e++)
		if (m->first[e + 1] > m->first[e])
			m->active[m->actives++] = e;
}

/* The rows of expert e as a batch, len values in each. */
static struct act expert_rows(const struct llm *m, unsigned e, size_t len)
{
	return act_part(m->expert_act, m->first[e], m->first[e + 1] - m->first[e], len);
}

/* A job of mat_mul_each: what one matrix of an expert multiplies. */
struct bank_jobs {
	const struct llm *m;
	const struct layer *l;
	const struct bank *bank[2]; /* in turn; the second NULL: one only */
	struct rows y[2];
	const struct act *all;      /* what every expert multiplies, or NULL: its own rows */
	struct act rows;            /* room for the answer, of this thread */
};

static void bank_job(void *ctx, size_t i, struct mat_job *job)
{
	struct bank_jobs *j = ctx;
	int turn = j->bank[1] ? (int)(i % 2) : 0;
	unsigned e = j->m->active[j->bank[1] ? i / 2 : i];
	const struct bank *b = j->bank[turn];

	if (!j->all)
		j->rows = expert_rows(j->m, e, b->w.in);
	*job = (struct mat_job){ b->w, j->all ? j->all : &j->rows, row(j->y[turn], j->m->first[e]), j->y[turn].stride };
	job->w.data = b->each[e];
}

/* The product of j's one or two matrices for all experts that have tokens. No barrier. */
static void multiply(const struct team *t, struct bank_jobs *j)
{
	mat_mul_each(j->m->actives * (j->bank[1] ? 2 : 1), j->bank[0]->w.out, bank_job, j, t);
}

/* Bias and scale of expert e. */
static struct linear expert_linear(const struct bank *b, unsigned e)
{
	return (struct linear){
		.w = b->w, .bias = b->bias ? b->bias + (size_t)e * b->w.out : NULL, .scale = b->scale ? b->scale[e] : 1,
	};
}

/* The forms that the first products of the chosen experts want. */
static unsigned gate_forms(const struct layer *l)
{
	return act_form(l->e_up.w.type) | (l->e_gate.w.out ? act_form(l->e_gate.w.type) : 0);
}

/* Each expert gets the rows of its tokens. Of one token alone they all take the same row, where it lies. */
static void gather(const struct pass *p, const struct team *t, const struct layer *l)
{
	const struct llm *m = p->m;
	size_t from, to, pairs = p->n * l->used, width = m->model->h.width;

	if (p->n == 1)
		return;
	team_share(t, pairs, 1, &from, &to);
	for (size_t i = from; i < to; i++) {
		unsigned e = m->chosen[i];
		struct act a = expert_rows(m, e, width);

		act_put(&a, m->place[i] - m->first[e], gate_forms(l), row(m->h, i / l->used), 0, a.blocks);
	}
	team_barrier(t);
}

/* Gate and up of all experts, side by side. */
static void widen(const struct pass *p, const struct team *t, const struct layer *l)
{
	struct llm *m = p->m;
	struct act h = hidden_act(p);
	bool fused = !l->e_gate.w.out;
	struct bank_jobs j = {
		.m = m, .l = l, .bank = { fused ? &l->e_up : &l->e_gate, fused ? NULL : &l->e_up },
		.y = { m->e_gate, rows_at(m->e_gate, l->expert_ffn) }, .all = p->n == 1 ? &h : NULL,
	};

	multiply(t, &j);
	team_barrier(t);
}

/* One row of expert e: gate and up become what down multiplies. */
static void activate_row(const struct llm *m, const struct layer *l, unsigned e, size_t place)
{
	const struct linear gate = expert_linear(&l->e_gate, e), up = expert_linear(&l->e_up, e);
	struct act a = expert_rows(m, e, l->expert_ffn);
	float *g = row(m->e_gate, place), *u = g + l->expert_ffn;

	if (l->e_gate.w.out)
		finish_row(m, &gate, g, 0, l->expert_ffn);
	finish_row(m, &up, l->e_gate.w.out ? u : g, 0, l->e_up.w.out);
	activate(m, g, u, l->expert_ffn);
	act_put(&a, place - m->first[e], act_form(l->e_down.w.type), g, 0, a.blocks);
}

/* activate_row for all pairs of a token and an expert; the threads share them. No barrier. */
static void activate_rows(const struct pass *p, const struct team *t, const struct layer *l)
{
	const struct llm *m = p->m;
	size_t from, to;

	team_share(t, p->n * l->used, 1, &from, &to);
	for (size_t i = from; i < to; i++)
		activate_row(m, l, m->chosen[i], m->place[i]);
}

/* The shared expert's gate and up, and the score of its own gate where it has one: they go with the router. */
static void widen_shared(const struct pass *p, const struct team *t, const struct layer *l, const struct act *h)
{
	const struct llm *m = p->m;

	if (!l->s_up.w.out)
		return;
	mat_mul(&l->s_gate.w, h, m->shared.p, m->shared.stride, t);
	mat_mul(&l->s_up.w, h, m->shared.p + l->shared_ffn, m->shared.stride, t);
	if (l->s_router.w.out)
		mat_mul(&l->s_router.w, h, m->router.p + l->experts, m->router.stride, t);
}

/* The shared expert's output, scaled; nothing where there is none. */
static void begin_sum(const struct llm *m, const struct layer *l, size_t token)
{
	size_t width = m->model->h.width;
	float *out = row(m->out, token), *score = row(m->router, token) + l->experts;

	if (!l->s_up.w.out) {
		memset(out, 0, width * sizeof(*out));
		return;
	}
	finish_row(m, &l->s_down, out, 0, width);
	if (l->s_router.w.out) {
		m->v->sigmoid(score, 1);
		m->v->scale(out, *score, width);
	}
}

/* Adds what the experts of a token gave, best first. */
static void combine(const struct pass *p, const struct team *t, const struct layer *l)
{
	const struct llm *m = p->m;
	size_t width = m->model->h.width, from, to;

	team_share(t, p->n, 1, &from, &to);
	for (size_t i = from; i < to; i++) {
		begin_sum(m, l, i);
		for (size_t pair = i * l->used; pair < (i + 1) * l->used; pair++) {
			const struct linear down = expert_linear(&l->e_down, m->chosen[pair]);
			float *y = row(m->e_out, m->place[pair]);

			finish_row(m, &down, y, 0, width);
			m->v->add_scaled(row(m->out, i), y, m->weight[pair], width);
		}
	}
	team_barrier(t);
}

/*
 * Six steps with a barrier behind each, however many experts there are: scores (and the shared expert's gate and up),
 * choices, a plan, the gathered rows, gates and ups, what they make, downs; then the sum, token by token.
 */
void experts(const struct pass *p, const struct team *t, const struct layer *l)
{
	struct llm *m = p->m;
	struct act h = hidden_act(p), shared = act_part(m->act, 0, p->n, l->shared_ffn);
	const struct gated gated = { NULL, NULL, m->shared, rows_at(m->shared, l->shared_ffn), l->shared_ffn };
	struct bank_jobs down = { .m = m, .l = l, .bank = { &l->e_down }, .y = { m->e_out } };

	mat_mul(&l->router.w, &h, m->router.p, m->router.stride, t);
	widen_shared(p, t, l, &h);
	team_barrier(t);
	route_tokens(p, t, l);
	if (t->id == 0)
		plan(p, l);
	team_barrier(t);
	gather(p, t, l);
	widen(p, t, l);
	activate_rows(p, t, l);
	if (l->s_up.w.out)
		activate_into(p, t, &gated, &shared, linear_forms(&l->s_down));
	team_barrier(t);
	multiply(t, &down);
	if (l->s_up.w.out)
		mat_mul(&l->s_down.w, &shared, m->out.p, m->out.stride, t);
	team_barrier(t);
	combine(p, t, l);
}
