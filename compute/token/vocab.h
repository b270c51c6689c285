/* SPDX-License-Identifier: MIT */
/* What the tokenizers share: the vocabulary as loaded, and the kinds of it. Private to compute/token. */
#ifndef VOCAB_H
#define VOCAB_H
#include <string.h>
#include "error.h"
#include "index.h"
#include "source.h"
#include "token.h"
#include "trie.h"

enum attribute { /* of a token; none of the first five: a normal one */
	ATTR_UNKNOWN = 1,
	ATTR_CONTROL = 2,
	ATTR_USER = 4,
	ATTR_BYTE = 8,
	ATTR_UNUSED = 16,
	ATTR_LSTRIP = 32, /* takes the white space before it */
	ATTR_RSTRIP = 64, /* and after it */
	ATTR_EOG = 128,
	ATTR_NOT_NORMAL = ATTR_UNKNOWN | ATTR_CONTROL | ATTR_USER | ATTR_BYTE | ATTR_UNUSED,
};

#define ROLES(R) R(BOS) R(EOS) R(EOT) R(EOM) R(UNK) R(SEP) R(PAD) R(MASK) R(CLS) \
	R(FIM_PRE) R(FIM_SUF) R(FIM_MID) R(FIM_PAD) R(FIM_REP) R(FIM_SEP)
enum role {
#define R(name) ROLE_##name,
	ROLES(R)
#undef R
	ROLE_COUNT
};

enum habit { /* what a vocabulary does unasked */
	HABIT_BOS = 1,
	HABIT_EOS = 2,
	HABIT_SEP = 4,
	HABIT_SPACE_PREFIX = 8,
	HABIT_MERGE_SPACES = 16,
	HABIT_ESCAPE_SPACES = 32, /* a space is U+2581 in the tokens' texts */
};

#define LOW_BLOCK "\xe2\x96\x81" /* U+2581, the space of SentencePiece */
enum { LOW_BLOCK_BYTES = 3 };

/* A run of text, or one token that stood in the text. */
struct fragment {
	const char *p;
	size_t n;
	int32_t token;    /* -1: text */
	bool after_token; /* stands at the beginning or after a token, not after text */
};

/* A kind of vocabulary: its name in tokenizer.ggml.model, what holds without keys, and its algorithm. */
struct token_model {
	const char *name;
	int32_t bos, eos, unk, sep, pad, mask; /* -1: none */
	unsigned habits;
	unsigned forced; /* of these, whatever the keys say */
	/*
	 * NULL, or begins what does not need the texts, on a thread of its own: load waits for it. Sets v->data before
	 * anything can fail, so that unload can end it.
	 */
	int (*begin_load)(struct vocab *v, struct source *s, struct gguf_error *e);
	int (*load)(struct vocab *v, struct source *s, struct gguf_error *e);
	void (*unload)(struct vocab *v);
	/* Memory for one call of vocab_encode of n bytes, and the tokens of one run of text. */
	void *(*begin)(const struct vocab *v, size_t n);
	int (*encode)(const struct vocab *v, void *scratch, const struct fragment *f, struct tokens *out);
	void (*end)(void *scratch);
	/* The bytes that a normal token's text stands for: at most text.n of them. */
	size_t (*piece)(struct gguf_bytes text, char *out);
};
#define TOKEN_MODELS(M) M(spm) M(bpe) M(gemma4) M(wpm) M(ugm) M(rwkv) M(plamo)
#define M(name) extern const struct token_model token_model_##name;
TOKEN_MODELS(M)
#undef M

enum { WARNINGS_MAX = 8 };
struct pieces;

struct vocab {
	const struct token_model *model;
	size_t n;
	const struct gguf_bytes *text;   /* n of them */
	struct gguf_bytes *own_text;     /* the same when some were empty in the file */
	char *empty_names;               /* their texts */
	uint8_t *attr;                   /* enum attribute, n of them */
	const float *score;              /* n of them, or NULL */
	size_t longest;                  /* bytes of the longest text */
	struct text_index index;
	int32_t role[ROLE_COUNT];        /* -1: none */
	unsigned habits;
	void *data;                      /* of the model's load */

	int32_t *special;                /* tokens that are looked for in text: longest first, then by id */
	size_t nspecial;
	struct trie special_trie;        /* their texts; values are indexes into special */
	struct pieces *pieces;
	char warning[WARNINGS_MAX][120];
	size_t warnings;
};

static inline bool token_is(const struct vocab *v, int32_t id, unsigned attrs)
{
	return v->attr[id] & attrs;
}

static inline float token_score(const struct vocab *v, int32_t id)
{
	return v->score ? v->score[id] : 0;
}

int tokens_push(struct tokens *t, int32_t id);
/* The token "<0xNN>" of a byte, or the one-byte text itself, or -1. */
int32_t vocab_byte(const struct vocab *v, unsigned char byte);
/* The byte of a text like "<0x0A>", or -1. */
int byte_of_text(struct gguf_bytes text);
__attribute__((format(printf, 2, 3))) void vocab_warn(struct vocab *v, const char *fmt, ...);

/* special.c: finds roles, end-of-generation tokens and those that are looked for in text. */
int special_load(struct vocab *v, struct source *s, struct gguf_error *e);
void special_unload(struct vocab *v);
/* Cuts text at its special tokens; control tokens only with parse. *out is to be freed. */
int special_cut(const struct vocab *v, const char *text, size_t n, bool parse, struct fragment **out, size_t *count);

/* piece.c */
/* Writes text with U+2581 for each space, at most LOW_BLOCK_BYTES * n bytes; returns how many. */
size_t escape_spaces(char *out, const char *p, size_t n);
int pieces_make(struct vocab *v);
void pieces_free(struct pieces *p);
size_t piece_plain(struct gguf_bytes text, char *out);
size_t piece_low_block(struct gguf_bytes text, char *out);
#endif
