/* SPDX-License-Identifier: MIT */
#include "network.h"
#include <math.h>

/*
 * YaRN: the key holds a tenth of a multiplier m. Scores are scaled by (1 + 0.1 m ln f) squared, and cosine and sine stay
 * as they are; without the key m is 1 and they are scaled too.
 */
static int settle(struct model *m, const struct keys *k)
{
	float multiplier = 0.1f, factor = 1, grown;
	int err = key_f32(k, "rope.scaling.factor", &factor);

	err = err ? err : key_f32(k, "rope.scaling.yarn_log_multiplier", &multiplier);
	if (err)
		return err;
	if (key_has(k, "rope.scaling.yarn_log_multiplier"))
		m->h.yarn_magnitude = 1;
	grown = factor > 1 ? 1 + multiplier * logf(factor) : 1;
	m->h.query_scale *= grown * grown;
	/* Files of before expert_gating_func: of those sizes only models with sigmoid gating were made. */
	if (!key_has(k, "expert_gating_func") && (m->h.layers == 47 || m->h.layers == 48))
		m->h.gating = GATE_SIGMOID;
	return 0;
}

const struct arch arch_deepseek2 = {
	.name = "deepseek2", .rope = ROPE_PAIRS, .keeps_weights = true, .rank_attention = true, .settle = settle,
};
