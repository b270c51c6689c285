/* SPDX-License-Identifier: MIT */
/*
 * libggufs-compute: runs GGUF models, from a mount of mount.gguf, a plain directory of its layout, or a .gguf file.
 *
 *	struct ggufs *g;
 *	if (ggufs_open(&g, "/mnt/m", NULL, &e) || ggufs_encode(g, "Once", 4, GGUFS_ADD, ids, ROOM, &n))
 *		...
 *	ggufs_feed(g, ids, n, logits, &e);      logits of what may come next
 *
 * Functions that can fail return 0 or a negative errno and, where they take one, fill a struct gguf_error. Nothing is
 * printed and nothing exits. A model is used by one thread at a time, which need not be always the same; it computes
 * with as many threads of its own as its options say. The logits of a token have the same bits whatever their number,
 * and however the tokens before it were cut into calls.
 */
#ifndef GGUFS_COMPUTE_H
#define GGUFS_COMPUTE_H
#include <gguf.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ggufs;

/* AUTO, for both: integers of 16 bits with a float for each key and value; for one of them: F16. */
enum ggufs_cache { GGUFS_CACHE_AUTO, GGUFS_CACHE_F16, GGUFS_CACHE_F32, GGUFS_CACHE_Q8_0 };

/* All zero: the defaults. */
struct ggufs_options {
	/*
	 * 0: what affinity and cgroup quota allow, and fewer where a batch is not worth so many. Batches have fewer while other
	 * programs keep some of them waiting and that is faster.
	 */
	unsigned threads;
	unsigned context; /* positions; 0: the model's own */
	unsigned batch;   /* tokens computed at once; 0: 512. Memory grows with it, results do not depend on it */
	enum ggufs_cache keys, values; /* how the cache keeps them */
	bool no_check;    /* do not look for weights with NaN or Inf, which are refused otherwise */
};

/*
 * Opens the model at path; o may be NULL. Refuses, with the name of what is wrong, what cannot be run: an unknown
 * architecture, missing keys or tensors, wrong shapes, a broken vocabulary. -ENOMEM tells how much is wanted.
 */
int ggufs_open(struct ggufs **out, const char *path, const struct ggufs_options *o, struct gguf_error *e);
void ggufs_close(struct ggufs *g); /* NULL is fine */

size_t ggufs_vocab(const struct ggufs *g);     /* tokens, and floats of one position's logits */
size_t ggufs_width(const struct ggufs *g);     /* floats of one hidden state */
unsigned ggufs_context(const struct ggufs *g); /* positions that there is room for */

/* ---- text; -ENOENT for a model without a vocabulary ---- */

enum ggufs_text {
	GGUFS_ADD = 1,   /* add what the model wants around a text: bos, eos, ... */
	GGUFS_PARSE = 2, /* control tokens that are written out in the text are those tokens */
};
/*
 * The tokens of n bytes of text, with flags of enum ggufs_text. *count is set to how many they are; at most room of them
 * are written to ids. -ERANGE when room was too small.
 */
int ggufs_encode(const struct ggufs *g, const char *text, size_t n, unsigned flags, int32_t *ids, size_t room,
		 size_t *count);
/*
 * The bytes that a token stands for in running text, which may be part of a character; none for a control token. Returns
 * how many they are; at most room of them are written to buf.
 */
size_t ggufs_piece(const struct ggufs *g, int32_t id, char *buf, size_t room);
/* Whether the token ends what the model has to say. */
bool ggufs_ends(const struct ggufs *g, int32_t id);

/* ---- computing ---- */

/*
 * Feeds n tokens after those fed so far. With logits not NULL those of the last one are written there. -ENOSPC when they
 * do not fit into the context, -EINVAL for what is no token; then nothing was fed.
 */
int ggufs_feed(struct ggufs *g, const int32_t *ids, size_t n, float *logits, struct gguf_error *e);
unsigned ggufs_position(const struct ggufs *g); /* tokens fed so far */
/* Forgets what follows the first position tokens. -ERANGE for more than there are. */
int ggufs_rewind(struct ggufs *g, unsigned position);
/* The hidden states of n tokens after the last norm, n times ggufs_width floats: what embeddings are made of. */
int ggufs_states(struct ggufs *g, const int32_t *ids, size_t n, float *out, struct gguf_error *e);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
