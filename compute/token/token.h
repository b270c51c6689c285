/* SPDX-License-Identifier: MIT */
/* Text to tokens and back, by the vocabulary that a model carries (tokenizer.ggml.*). */
#ifndef TOKEN_H
#define TOKEN_H
#include "gguf.h"

struct source;
struct vocab;

struct tokens {
	int32_t *id; /* free() */
	size_t n, cap;
};

enum vocab_flags {
	VOCAB_SPECIAL = 1, /* add what the model wants around a text: bos, eos, cls, sep */
	VOCAB_PARSE = 2,   /* control tokens written out in the text become those tokens */
};

/* Reads the vocabulary of s, which must outlive it. -ENOENT: the model has none. */
int vocab_open(struct vocab **out, struct source *s, struct gguf_error *e);
void vocab_close(struct vocab *v); /* NULL is fine */
/* Warning i about what the model leaves out or says wrongly, for a program to print; NULL past the last. */
const char *vocab_warning(const struct vocab *v, size_t i);
size_t vocab_size(const struct vocab *v);

/* Appends the tokens of n bytes of text to out. -EINVAL for a text over INT32_MAX bytes, -ENOMEM. */
int vocab_encode(const struct vocab *v, const char *text, size_t n, unsigned flags, struct tokens *out);
/* The bytes that a token stands for in running text; control tokens give nothing unless special. Valid as long as v. */
struct gguf_bytes vocab_piece(const struct vocab *v, int32_t id, bool special);
/* The token's text as stored, and whether it ends generation. */
struct gguf_bytes vocab_text(const struct vocab *v, int32_t id);
bool vocab_is_eog(const struct vocab *v, int32_t id);
bool vocab_is_control(const struct vocab *v, int32_t id);
/* -1: the model has none. */
int32_t vocab_bos(const struct vocab *v);
int32_t vocab_eos(const struct vocab *v);
int32_t vocab_find(const struct vocab *v, const char *text, size_t n);
bool vocab_adds_bos(const struct vocab *v);
#endif
