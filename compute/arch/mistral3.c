/* SPDX-License-Identifier: MIT */
#include "network.h"
#include <math.h>

static int yarn(struct hyper *h, const struct keys *k)
{
	float factor = 1, multiplier = 0;
	int err = key_f32(k, "rope.scaling.factor", &factor);

	err = err ? err : key_f32(k, "rope.scaling.yarn_beta_fast", &h->yarn_fast);
	err = err ? err : key_f32(k, "rope.scaling.yarn_beta_slow", &h->yarn_slow);
	err = err ? err : key_f32(k, "rope.scaling.yarn_log_multiplier", &multiplier);
	if (!err && multiplier != 0 && factor > 1)
		h->yarn_magnitude = (1 + 0.1f * logf(factor)) / (1 + 0.1f * multiplier * logf(factor));
	return err;
}

/* Queries grow with the position: by 1 + scale * ln(floor(position / length) + 1). */
static int settle(struct model *m, const struct keys *k)
{
	struct hyper *h = &m->h;
	int err = key_u32(k, "rope.scaling.original_context_length", &h->temperature_length);

	err = err ? err : key_u32(k, "attention.temperature_length", &h->temperature_length);
	err = err ? err : key_f32(k, "attention.temperature_scale", &h->temperature);
	if (!err && h->temperature != 0 && !h->temperature_length)
		return key_fail(k, "attention.temperature_length", "it may not be 0");
	return err ? err : yarn(h, k);
}

const struct arch arch_mistral3 = {
	.name = "mistral3", .rope = ROPE_PAIRS, .settle = settle,
};
