/* SPDX-License-Identifier: MIT */
/* What a pass needs, measured and allotted by the same lines. */
#include "memory.h"
#include "error.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { ALIGN = 64 };

/* Hands out parts of memory, or (base NULL) only adds them up. SIZE_MAX: more than there can be. */
struct allotment {
	char *base;
	size_t used;
};

static void *take(struct allotment *a, size_t n, size_t size)
{
	size_t at = a->used, bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || __builtin_add_overflow(bytes, ALIGN - 1, &bytes) ||
	    __builtin_add_overflow(at, bytes / ALIGN * ALIGN, &a->used)) {
		a->used = SIZE_MAX;
		return NULL;
	}
	return a->base ? a->base + at : NULL;
}

/* n rows of len floats, each on a line of the cache; no rows where len is 0. */
static struct rows take_rows(struct allotment *a, size_t n, size_t len)
{
	size_t stride = (len + 15) / 16 * 16;
	size_t all;

	if (__builtin_mul_overflow(n, stride, &all))
		all = SIZE_MAX;
	return (struct rows){ len ? take(a, all, sizeof(float)) : NULL, stride };
}

static size_t more(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The widest of all layers in each respect. */
struct widest {
	size_t q, att, gate, e_gate, shared, experts, used, act;
};

static struct widest widest_of(const struct llm *m)
{
	const struct hyper *h = &m->model->h;
	struct widest w = { .act = h->width };

	for (uint32_t i = 0; i < h->layers; i++) {
		const struct layer *l = &m->model->layer[i];
		size_t heads = l->heads, kv = m->model->arch->rank_attention ? 0 : l->kv_heads;

		w.q = more(w.q, heads * m->kv.key_len + kv * (m->kv.key_len + m->kv.value_len));
		w.att = more(w.att, heads * m->kv.value_len);
		w.act = more(w.act, l->o.w.in);
		w.gate = more(w.gate, l->experts ? 0 : 2 * (size_t)l->ffn);
		w.e_gate = more(w.e_gate, l->experts ? 2 * (size_t)l->expert_ffn : 0);
		w.shared = more(w.shared, l->s_up.w.out ? 2 * (size_t)l->shared_ffn : 0);
		w.experts = more(w.experts, l->experts);
		w.used = more(w.used, l->used);
	}
	w.act = more(more(w.act, w.gate / 2), more(w.e_gate / 2, w.shared / 2));
	w.act = more(w.act, more(h->q_rank, h->kv_rank));
	return w;
}

static void allot_ranks(struct llm *m, struct allotment *a, size_t n)
{
	const struct hyper *h = &m->model->h;
	size_t heads = h->wide_heads;

	if (!m->model->arch->rank_attention)
		return;
	m->low = take_rows(a, n, (size_t)h->q_rank + h->kv_rank + h->rope_dims);
	m->unfold = take_rows(a, n, heads * more(h->key_mla, h->key_mla - h->rope_dims + (size_t)h->value_mla));
}

static void allot_experts(struct llm *m, struct allotment *a, size_t n, const struct widest *w)
{
	size_t pairs = n * w->used;

	if (!w->experts)
		return;
	m->router = take_rows(a, n, w->experts + 1);
	m->shared = take_rows(a, n, w->shared);
	m->e_gate = take_rows(a, pairs, w->e_gate);
	m->e_out = take_rows(a, pairs, m->model->h.width);
	m->chosen = take(a, pairs, sizeof(*m->chosen));
	m->place = take(a, pairs, sizeof(*m->place));
	m->row_token = take(a, pairs, sizeof(*m->row_token));
	m->weight = take(a, pairs, sizeof(*m->weight));
	m->first = take(a, 2 * w->experts + 1, sizeof(*m->first));
	m->active = take(a, w->experts, sizeof(*m->active));
}

/* Allots everything but the cache and the activations, from base on. Returns the bytes; SIZE_MAX: too many. */
static size_t allot(struct llm *m, char *base)
{
	struct allotment a = { base, 0 };
	const struct hyper *h = &m->model->h;
	const struct widest w = widest_of(m);
	size_t n = m->opt.batch;

	m->x = take_rows(&a, n, h->width);
	m->h = take_rows(&a, n, h->width);
	m->out = take_rows(&a, n, h->width);
	m->q = take_rows(&a, n, w.q);
	m->att = take_rows(&a, n, w.att);
	m->gate = take_rows(&a, n, w.gate);
	m->turn = take_rows(&a, n, m->model->rope.dims);
	m->turn_local = take_rows(&a, n, m->model->rope_local.dims);
	allot_ranks(m, &a, n);
	allot_experts(m, &a, n, &w);
	m->scratch_size = attend_scratch(m->kv.key_len, m->kv.value_len);
	m->scratch = take(&a, m->opt.threads * m->scratch_size, sizeof(float));
	return a.used;
}

static size_t head_act_len(const struct hyper *h)
{
	return more(h->key_mla, h->kv_rank);
}

/* What the matrices of a chosen expert multiply: the hidden state, then its gate. */
static size_t expert_act_len(const struct llm *m, const struct widest *w)
{
	return more(m->model->h.width, w->e_gate / 2);
}

void memory_measure(struct llm *m, struct llm_estimate *est)
{
	const struct widest w = widest_of(m);
	size_t n = m->opt.batch;

	est->weights = m->model->bytes;
	est->cache = kv_measure(&m->kv, m->kv_heads, m->model->h.layers);
	est->buffers = allot(m, NULL) + act_bytes(n, w.act);
	if (w.experts)
		est->buffers += act_bytes(n * w.used, expert_act_len(m, &w));
	if (m->model->arch->rank_attention)
		est->buffers += m->opt.threads * act_bytes(n, head_act_len(&m->model->h));
}

static int new_acts(struct llm *m)
{
	const struct widest w = widest_of(m);
	int err = act_new(&m->act, m->opt.batch, w.act);

	if (!err && w.experts)
		err = act_new(&m->expert_act, m->opt.batch * w.used, expert_act_len(m, &w));
	if (err || !m->model->arch->rank_attention)
		return err;
	m->head_act = calloc(m->opt.threads, sizeof(struct act *));
	if (!m->head_act)
		return -ENOMEM;
	for (unsigned i = 0; i < m->opt.threads && !err; i++)
		err = act_new(&m->head_act[i], m->opt.batch, head_act_len(&m->model->h));
	return err;
}

static int no_memory(struct llm *m, struct gguf_error *e)
{
	struct llm_estimate est;

	memory_measure(m, &est);
	return gguf_fail(e, -ENOMEM, 0, "not enough memory: weights %llu MiB, cache %llu MiB, buffers %llu MiB",
			 (unsigned long long)(est.weights >> 20), (unsigned long long)(est.cache >> 20),
			 (unsigned long long)(est.buffers >> 20));
}

int memory_new(struct llm *m, struct gguf_error *e)
{
	int err = kv_new(&m->kv, m->kv_heads, m->model->h.layers);

	m->size = allot(m, NULL);
	if (err || m->size == SIZE_MAX)
		return no_memory(m, e);
	m->memory = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m->memory == MAP_FAILED) {
		m->memory = NULL;
		return no_memory(m, e);
	}
	madvise(m->memory, m->size, MADV_HUGEPAGE);
	allot(m, m->memory);
	err = new_acts(m);
	return err ? no_memory(m, e) : 0;
}

void memory_free(struct llm *m)
{
	kv_free(&m->kv);
	if (m->memory)
		munmap(m->memory, m->size);
	for (unsigned i = 0; m->head_act && i < m->opt.threads; i++)
		act_free(m->head_act[i]);
	free(m->head_act);
	act_free(m->act);
	act_free(m->expert_act);
}
