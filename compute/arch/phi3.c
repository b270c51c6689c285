/* SPDX-License-Identifier: MIT */
#include "arch.h"

/* attention.sliding_window is not obeyed, as in llama.cpp: converters wrote it for models that do not slide. */
const struct arch arch_phi3 = {
	.name = "phi3",
};
