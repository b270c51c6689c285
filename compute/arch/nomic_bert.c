/* SPDX-License-Identifier: MIT */
#include "arch.h"

static const char *const needs[] = { "attn_output_norm.weight", "layer_output_norm.weight", NULL };

const struct arch arch_nomic_bert = {
	.name = "nomic-bert", .embeds = true, .needs = needs,
};
