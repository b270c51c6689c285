/* SPDX-License-Identifier: MIT */
#include "arch.h"

static const char *const needs[] = {
	"attn_q_norm.weight", "attn_k_norm.weight", "post_attention_norm.weight", "post_ffw_norm.weight", NULL
};

/* Normalises what the branches give, not what they take. Olmo 3 is this with a window. */
const struct arch arch_olmo2 = {
	.name = "olmo2", .window_every = 4, .local_rope = true, .needs = needs,
};
