/* SPDX-License-Identifier: MIT */
#include "arch.h"

static const char *const needs[] = { "attn_output_norm.weight", "layer_output_norm.weight", NULL };

const struct arch arch_bert = {
	.name = "bert", .rope = ROPE_NONE, .act = ACT_GELU, .embeds = true, .needs = needs,
};
