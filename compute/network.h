/* SPDX-License-Identifier: MIT */
/* A model that was found whole: settings that were checked, weights of the right shapes. Nothing here is changed later. */
#ifndef NETWORK_H
#define NETWORK_H
#include "arch/arch.h"
#include "llm.h"
#include "matmul.h"
#include "source.h"

enum { MAX_LAYERS = 512, MAX_EXPERTS = 4096 };

/* y = W x * scale + bias. w.data NULL: the model has no such part; bias NULL: none. */
struct linear {
	struct mat w;
	const float *bias;
	float scale;
};

/* w NULL: no normalisation here; b only in layer norms that have one. */
struct norm {
	const float *w, *b;
};

/* One matrix for each expert: that of expert e is w with the data at each[e]. bias is expert after expert. */
struct bank {
	struct mat w;
	const void **each;
	const float *bias;
	const float *scale; /* of each expert, or NULL */
};

/* A way to turn positions into angles. */
struct rope {
	unsigned dims;     /* values of a head that turn; 0: none */
	const double *freq; /* dims / 2: radians per position */
	float magnitude;   /* of cosine and sine */
};

struct layer {
	unsigned heads, kv_heads, ffn;
	unsigned window;         /* positions that are seen, the token's own included; 0: all */
	const struct rope *rope; /* NULL: positions play no part */
	struct norm attn_norm, attn_post, attn_end; /* before; after, on the branch; after the sum */
	struct linear qkv, q, k, v, o;
	struct norm q_norm, k_norm;
	bool norm_whole;         /* q_norm and k_norm go over all heads at once */
	const float *sinks;      /* of each head, or NULL */
	struct linear q_a, kv_a, kv_b; /* deepseek's low-rank forms; q serves as q_b where q_a is there */
	struct norm q_a_norm, kv_a_norm;
	struct bank k_b, v_b;          /* of each head */
	struct norm ffn_norm, ffn_post, ffn_end;
	struct linear gate, up, down;
	unsigned experts, used, expert_ffn, shared_ffn; /* experts 0: a dense layer */
	struct linear router;
	const float *select_bias; /* for choosing experts, not for weighing them; or NULL */
	struct bank e_gate, e_up, e_down;
	struct linear s_gate, s_up, s_down, s_router; /* the shared expert and its own gate */
};

struct hyper {
	uint32_t layers, width, context, vocab;
	uint32_t key_len, value_len; /* of a head, as the cache has them */
	bool rms;                    /* else layer norm */
	float eps;
	float query_scale, attn_cap, final_cap; /* caps: 0: none */
	float embed_scale, residual_scale, logit_scale;
	float temperature;           /* of attention, growing with the position; 0: none */
	uint32_t temperature_length;
	uint32_t q_rank, kv_rank;    /* 0: no low-rank attention */
	uint32_t key_mla, value_mla; /* of a head, as the low-rank form unfolds */
	uint32_t rope_dims;
	float yarn_magnitude;        /* of cosine and sine under YaRN; 0: 1 + 0.1 ln(factor) */
	float yarn_fast, yarn_slow;  /* turns in the original context between which YaRN blends */
	uint32_t window;
	uint32_t gating;             /* enum gating */
	uint32_t groups, groups_used, dense_first;
	bool weights_norm;
	float weights_scale;
	bool causal;
	enum llm_pooling pooling;
	unsigned wide_heads, wide_kv; /* the most of any layer */
};

struct model {
	const struct arch *arch;
	struct hyper h;
	struct rope rope, rope_local; /* layers with a window may turn otherwise */
	struct layer *layer;
	struct mat embed, position, types; /* data NULL: none */
	struct norm embed_norm, output_norm;
	struct linear output;
	uint64_t bytes; /* of weights in use */
	struct piece *owned; /* small vectors, made floats */
	bool *in_use;        /* by weight of the source */
};

/* context: what the cache will have room for, which decides between short and long rope factors. */
int model_open(struct model **out, struct source *s, uint32_t context, struct gguf_error *e);
void model_close(struct model *m); /* NULL is fine */

/* The architecture of s, or why s is no model that runs: an adapter, a projector, a matrix of importances, ... */
int model_kind(struct source *s, const struct arch **arch, struct gguf_error *e);
/* Reads and checks the settings: m->arch is set, m->h and m->layer get filled. */
int model_settings(struct model *m, struct source *s, struct gguf_error *e);
/* Finds the weights and checks their shapes. */
int model_weights(struct model *m, struct source *s, struct gguf_error *e);
int model_rope(struct model *m, struct source *s, uint32_t context, struct gguf_error *e);

/* Memory that lives as long as m. NULL when there is none. */
void *model_alloc(struct model *m, size_t n, size_t size);
#endif
