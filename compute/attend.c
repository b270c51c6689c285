/* SPDX-License-Identifier: MIT */
/*
 * Attention: heads of queries over shared heads of keys and values (grouped queries; Ainslie et al. 2023). Scores are
 * never stored whole: softmax is taken online (Milakov and Gimelshein 2018), block by block, as FlashAttention does
 * it.
 */
#include "engine.h"
#include "rope.h"
#include <math.h>
#include <string.h>

float query_scale(const struct hyper *h, uint32_t position)
{
	if (h->temperature == 0)
		return h->query_scale;
	return h->query_scale * (1 + h->temperature * logf((float)(position / h->temperature_length) + 1));
}

/* Cosines and sines of a token in a layer; NULL where positions play no part. */
static const float *turn_of(const struct pass *p, const struct layer *l, size_t token)
{
	if (!l->rope)
		return NULL;
	return row(l->rope == &p->m->model->rope ? p->m->turn : p->m->turn_local, token);
}

/* Keys of all heads, then values of all, behind a token's queries: as a fused product gives them. */
static struct rows kv_rows(const struct llm *m, const struct layer *l)
{
	return rows_at(m->q, (size_t)l->heads * m->model->h.key_len);
}

/* What a query or key goes through after its product. */
static void turn_head(const struct pass *p, const struct layer *l, const struct norm *n, float *x, size_t token)
{
	const struct model *m = p->m->model;
	const float *turn = turn_of(p, l, token);

	if (n->w && !l->norm_whole)
		p->m->v->norm_rms(x, x, n->w, m->h.key_len, m->h.eps);
	if (turn)
		rope_turn(p->m->v, x, turn, l->rope->dims, m->arch->rope);
}

/* Head number i of a token: queries are made ready, keys and values go to the cache. */
static void place_head(const struct pass *p, unsigned layer, size_t token, unsigned i)
{
	const struct llm *m = p->m;
	const struct hyper *h = &m->model->h;
	const struct layer *l = &m->model->layer[layer];
	uint32_t position = p->at + (uint32_t)token;
	float *x;

	if (i < l->heads) {
		x = row(m->q, token) + (size_t)i * h->key_len;
		turn_head(p, l, &l->q_norm, x, token);
		m->v->scale(x, query_scale(h, position), h->key_len);
		return;
	}
	i -= l->heads;
	x = row(kv_rows(m, l), token) + (size_t)i * h->key_len;
	if (i < l->kv_heads) {
		turn_head(p, l, &l->k_norm, x, token);
		kv_put_key(&m->kv, kv_of_head(&m->kv, layer, i), position, x, m->v);
		return;
	}
	i -= l->kv_heads;
	x = row(kv_rows(m, l), token) + (size_t)l->kv_heads * h->key_len + (size_t)i * h->value_len;
	kv_put_value(&m->kv, kv_of_head(&m->kv, layer, i), position, x, m->v);
}

/* What is made of the hidden states: queries, or keys and values, or (by a fused product always) both. */
enum { QUERIES = 1, CACHED = 2 };

/* place_head for the heads that parts names, of all tokens. A barrier is behind it. */
static void place_heads(const struct pass *p, const struct team *t, unsigned layer, unsigned parts)
{
	const struct layer *l = &p->m->model->layer[layer];
	unsigned first = parts & QUERIES ? 0 : l->heads, end = parts & CACHED ? l->heads + 2 * l->kv_heads : l->heads;
	unsigned each = end - first;
	size_t from, to;

	team_share(t, p->n * each, 1, &from, &to);
	for (size_t i = from; i < to; i++)
		place_head(p, layer, i / each, first + (unsigned)(i % each));
	team_barrier(t);
}

unsigned attend_forms(const struct llm *m, const struct layer *l)
{
	if (m->model->arch->rank_attention)
		return linear_forms(l->q_a.w.out ? &l->q_a : &l->q) | linear_forms(&l->kv_a);
	return linear_forms(&l->qkv) | linear_forms(&l->q) | linear_forms(&l->k) | linear_forms(&l->v);
}

/* Products of one batch side by side: no thread waits between them. */
static void project(const struct pass *p, const struct team *t, const struct layer *l, unsigned parts)
{
	struct llm *m = p->m;
	struct rows k = kv_rows(m, l), v = rows_at(k, (size_t)l->kv_heads * m->model->h.key_len);
	const struct { const struct linear *l; struct rows y; unsigned part; } each[] = {
		{ &l->q, m->q, QUERIES }, { &l->k, k, CACHED }, { &l->v, v, CACHED },
	};
	enum { EACH = sizeof(each) / sizeof(*each) };
	struct act h = hidden_act(p);
	bool more = false;

	if (l->qkv.w.out) {
		apply(p, t, &l->qkv, &h, m->q);
		return;
	}
	for (int i = 0; i < EACH; i++)
		if (each[i].part & parts)
			mat_mul(&each[i].l->w, &h, each[i].y.p, each[i].y.stride, t);
	team_barrier(t);
	for (int i = 0; i < EACH; i++)
		if (each[i].part & parts) {
			finish_linear(p, t, each[i].l, each[i].y, p->n);
			more |= each[i].l->bias || each[i].l->scale != 1;
		}
	if (more)
		team_barrier(t);
}

/* Norms over all heads at once, as olmo2 has them. A barrier is behind them. */
static void norm_whole(const struct pass *p, const struct team *t, const struct layer *l, unsigned parts)
{
	struct llm *m = p->m;
	const struct hyper *h = &m->model->h;

	if (!l->norm_whole)
		return;
	if (parts & QUERIES)
		normalise(p, t, &l->q_norm, m->q, m->q, p->n, (size_t)l->heads * h->key_len);
	if (parts & CACHED)
		normalise(p, t, &l->k_norm, kv_rows(m, l), kv_rows(m, l), p->n, (size_t)l->kv_heads * h->key_len);
	team_barrier(t);
}

/* From the hidden states in m->act to scaled queries in m->q, or keys and values in the cache, or both. */
static void make_ready(const struct pass *p, const struct team *t, unsigned layer, unsigned parts)
{
	const struct layer *l = &p->m->model->layer[layer];

	project(p, t, l, parts);
	norm_whole(p, t, l, parts);
	place_heads(p, t, layer, parts);
}

void narrow(const struct pass *p, const struct pass *rest, const struct team *t)
{
	struct llm *m = p->m;
	const struct rows moved[] = { m->x, m->h, m->q, m->turn, m->turn_local };

	if (rest->n == p->n)
		return;
	for (size_t k = 0; t->id == 0 && k < sizeof(moved) / sizeof(*moved); k++)
		for (size_t i = 0; moved[k].p && i < rest->n; i++)
			memmove(row(moved[k], i), row(moved[k], i + p->n - rest->n), moved[k].stride * sizeof(float));
	team_barrier(t);
}

/* Fills in row r of a tile: number i of the queries that share a key head, tokens one after another. */
static void tile_row(const struct pass *p, const struct layer *l, const struct heads *h, struct attend_tile *tile,
		     unsigned r, unsigned kv_head, size_t i)
{
	const struct hyper *hy = &p->m->model->h;
	unsigned group = h->heads / h->kv_heads, head = kv_head * group + (unsigned)(i % group);
	size_t token = i / group;
	uint32_t position = p->at + (uint32_t)token;

	tile->q[r] = row(h->q, token) + (size_t)head * tile->kv->key_len;
	tile->out[r] = row(h->out, token) + (size_t)head * tile->kv->value_len;
	tile->to[r] = hy->causal ? position + 1 : p->at + (uint32_t)p->n;
	tile->from[r] = l->window && position + 1 > l->window ? position + 1 - l->window : 0;
	tile->sink[r] = l->sinks ? &l->sinks[head] : NULL;
}

/*
 * One tile: count queries of a key head from number first on, against all that they see. scratch is the thread's own.
 */
static void attend_one(const struct pass *p, unsigned layer, const struct heads *h, unsigned kv_head, size_t first,
		       size_t count, float *scratch)
{
	const struct llm *m = p->m;
	struct attend_tile tile = {
		.kv = &m->kv, .head = kv_of_head(&m->kv, layer, kv_head), .rows = (unsigned)count,
		.cap = m->model->h.attn_cap, .scratch = scratch,
	};

	for (unsigned r = 0; r < count; r++)
		tile_row(p, &m->model->layer[layer], h, &tile, r, kv_head, first + r);
	m->v->attend(&tile);
}

/* Queries of a tile: fewer than there may be where some threads would have no tile. */
static size_t tile_rows(const struct team *t, size_t queries, unsigned kv_heads)
{
	enum { LEAST = 8 };
	size_t rows = ATTEND_ROWS;

	while (rows > LEAST && (queries + rows - 1) / rows * kv_heads < 2 * t->n)
		rows /= 2;
	return rows;
}

void attend_cache(const struct pass *p, const struct team *t, unsigned layer, const struct heads *h)
{
	size_t queries = p->n * (h->heads / h->kv_heads), most = tile_rows(t, queries, h->kv_heads);
	size_t tiles = (queries + most - 1) / most;
	struct team_loop loop = team_loop(t, tiles * h->kv_heads, 1);
	float *scratch = p->m->scratch + t->id * p->m->scratch_size;

	for (size_t from, to; team_take(t, &loop, &from, &to);)
		for (size_t i = from; i < to; i++) {
			size_t first = i % tiles * most;
			size_t count = queries - first < most ? queries - first : most;

			attend_one(p, layer, h, (unsigned)(i / tiles), first, count, scratch);
		}
	team_barrier(t);
}

void attend(const struct pass *p, const struct pass *rest, const struct team *t, unsigned layer)
{
	struct llm *m = p->m;
	const struct layer *l = &m->model->layer[layer];
	const struct heads h = { l->heads, l->kv_heads, m->q, m->att };
	bool later = rest->n < p->n && !l->qkv.w.out; /* queries are made for the rest only */
	struct act a;

	make_ready(p, t, layer, later ? CACHED : CACHED | QUERIES);
	narrow(p, rest, t);
	if (!rest->n)
		return;
	if (later) {
		load_rows(rest, t, linear_forms(&l->q), m->h, rest->n, m->model->h.width);
		make_ready(rest, t, layer, QUERIES);
	}
	attend_cache(rest, t, layer, &h);
	a = load_rows(rest, t, linear_forms(&l->o), m->att, rest->n, l->o.w.in);
	apply(rest, t, &l->o, &a, m->out);
}
