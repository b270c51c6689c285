/* SPDX-License-Identifier: MIT */
/*
 * Inference. Open a source, make a context, feed tokens, read logits. A token's logits have the same bits whatever the
 * number of threads and however the tokens before it were cut into batches.
 */
#ifndef LLM_H
#define LLM_H
#include "gguf.h"

struct source;
struct llm;

/*
 * CACHE_I16: integers of 16 bits with a float for each key and value, finer than CACHE_F16; attention is in integers then.
 * CACHE_AUTO is that for keys and values both, and CACHE_F16 for one of them: CACHE_I16 is not for one alone.
 */
enum cache_type { CACHE_AUTO, CACHE_F16, CACHE_F32, CACHE_Q8_0, CACHE_I16 };
struct llm_options {
	unsigned threads;   /* at most (crew.h); 0: what affinity and cgroup quota allow, or what a batch is worth */
	unsigned context;   /* positions; 0: the model's own */
	unsigned batch;     /* most tokens computed at once; 0: 512 */
	enum cache_type k, v;
	bool check;         /* refuse weights with NaN or Inf: see llm_check */
};

struct llm_estimate { uint64_t weights, cache, buffers; }; /* bytes */

/* The source must outlive it. Refuses an unknown architecture, a missing key or tensor, a wrong shape, with its name. */
int llm_open(struct llm **out, struct source *s, const struct llm_options *o, struct gguf_error *e);
void llm_close(struct llm *m);
/* What llm_open would take, without taking it. */
int llm_estimate(struct source *s, const struct llm_options *o, struct llm_estimate *est, struct gguf_error *e);

/*
 * Looks for NaN and Inf in weights that nobody has looked at. Where it was not called, the first batch does it on its
 * way, which is cheaper: that llm_eval or llm_embed and all later ones fail. -EBADMSG, with the tensor's name.
 */
int llm_check(struct llm *m, struct gguf_error *e);

size_t llm_vocab(const struct llm *m);   /* logits of a position */
size_t llm_width(const struct llm *m);   /* values of an embedding */
unsigned llm_context(const struct llm *m);
unsigned llm_trained(const struct llm *m); /* positions that the model's own context has */
unsigned llm_threads(const struct llm *m);
bool llm_is_embedding(const struct llm *m); /* bert and its like: llm_embed, not llm_eval */
/* How the model's key says that states of tokens become one; the numbers are the key's. */
enum llm_pooling { LLM_POOL_NONE, LLM_POOL_MEAN, LLM_POOL_CLS, LLM_POOL_LAST, LLM_POOL_RANK };
enum llm_pooling llm_pooling(const struct llm *m);

/*
 * Feeds n tokens after the position reached so far. Logits of the last token go to logits (llm_vocab floats), where it
 * is not NULL; with every, those of each token, one after another. -ENOSPC when the context is full.
 */
int llm_eval(struct llm *m, const int32_t *ids, size_t n, float *logits, bool every, struct gguf_error *e);
unsigned llm_position(const struct llm *m);
/* Goes back to position, forgetting what follows it. */
int llm_rewind(struct llm *m, unsigned position);
/* Forgets n positions after the first keep, and closes the gap (context shift). -ENOTSUP where the model cannot. */
int llm_shift(struct llm *m, unsigned keep, unsigned n);
/* The hidden states of n tokens (n x llm_width floats), after the last norm. */
int llm_embed(struct llm *m, const int32_t *ids, size_t n, float *out, struct gguf_error *e);
#endif
