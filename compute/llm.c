/* SPDX-License-Identifier: MIT */
#include "llm.h"
#include "clock.h"
#include "engine.h"
#include "error.h"
#include "finite.h"
#include "memory.h"
#include "rope.h"
#include "threads.h"
#include <errno.h>
#include <stdlib.h>

static enum cache_type cache_type(const struct llm *m, enum cache_type wanted)
{
	bool both = m->opt.k == CACHE_AUTO && m->opt.v == CACHE_AUTO;

	return wanted != CACHE_AUTO ? wanted : both ? CACHE_I16 : CACHE_F16;
}

/* Old low-rank files unfold keys and values before the cache, for every head; new ones cache what they unfold from. */
static void cache_shape(struct llm *m)
{
	const struct hyper *h = &m->model->h;
	bool rank = m->model->arch->rank_attention, folds = rank && m->model->layer[0].k_b.w.out;

	m->kv.key_len = folds ? h->kv_rank + h->rope_dims : rank ? h->key_mla : h->key_len;
	m->kv.value_len = folds ? h->kv_rank : rank ? h->value_mla : h->value_len;
	for (uint32_t i = 0; i < h->layers; i++) {
		const struct layer *l = &m->model->layer[i];

		m->kv_heads[i] = folds ? 1 : rank ? l->heads : l->kv_heads;
	}
	m->kv.k_type = cache_type(m, m->opt.k);
	m->kv.v_type = cache_type(m, m->opt.v);
	m->kv.positions = (m->opt.context + CACHE_GROUP - 1) / CACHE_GROUP * CACHE_GROUP;
}

/* A model that sees what follows a token needs its whole text in one batch. */
static void settle_options(struct llm *m, const struct llm_options *o)
{
	const struct hyper *h = &m->model->h;

	m->opt = *o;
	m->opt.threads = o->threads ? o->threads : threads_allowed();
	crew_new(&m->crew, m->model, m->opt.threads, !o->threads);
	m->opt.context = o->context ? o->context : h->context;
	if (m->model->position.out && m->opt.context > h->context)
		m->opt.context = h->context;
	m->opt.batch = h->causal ? (o->batch ? o->batch : 512) : m->opt.context;
	if (m->opt.batch > m->opt.context)
		m->opt.batch = m->opt.context;
}

static int new_shell(struct llm **out, struct source *s, const struct llm_options *o, struct gguf_error *e)
{
	struct llm *m = calloc(1, sizeof(*m));
	int err = m ? model_open(&m->model, s, o->context, e) : gguf_fail(e, -ENOMEM, 0, "out of memory");

	if (err) {
		free(m);
		return err;
	}
	m->v = vec_best();
	m->kv_heads = calloc(m->model->h.layers, sizeof(*m->kv_heads));
	if (!m->kv_heads) {
		llm_close(m);
		return gguf_fail(e, -ENOMEM, 0, "out of memory");
	}
	settle_options(m, o);
	if (m->opt.context > INT32_MAX - CACHE_GROUP) {
		err = gguf_fail(e, -EINVAL, 0, "a context of %u positions is too long", m->opt.context);
		llm_close(m);
		return err;
	}
	cache_shape(m);
	*out = m;
	return 0;
}

int llm_estimate(struct source *s, const struct llm_options *o, struct llm_estimate *est, struct gguf_error *e)
{
	struct llm *m;
	int err = new_shell(&m, s, o, e);

	if (err)
		return err;
	memory_measure(m, est);
	llm_close(m);
	return 0;
}

static int new_team(struct llm *m, struct gguf_error *e)
{
	int err = team_new(&m->team, m->opt.threads);

	if (err == -ENOBUFS)
		return gguf_fail(e, err, 0, "threads need stacks of %d KiB: ulimit -s or OMP_STACKSIZE allow less",
				 TEAM_STACK >> 10);
	if (err == -EAGAIN)
		return gguf_fail(e, err, 0, "%u threads cannot be made: memory or processes are limited (ulimit -v, ulimit -u)",
				 m->opt.threads);
	return err ? gguf_fail(e, err, 0, "no memory for %u threads", m->opt.threads) : 0;
}

int llm_open(struct llm **out, struct source *s, const struct llm_options *o, struct gguf_error *e)
{
	struct llm *m;
	int err = mat_init(e);

	err = err ? err : source_map(s, e);
	err = err ? err : new_shell(&m, s, o, e);
	if (err)
		return err;
	err = memory_new(m, e);
	err = err ? err : new_team(m, e);
	if (!err && finite_new(&m->look, s, o->check))
		err = gguf_fail(e, -ENOMEM, 0, "out of memory");
	if (err) {
		llm_close(m);
		return err;
	}
	*out = m;
	return 0;
}

void llm_close(struct llm *m)
{
	if (!m)
		return;
	memory_free(m);
	finite_free(m->look);
	team_free(m->team);
	model_close(m->model);
	free(m->kv_heads);
	free(m);
}

int llm_check(struct llm *m, struct gguf_error *e)
{
	int err = m->look ? finite_end(m->look, m->team, e) : 0;

	if (!err) {
		finite_free(m->look);
		m->look = NULL;
	}
	return err;
}

size_t llm_vocab(const struct llm *m)
{
	return m->model->h.vocab;
}

size_t llm_width(const struct llm *m)
{
	return m->model->h.width;
}

unsigned llm_context(const struct llm *m)
{
	return m->opt.context;
}

unsigned llm_trained(const struct llm *m)
{
	return m->model->h.context;
}

unsigned llm_threads(const struct llm *m)
{
	return m->opt.threads;
}

enum llm_pooling llm_pooling(const struct llm *m)
{
	return m->model->h.pooling;
}

bool llm_is_embedding(const struct llm *m)
{
	return m->model->arch->embeds;
}

unsigned llm_position(const struct llm *m)
{
	return m->position;
}

int llm_rewind(struct llm *m, unsigned position)
{
	if (position > m->position)
		return -ERANGE;
	m->position = position;
	return 0;
}

static int check_tokens(const struct llm *m, const int32_t *ids, size_t n, struct gguf_error *e)
{
	if (n > m->opt.context - m->position)
		return gguf_fail(e, -ENOSPC, 0, "the context of %u tokens is full: %u are in it, %zu more were given",
				 m->opt.context, m->position, n);
	for (size_t i = 0; i < n; i++)
		if (ids[i] < 0 || (uint32_t)ids[i] >= m->model->h.vocab)
			return gguf_fail(e, -EINVAL, 0, "token %d is not in the vocabulary of %u", ids[i],
					 m->model->h.vocab);
	return 0;
}

/* The first batch says nothing of others: it may bring in the weights. */
static void run_pass(struct llm *m, struct pass *p)
{
	bool first = m->look;
	double start = clock_now(), slept = team_run(m->team, crew_next(&m->crew, p->n), forward, p);

	if (!first)
		crew_took(&m->crew, clock_now() - start, slept);
}

/* All n tokens, batch by batch. */
static int feed(struct llm *m, const int32_t *ids, size_t n, float *logits, bool every, float *hidden,
		struct gguf_error *e)
{
	int err;

	for (size_t i = 0; i < n;) {
		size_t some = n - i < m->opt.batch ? n - i : m->opt.batch;
		float *last = i + some == n ? logits : NULL;
		struct pass p = {
			.m = m, .ids = ids + i, .n = some, .at = m->position, .every = every,
			.logits = logits && every ? logits + i * m->model->h.vocab : last,
			.hidden = hidden ? hidden + i * m->model->h.width : NULL,
		};

		run_pass(m, &p);
		err = llm_check(m, e);
		if (err)
			return err;
		m->position += (unsigned)some;
		i += some;
	}
	return 0;
}

int llm_eval(struct llm *m, const int32_t *ids, size_t n, float *logits, bool every, struct gguf_error *e)
{
	int err = check_tokens(m, ids, n, e);

	if (!err && m->model->arch->embeds && logits)
		return gguf_fail(e, -ENOTSUP, 0, "architecture %s makes embeddings, not text", m->model->arch->name);
	return err ? err : feed(m, ids, n, logits, every, NULL, e);
}

int llm_embed(struct llm *m, const int32_t *ids, size_t n, float *out, struct gguf_error *e)
{
	int err;

	m->position = m->model->h.causal ? m->position : 0;
	err = check_tokens(m, ids, n, e);
	return err ? err : feed(m, ids, n, NULL, false, out, e);
}

/* A key moves to position to, which turns it back by as many positions. */
static void move_key(const struct llm *m, const struct layer *l, char *head, uint32_t to, uint32_t from,
		     const float *turn, float *key)
{
	unsigned at = m->model->arch->rank_attention ? m->kv.key_len - m->model->h.rope_dims : 0;

	kv_get_key(&m->kv, head, from, key);
	if (l->rope)
		rope_turn(m->v, key + at, turn, l->rope->dims, m->model->arch->rope);
	kv_put_key(&m->kv, head, to, key, m->v);
}

static void shift_layer(struct llm *m, unsigned layer, unsigned keep, unsigned n)
{
	const struct layer *l = &m->model->layer[layer];
	float *key = m->scratch, *turn = m->turn.p;

	if (l->rope) {
		struct rope back = *l->rope;

		back.magnitude = 1;
		rope_table(turn, &back, -(int64_t)n);
	}
	for (unsigned head = 0; head < m->kv_heads[layer]; head++)
		for (uint32_t from = keep + n; from < m->position; from++) {
			move_key(m, l, kv_of_head(&m->kv, layer, head), from - n, from, turn, key);
			kv_move_value(&m->kv, kv_of_head(&m->kv, layer, head), from - n, from);
		}
}

int llm_shift(struct llm *m, unsigned keep, unsigned n)
{
	if (m->model->position.out || !m->model->h.causal)
		return -ENOTSUP;
	if (keep > m->position || n > m->position - keep)
		return -ERANGE;
	for (uint32_t i = 0; i < m->model->h.layers; i++)
		shift_layer(m, i, keep, n);
	m->position -= n;
	return 0;
}
