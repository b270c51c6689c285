/* SPDX-License-Identifier: MIT */
/* How many threads a batch is worth. */
#include "engine.h"

/*
 * WORK multiply-adds of one token between two barriers take some microseconds, many times what a barrier does. Among many
 * tokens FASTER are done in that time. STEPS: of a layer, between barriers.
 */
enum { WORK = 128 << 10, FASTER = 4, STEPS = 6 };

/* Multiply-adds of a layer's matrices for a token. */
static double layer_work(const struct hyper *h, const struct layer *l)
{
	double heads = 2.0 * l->heads * h->key_len + (double)l->kv_heads * (h->key_len + h->value_len);
	double ffn = l->experts ? (double)l->used * l->expert_ffn + l->shared_ffn : l->ffn;

	return h->width * (heads + 3 * ffn);
}

unsigned crew(const struct llm *m, size_t tokens)
{
	const struct model *model = m->model;
	double work = 0, each = (double)(tokens + FASTER - 1) / FASTER;
	unsigned most = m->opt.threads, n;

	if (!m->choose)
		return most;
	for (uint32_t i = 0; i < model->h.layers; i++)
		work += layer_work(&model->h, &model->layer[i]) / model->h.layers;
	work *= each / STEPS / WORK;
	n = work < most ? (unsigned)work : most;
	return n ? n : 1;
}
