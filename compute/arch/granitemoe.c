/* SPDX-License-Identifier: MIT */
#include "arch.h"

const struct arch arch_granitemoe = {
	.name = "granitemoe", .rope = ROPE_PAIRS,
};
