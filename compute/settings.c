/* SPDX-License-Identifier: MIT */
/* A model's settings, each checked before anything is computed from it. */
#include "error.h"
#include "network.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/* Layers that are there and would be left out: the key is wrong, or the file of another model's. */
static int count_layers(const struct keys *k, uint32_t layers)
{
	const struct weight *w;

	for (size_t i = 0; (w = source_weight(k->s, i)); i++) {
		uint64_t layer = 0;
		size_t at = 4;

		if (w->name.n < 5 || memcmp(w->name.p, "blk.", 4))
			continue;
		for (; at < w->name.n && at < 14 && w->name.p[at] >= '0' && w->name.p[at] <= '9'; at++)
			layer = 10 * layer + (uint64_t)(w->name.p[at] - '0');
		if (at < w->name.n && w->name.p[at] == '.' && layer >= layers)
			return key_fail(k, "block_count", "there are %u, and yet a tensor '%.*s'", layers,
					w->name.n < 80 ? (int)w->name.n : 80, w->name.p);
	}
	return 0;
}

static int sizes(struct hyper *h, const struct keys *k)
{
	uint32_t more = 0;
	int err = need_u32(k, "block_count", &h->layers);

	err = err ? err : key_u32(k, "nextn_predict_layers", &more);
	err = err ? err : need_u32(k, "embedding_length", &h->width);
	err = err ? err : need_u32(k, "context_length", &h->context);
	if (err)
		return err;
	if (!h->layers || h->layers > MAX_LAYERS)
		return key_fail(k, "block_count", "%u is not between 1 and %u", h->layers, MAX_LAYERS);
	err = count_layers(k, h->layers);
	if (err)
		return err;
	if (more >= h->layers)
		return key_fail(k, "nextn_predict_layers", "%u of %u layers", more, h->layers);
	if (!h->width)
		return key_fail(k, "embedding_length", "it may not be 0");
	if (!h->context)
		return key_fail(k, "context_length", "it may not be 0");
	h->layers -= more;
	return 0;
}

static int set_heads(struct model *m, const struct keys *k, const uint32_t *heads, const uint32_t *kv)
{
	struct hyper *h = &m->h;

	for (uint32_t i = 0; i < h->layers; i++) {
		if (!heads[i] || heads[i] > 1 << 16)
			return key_fail(k, "attention.head_count", "%u is not between 1 and 65536", heads[i]);
		if (!kv[i] || heads[i] % kv[i])
			return key_fail(k, "attention.head_count_kv", "%u does not divide attention.head_count, %u",
					kv[i], heads[i]);
		m->layer[i].heads = heads[i];
		m->layer[i].kv_heads = kv[i];
		h->wide_heads = heads[i] > h->wide_heads ? heads[i] : h->wide_heads;
		h->wide_kv = kv[i] > h->wide_kv ? kv[i] : h->wide_kv;
	}
	return 0;
}

static int heads(struct model *m, const struct keys *k)
{
	uint32_t n[MAX_LAYERS] = { 0 }, kv[MAX_LAYERS];
	int err = key_has(k, "attention.head_count") ? key_per_layer(k, "attention.head_count", n, m->h.layers) :
		  key_fail(k, "attention.head_count", "this key is missing");

	if (err)
		return err;
	memcpy(kv, n, sizeof(kv));
	err = key_per_layer(k, "attention.head_count_kv", kv, m->h.layers);
	return err ? err : set_heads(m, k, n, kv);
}

static int head_sizes(struct model *m, const struct keys *k)
{
	struct hyper *h = &m->h;
	int err;

	if (!key_has(k, "attention.key_length") && h->width % m->layer[0].heads)
		return key_fail(k, "attention.head_count", "%u does not divide embedding_length, %u", m->layer[0].heads,
				h->width);
	h->key_len = h->value_len = h->width / m->layer[0].heads;
	err = key_u32(k, "attention.key_length", &h->key_len);
	err = err ? err : key_u32(k, "attention.value_length", &h->value_len);
	h->rope_dims = m->arch->rope == ROPE_NONE ? 0 : h->key_len;
	if (!err && m->arch->rope != ROPE_NONE)
		err = key_u32(k, "rope.dimension_count", &h->rope_dims);
	if (err)
		return err;
	if (!h->key_len || h->key_len > 1 << 16)
		return key_fail(k, "attention.key_length", "%u is not between 1 and 65536", h->key_len);
	if (!h->value_len || h->value_len > 1 << 16)
		return key_fail(k, "attention.value_length", "%u is not between 1 and 65536", h->value_len);
	if (h->rope_dims % 2 || h->rope_dims > h->key_len)
		return key_fail(k, "rope.dimension_count", "%u is odd or more than a head has, %u", h->rope_dims,
				h->key_len);
	return 0;
}

/* Low-rank attention: key_length and value_length tell what the cache holds where *_mla are there, else real heads. */
static int ranks(struct hyper *h, const struct keys *k)
{
	int err = need_u32(k, "attention.kv_lora_rank", &h->kv_rank);

	h->key_mla = h->key_len;
	h->value_mla = h->value_len;
	err = err ? err : key_u32(k, "attention.q_lora_rank", &h->q_rank);
	err = err ? err : key_u32(k, "attention.key_length_mla", &h->key_mla);
	err = err ? err : key_u32(k, "attention.value_length_mla", &h->value_mla);
	if (err)
		return err;
	if (!h->kv_rank || h->kv_rank > 1 << 16)
		return key_fail(k, "attention.kv_lora_rank", "%u is not between 1 and 65536", h->kv_rank);
	if (h->key_mla <= h->rope_dims || h->key_mla > 1 << 16)
		return key_fail(k, "attention.key_length_mla", "%u is not more than rope.dimension_count, %u",
				h->key_mla, h->rope_dims);
	if (!h->value_mla || h->value_mla > 1 << 16)
		return key_fail(k, "attention.value_length_mla", "%u is not between 1 and 65536", h->value_mla);
	return 0;
}

static int norms(struct hyper *h, const struct keys *k)
{
	const char *rms = "attention.layer_norm_rms_epsilon", *layer = "attention.layer_norm_epsilon";
	int err;

	h->rms = key_has(k, rms);
	if (!h->rms && !key_has(k, layer))
		return key_fail(k, rms, "this key is missing, and so is %s", layer);
	err = key_f32(k, h->rms ? rms : layer, &h->eps);
	if (!err && h->eps < 0)
		return key_fail(k, h->rms ? rms : layer, "%g is negative", (double)h->eps);
	return err;
}

static int scales(struct model *m, const struct keys *k)
{
	struct hyper *h = &m->h;
	float divisor = 1;
	int err;

	h->query_scale = 1 / sqrtf((float)(m->arch->rank_attention ? h->key_mla : h->key_len));
	h->embed_scale = m->arch->scale_embedding ? sqrtf((float)h->width) : 1;
	h->residual_scale = 1;
	err = key_f32(k, "attention.scale", &h->query_scale);
	err = err ? err : key_f32(k, "attn_logit_softcapping", &h->attn_cap);
	err = err ? err : key_f32(k, "final_logit_softcapping", &h->final_cap);
	err = err ? err : key_f32(k, "embedding_scale", &h->embed_scale);
	err = err ? err : key_f32(k, "residual_scale", &h->residual_scale);
	err = err ? err : key_f32(k, "logit_scale", &divisor);
	if (!err && divisor == 0)
		return key_fail(k, "logit_scale", "it may not be 0");
	h->logit_scale = 1 / divisor;
	return err;
}

/* One number n: each n-th layer sees all. Or for each layer whether it slides. */
static int window_pattern(struct model *m, const struct keys *k)
{
	const char *key = "attention.sliding_window_pattern";
	uint32_t slides[MAX_LAYERS], every = m->arch->window_every;
	const int64_t *items;
	char name[160];
	size_t n = 0;

	strcpy(name, k->arch);
	strcat(strcat(name, "."), key);
	if (source_has(k->s, name)) {
		int err = source_i64s(k->s, name, &items, &n, k->e);

		err = err ? err : key_per_layer(k, key, slides, m->h.layers);
		if (err)
			return err;
		every = slides[0];
	}
	for (uint32_t i = 0; i < m->h.layers; i++)
		if (n > 1 ? slides[i] : every && i % every != every - 1)
			m->layer[i].window = m->h.window;
	return 0;
}

static int window(struct model *m, const struct keys *k)
{
	int err;

	if (!m->arch->window_every)
		return 0;
	err = key_u32(k, "attention.sliding_window", &m->h.window);
	return err;
}

static int expert_counts(struct model *m, const struct keys *k, uint32_t *used, uint32_t *ffn, uint32_t *n)
{
	struct hyper *h = &m->h;
	uint32_t most = 0;
	int err = key_u32(k, "expert_count", n);

	err = err ? err : key_per_layer(k, "expert_used_count", used, h->layers);
	err = err ? err : key_per_layer(k, "expert_feed_forward_length", ffn, h->layers);
	err = err ? err : key_u32(k, "leading_dense_block_count", &h->dense_first);
	if (err || !*n)
		return err;
	if (*n > MAX_EXPERTS)
		return key_fail(k, "expert_count", "%u is more than %u", *n, MAX_EXPERTS);
	for (uint32_t i = 0; i < h->layers; i++)
		most = used[i] > most ? used[i] : most;
	if (!most || most > *n)
		return key_fail(k, "expert_used_count", "%u is not between 1 and expert_count, %u", most, *n);
	return 0;
}

static int expert_groups(struct hyper *h, const struct keys *k, uint32_t experts)
{
	int err = key_u32(k, "expert_group_count", &h->groups);

	err = err ? err : key_u32(k, "expert_group_used_count", &h->groups_used);
	if (err || h->groups <= 1)
		return err;
	if (experts % h->groups)
		return key_fail(k, "expert_group_count", "%u does not divide expert_count, %u", h->groups, experts);
	if (!h->groups_used || h->groups_used > h->groups)
		return key_fail(k, "expert_group_used_count", "%u is not between 1 and %u", h->groups_used, h->groups);
	return 0;
}

static int expert_weights(struct model *m, const struct keys *k)
{
	struct hyper *h = &m->h;
	int err;

	h->gating = m->arch->gating ? m->arch->gating : GATE_SOFTMAX;
	h->weights_norm = !m->arch->keeps_weights;
	h->weights_scale = 1;
	err = key_u32(k, "expert_gating_func", &h->gating);
	err = err ? err : key_bool(k, "expert_weights_norm", &h->weights_norm);
	err = err ? err : key_f32(k, "expert_weights_scale", &h->weights_scale);
	if (!err && (h->gating < GATE_SOFTMAX || h->gating > GATE_CHOSEN))
		return key_fail(k, "expert_gating_func", "%u is none of 1, 2 and 3", h->gating);
	if (h->weights_scale == 0)
		h->weights_scale = 1;
	return err;
}

static int experts(struct model *m, const struct keys *k)
{
	uint32_t used[MAX_LAYERS] = { 0 }, ffn[MAX_LAYERS] = { 0 }, n = 0, shared = 0, shared_ffn = 0;
	int err = expert_counts(m, k, used, ffn, &n);

	err = err ? err : expert_groups(&m->h, k, n);
	err = err ? err : expert_weights(m, k);
	err = err ? err : key_u32(k, "expert_shared_count", &shared);
	err = err ? err : key_u32(k, "expert_shared_feed_forward_length", &shared_ffn);
	for (uint32_t i = m->h.dense_first; !err && n && i < m->h.layers; i++) {
		struct layer *l = &m->layer[i];

		if (!used[i])
			continue;
		l->experts = n;
		l->used = used[i];
		l->expert_ffn = ffn[i];
		l->shared_ffn = shared_ffn ? shared_ffn : ffn[i] * shared;
	}
	return err;
}

static int feed_forward(struct model *m, const struct keys *k)
{
	uint32_t n[MAX_LAYERS] = { 0 };
	int err = key_per_layer(k, "feed_forward_length", n, m->h.layers);

	for (uint32_t i = 0; !err && i < m->h.layers; i++) {
		struct layer *l = &m->layer[i];

		l->ffn = n[i];
		if (l->experts && !l->expert_ffn)
			l->expert_ffn = n[i];
		if (!l->ffn && !l->experts)
			return key_fail(k, "feed_forward_length", "it is missing or 0 in layer %u", i);
		if (l->ffn > 1 << 24 || l->expert_ffn > 1 << 24 || l->shared_ffn > 1 << 24)
			return key_fail(k, "feed_forward_length", "more than %u in layer %u", 1 << 24, i);
	}
	return err;
}

static int pooling(struct hyper *h, const struct keys *k)
{
	uint32_t p = LLM_POOL_NONE;
	int err = key_bool(k, "attention.causal", &h->causal);

	err = err ? err : key_u32(k, "pooling_type", &p);
	if (!err && p > LLM_POOL_RANK)
		return key_fail(k, "pooling_type", "%u is none of 0 to 4", p);
	h->pooling = (enum llm_pooling)p;
	return err;
}

int model_settings(struct model *m, struct source *s, struct gguf_error *e)
{
	const struct keys k = { s, m->arch->name, e };
	struct hyper *h = &m->h;
	int err = sizes(h, &k);

	if (err)
		return err;
	m->layer = model_alloc(m, h->layers, sizeof(*m->layer));
	if (!m->layer)
		return gguf_fail(e, -ENOMEM, 0, "out of memory for %u layers", h->layers);
	h->causal = !m->arch->embeds;
	h->yarn_fast = 32;
	h->yarn_slow = 1;
	err = heads(m, &k);
	err = err ? err : head_sizes(m, &k);
	if (!err && m->arch->rank_attention)
		err = ranks(h, &k);
	err = err ? err : norms(h, &k);
	err = err ? err : scales(m, &k);
	err = err ? err : experts(m, &k);
	err = err ? err : feed_forward(m, &k);
	err = err ? err : pooling(h, &k);
	err = err ? err : window(m, &k);
	if (!err && m->arch->settle)
		err = m->arch->settle(m, &k);
	return err ? err : window_pattern(m, &k);
}
