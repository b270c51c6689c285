/* SPDX-License-Identifier: MIT */
#include "arch.h"

static const char *const needs[] = {
	"attn_norm.bias", "attn_qkv.bias", "attn_output.bias", "ffn_norm.bias", "ffn_up.bias", "ffn_down.bias", NULL
};

const struct arch arch_gpt2 = {
	.name = "gpt2", .rope = ROPE_NONE, .act = ACT_GELU, .needs = needs,
};
