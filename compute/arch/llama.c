/* SPDX-License-Identifier: MIT */
#include "arch.h"

/* Llama 1 to 3, Mistral, Mixtral, SmolLM: experts, rope factors and scalings are in the file where they are used. */
const struct arch arch_llama = {
	.name = "llama", .rope = ROPE_PAIRS,
};
