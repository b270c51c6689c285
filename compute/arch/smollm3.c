/* SPDX-License-Identifier: MIT */
#include "arch.h"

const struct arch arch_smollm3 = {
	.name = "smollm3", .rope = ROPE_PAIRS, .plain_every = 4,
};
