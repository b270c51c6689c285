/* SPDX-License-Identifier: MIT */
#include "arch.h"

static const char *const needs[] = { "attn_q.bias", "attn_k.bias", "attn_v.bias", NULL };

const struct arch arch_qwen2 = {
	.name = "qwen2", .needs = needs,
};
