/* SPDX-License-Identifier: MIT */
#include "arch.h"

static const char *const needs[] = { "attn_sinks.weight", NULL };

const struct arch arch_gpt_oss = {
	.name = "gpt-oss", .act = ACT_CLAMPED, .gating = GATE_CHOSEN, .window_every = 2,
	.ffn_norm = "post_attention_norm", .needs = needs,
};
