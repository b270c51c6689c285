/* SPDX-License-Identifier: MIT */
/*
 * Low-rank attention (DeepSeek-V2, 2024). Keys and values of all heads unfold from one short vector c (and a part that
 * turns by position, the same for all heads). Where files have the unfolding for each head apart (attn_k_b, attn_v_b),
 * the cache holds c as the only key and value, and queries are folded instead. Old files (attn_kv_b) unfold before the
 * cache.
 */
#include "engine.h"
#include "rope.h"
#include <string.h>

static bool folds(const struct layer *l)
{
	return l->k_b.w.out > 0;
}

/* c, normalised, then the part that turns. They stand behind the low-rank query. */
static struct rows latent(const struct llm *m)
{
	return rows_at(m->low, m->model->h.q_rank);
}

/*
 * The products of the hidden state: a low-rank query (or the query itself) and c with the part that turns, normalised.
 */
static void compress(const struct pass *p, const struct team *t, const struct layer *l)
{
	struct llm *m = p->m;
	const struct hyper *h = &m->model->h;
	const struct linear *q = l->q_a.w.out ? &l->q_a : &l->q;
	struct rows to = l->q_a.w.out ? m->low : folds(l) ? m->unfold : m->q, c = latent(m);
	struct act a = hidden_act(p);

	mat_mul(&q->w, &a, to.p, to.stride, t);
	mat_mul(&l->kv_a.w, &a, c.p, c.stride, t);
	team_barrier(t);
	finish_linear(p, t, q, to, p->n);
	finish_linear(p, t, &l->kv_a, c, p->n);
	normalise(p, t, &l->kv_a_norm, c, c, p->n, h->kv_rank);
	if (l->q_a.w.out)
		normalise(p, t, &l->q_a_norm, m->low, m->low, p->n, h->q_rank);
	team_barrier(t);
}

/* Queries of all heads from the low-rank query, where there is one. */
static void unfold_queries(const struct pass *p, const struct team *t, const struct layer *l)
{
	struct llm *m = p->m;
	struct act a;

	if (!l->q_a.w.out)
		return;
	a = load_rows(p, t, linear_forms(&l->q), m->low, p->n, m->model->h.q_rank);
	apply(p, t, &l->q, &a, folds(l) ? m->unfold : m->q);
}

/* y of head i = bank's matrix i times x of head i, the heads shared among the threads: nobody waits in between. */
static void each_head(const struct pass *p, const struct team *t, const struct bank *b, unsigned heads, struct rows x,
		      size_t x_len, struct rows y, size_t y_len)
{
	const struct team alone = { 0, 1, NULL, NULL };
	struct act *a = p->m->head_act[t->id];
	size_t from, to;

	team_share(t, heads, 1, &from, &to);
	for (size_t i = from; i < to; i++) {
		struct mat w = b->w;

		w.data = b->each[i];
		act_load(a, &alone, act_form(w.type), x.p + i * x_len, x.stride, NULL, p->n, w.in);
		mat_mul(&w, a, y.p + i * y_len, y.stride, &alone);
	}
}

/* Puts the turning part of each head's query into place, and scales the whole. */
static void finish_queries(const struct pass *p, const struct layer *l, size_t token)
{
	struct llm *m = p->m;
	const struct hyper *h = &m->model->h;
	size_t len = m->kv.key_len, fixed = len - h->rope_dims;
	float scale = query_scale(h, p->at + (uint32_t)token);

	for (unsigned i = 0; i < l->heads; i++) {
		float *q = row(m->q, token) + i * len;

		if (folds(l))
			memcpy(q + fixed, row(m->unfold, token) + (i + 1) * (size_t)h->key_mla - h->rope_dims,
			       h->rope_dims * sizeof(*q));
		if (l->rope)
			rope_turn(m->v, q + fixed, row(m->turn, token), h->rope_dims, m->model->arch->rope);
		m->v->scale(q, scale, len);
	}
}

/* Unfolded keys and values of one head go to the cache, behind each key the part that turns. key: room for one. */
static void put_head(const struct pass *p, unsigned layer, unsigned head, size_t token, const float *turned,
		     float *key)
{
	struct llm *m = p->m;
	const struct hyper *h = &m->model->h;
	size_t nope = h->key_mla - h->rope_dims;
	float *kv = row(m->unfold, token) + head * (nope + h->value_mla);
	uint32_t position = p->at + (uint32_t)token;

	kv_put_value(&m->kv, kv_of_head(&m->kv, layer, head), position, kv + nope, m->v);
	memcpy(key, kv, nope * sizeof(*key));
	memcpy(key + nope, turned, h->rope_dims * sizeof(*key));
	kv_put_key(&m->kv, kv_of_head(&m->kv, layer, head), position, key, m->v);
}

static void put_token(const struct pass *p, unsigned layer, size_t token, float *key)
{
	struct llm *m = p->m;
	const struct hyper *h = &m->model->h;
	const struct layer *l = &m->model->layer[layer];
	float *c = row(latent(m), token);

	if (l->rope)
		rope_turn(m->v, c + h->kv_rank, row(m->turn, token), h->rope_dims, m->model->arch->rope);
	if (!folds(l)) {
		for (unsigned i = 0; i < l->heads; i++)
			put_head(p, layer, i, token, c + h->kv_rank, key);
		return;
	}
	kv_put_key(&m->kv, kv_of_head(&m->kv, layer, 0), p->at + (uint32_t)token, c, m->v);
	kv_put_value(&m->kv, kv_of_head(&m->kv, layer, 0), p->at + (uint32_t)token, c, m->v);
}

/* Queries are made ready, and keys and values of all tokens go to the cache. A barrier is behind it. */
static void fill_cache(const struct pass *p, const struct team *t, unsigned layer)
{
	struct llm *m = p->m;
	const struct hyper *h = &m->model->h;
	const struct layer *l = &m->model->layer[layer];
	size_t from, to;

	if (folds(l)) {
		each_head(p, t, &l->k_b, l->heads, m->unfold, h->key_mla, m->q, m->kv.key_len);
		team_barrier(t);
	} else {
		struct act a = load_rows(p, t, linear_forms(&l->kv_b), latent(m), p->n, h->kv_rank);

		apply(p, t, &l->kv_b, &a, m->unfold);
	}
	team_share(t, p->n, 1, &from, &to);
	for (size_t i = from; i < to; i++) {
		finish_queries(p, l, i);
		put_token(p, layer, i, m->scratch + t->id * m->scratch_size);
	}
	team_barrier(t);
}

void attend_mla(const struct pass *p, const struct pass *rest, const struct team *t, unsigned layer)
{
	struct llm *m = p->m;
	const struct hyper *h = &m->model->h;
	const struct layer *l = &m->model->layer[layer];
	const struct heads heads = { l->heads, m->kv_heads[layer], m->q, m->att };
	struct rows seen = m->att;
	struct act a;

	compress(p, t, l);
	unfold_queries(p, t, l);
	fill_cache(p, t, layer);
	narrow(p, rest, t);
	if (!rest->n)
		return;
	attend_cache(rest, t, layer, &heads);
	if (folds(l)) {
		seen = m->unfold;
		each_head(rest, t, &l->v_b, l->heads, m->att, m->kv.value_len, seen, h->value_mla);
		team_barrier(t);
	}
	a = load_rows(rest, t, linear_forms(&l->o), seen, rest->n, l->o.w.in);
	apply(rest, t, &l->o, &a, m->out);
}
