/* SPDX-License-Identifier: MIT */
/* Pre-tokenizers: a text is cut by each of a list of patterns in turn, and no token crosses a cut. */
#ifndef SPLIT_H
#define SPLIT_H
#include <stddef.h>
#include "gguf.h"

enum pre_flags {
	PRE_IGNORE_MERGES = 1, /* a whole word that is a token stays whole */
	PRE_ADD_BOS = 2,
};

struct splitter;
struct split_state;

/* Finds the pre-tokenizer of that name and compiles it. -ENOTSUP for a name that is not in pre.def. */
int splitter_make(struct splitter **out, struct gguf_bytes name, struct gguf_error *e);
void splitter_free(struct splitter *s); /* NULL is fine */
unsigned splitter_flags(const struct splitter *s);

/* Takes one word; a negative errno ends the splitting. */
typedef int word_fn(void *ctx, const char *p, size_t n);
/* Memory for one thread. NULL without memory. */
struct split_state *split_state_make(void);
void split_state_free(struct split_state *st); /* NULL is fine */
/* The words of n bytes of valid UTF-8, in order; together they are the text. */
int split_text(const struct splitter *s, struct split_state *st, const char *p, size_t n, word_fn *fn, void *ctx);
/* Name i of all known ones, in the order of pre.def; NULL past the end. For listings and tests. */
struct gguf_bytes split_name(size_t i);
#endif
