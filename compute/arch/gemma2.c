/* SPDX-License-Identifier: MIT */
#include "network.h"
#include <math.h>

static const char *const needs[] = { "post_attention_norm.weight", "post_ffw_norm.weight", NULL };

/* The 27B model (46 layers) scales queries by its width, not by the length of a head. */
static int settle(struct model *m, const struct keys *k)
{
	if (m->h.layers == 46 && !key_has(k, "attention.scale"))
		m->h.query_scale = 1 / sqrtf((float)m->h.width / (float)m->layer[0].heads);
	if (!m->h.window)
		m->h.window = 4096;
	return 0;
}

const struct arch arch_gemma2 = {
	.name = "gemma2", .act = ACT_GELU, .scale_embedding = true, .window_every = 2, .needs = needs, .settle = settle,
};
