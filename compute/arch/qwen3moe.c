/* SPDX-License-Identifier: MIT */
#include "arch.h"

static const char *const needs[] = { "attn_q_norm.weight", "attn_k_norm.weight", NULL };

const struct arch arch_qwen3moe = {
	.name = "qwen3moe", .needs = needs,
};
