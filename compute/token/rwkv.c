/* SPDX-License-Identifier: MIT */
/* RWKV World: the longest token at each place. Token texts are bytes, written with the escapes \t \n \r \\ \xNN. */
#include <errno.h>
#include <stdlib.h>
#include "vocab.h"

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* The byte that the escape at p means, its length in *used; a backslash that starts none stands for itself. */
static char unescape(const char *p, size_t n, size_t *used)
{
	*used = n < 2 ? 1 : 2;
	if (n < 2)
		return *p;
	if (p[1] == 'x' && n >= 4 && hex(p[2]) >= 0 && hex(p[3]) >= 0) {
		*used = 4;
		return (char)(hex(p[2]) << 4 | hex(p[3]));
	}
	return p[1] == 't' ? '\t' : p[1] == 'n' ? '\n' : p[1] == 'r' ? '\r' : p[1];
}

static size_t piece(struct gguf_bytes text, char *out)
{
	size_t w = 0;

	for (size_t at = 0, used; at < text.n; at += used) {
		used = 1;
		out[w++] = text.p[at] == '\\' ? unescape(text.p + at, text.n - at, &used) : text.p[at];
	}
	return w;
}

static int put_all(const struct vocab *v, struct trie *t, char *bytes)
{
	int err = 0;

	for (size_t i = v->n; i-- && !err;) { /* of equal texts the last counts */
		size_t n = piece(v->text[i], bytes);

		err = n ? trie_put(t, bytes, n, (int32_t)i) : 0;
	}
	return err;
}

static int load(struct vocab *v, struct source *s, struct gguf_error *e)
{
	struct trie *t = v->data = calloc(1, sizeof *t);
	char *bytes = malloc(v->longest + 1);
	int err = t && bytes ? trie_init(t) : -ENOMEM;

	(void)s;
	if (!err)
		err = put_all(v, t, bytes);
	free(bytes);
	return err ? gguf_fail(e, err, 0, "no memory for the vocabulary") : 0;
}

static void unload(struct vocab *v)
{
	if (v->data)
		trie_free(v->data);
	free(v->data);
}

static void *begin(const struct vocab *v, size_t n)
{
	(void)n;
	(void)v;
	return malloc(1);
}

static int encode(const struct vocab *v, void *scratch, const struct fragment *f, struct tokens *out)
{
	int err = 0;

	(void)scratch;
	for (size_t at = 0; at < f->n && !err;) {
		int32_t id = v->role[ROLE_UNK];
		size_t len = trie_longest(v->data, f->p + at, f->n - at, &id);

		err = id < 0 ? 0 : tokens_push(out, id);
		at += len ? len : 1;
	}
	return err;
}

const struct token_model token_model_rwkv = {
	.name = "rwkv",
	.bos = -1, .eos = -1, .unk = -1, .sep = -1, .pad = -1, .mask = -1,
	.load = load, .unload = unload,
	.begin = begin, .encode = encode, .end = free,
	.piece = piece,
};
