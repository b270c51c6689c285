/* SPDX-License-Identifier: MIT */
/*
 * What tensors and keys of a model do not say. The file speaks first: a tensor that is there is used, a key that is there
 * is obeyed. Zero is what most models do.
 */
#ifndef ARCH_H
#define ARCH_H
#include "keys.h"

struct model;

enum rope_kind { ROPE_HALVES, ROPE_PAIRS, ROPE_NONE }; /* which values turn together: i and i + n/2, or 2i and 2i + 1 */
enum act_kind { ACT_SILU, ACT_GELU, ACT_CLAMPED };     /* ACT_CLAMPED: min(g,7) sigmoid(1.702 g) (clamp(u,-7,7) + 1) */
/* As expert_gating_func has them: GATE_CHOSEN takes the softmax over the experts that were chosen only. */
enum gating { GATE_SOFTMAX = 1, GATE_SIGMOID, GATE_CHOSEN };

struct arch {
	const char *name;            /* general.architecture */
	enum rope_kind rope;
	enum act_kind act;
	enum gating gating;          /* where no key says; 0: GATE_SOFTMAX */
	bool keeps_weights;          /* of chosen experts as they are: they are not made to add up to 1 */
	bool scale_embedding;        /* by sqrt(width) */
	unsigned window_every;       /* of layers with a window each n-th has none; 0: attention has no window at all */
	unsigned plain_every;        /* each n-th layer does not turn by position; 0: all do */
	bool local_rope;             /* layers with a window turn without scaling */
	float local_base;            /* and by this base, where no key says; 0: the same */
	bool rank_attention;         /* low-rank attention (attend_mla) */
	bool embeds;                 /* makes hidden states, not logits */
	const char *ffn_norm;        /* tensor before the feed-forward; NULL: "ffn_norm" */
	const char *const *needs;    /* tensors that each layer must have beyond the common ones, NULL-terminated */
	/* Settings of this architecture alone, after the common ones. */
	int (*settle)(struct model *m, const struct keys *k);
};

/* NULL for an unknown name. */
const struct arch *arch_find(const char *name, size_t n);
/* Name number i, NULL past the end. */
const char *arch_name(size_t i);
#endif
