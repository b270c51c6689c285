/* SPDX-License-Identifier: MIT */
#include "network.h"
#include <math.h>

static const char *const needs[] = {
	"attn_q_norm.weight", "attn_k_norm.weight", "post_attention_norm.weight", "post_ffw_norm.weight", NULL
};

/* The 27B model (62 layers) scales queries by its width, not by the length of a head. */
static int settle(struct model *m, const struct keys *k)
{
	if (m->h.layers == 62 && !key_has(k, "attention.scale"))
		m->h.query_scale = 1 / sqrtf((float)m->h.width / (float)m->layer[0].heads);
	return 0;
}

const struct arch arch_gemma3 = {
	.name = "gemma3", .act = ACT_GELU, .scale_embedding = true, .window_every = 6,
	.local_rope = true, .local_base = 10000, .needs = needs, .settle = settle,
};
