/* SPDX-License-Identifier: MIT */
#include "network.h"

/* rope.scaling.finetuned = false means that no rope is used at all. */
static int settle(struct model *m, const struct keys *k)
{
	bool turns = true;
	int err = key_bool(k, "rope.scaling.finetuned", &turns);

	if (!turns)
		m->h.rope_dims = 0;
	return err;
}

const struct arch arch_granite = {
	.name = "granite", .rope = ROPE_PAIRS, .settle = settle,
};
