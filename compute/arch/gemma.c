/* SPDX-License-Identifier: MIT */
#include "arch.h"

const struct arch arch_gemma = {
	.name = "gemma", .act = ACT_GELU, .scale_embedding = true,
};
