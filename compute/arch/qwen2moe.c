/* SPDX-License-Identifier: MIT */
#include "network.h"

static const char *const needs[] = { "attn_q.bias", "attn_k.bias", "attn_v.bias", "ffn_gate_inp_shexp.weight", NULL };

/* What the keys leave out: the experts in use share feed_forward_length, the shared expert has all of it. */
static int settle(struct model *m, const struct keys *k)
{
	for (uint32_t i = 0; i < m->h.layers; i++) {
		struct layer *l = &m->layer[i];

		if (l->experts && !key_has(k, "expert_feed_forward_length"))
			l->expert_ffn = l->ffn / l->used;
		if (l->experts && !l->shared_ffn)
			l->shared_ffn = l->ffn;
	}
	return 0;
}

const struct arch arch_qwen2moe = {
	.name = "qwen2moe", .keeps_weights = true, .needs = needs, .settle = settle,
};
