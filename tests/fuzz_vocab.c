/* SPDX-License-Identifier: MIT */
/*
 * A vocabulary by its parts, and a text in it. Lines: the model, the pre-tokenizer, then one a part, of a kind (t a token,
 * u c b x k one of another type, m a merge, n a number below tokenizer.ggml, p bytes of the character map) and its text;
 * what follows an empty line is the text to encode.
 */
#define _GNU_SOURCE
#include "fuzz.h"
#include "fuzz_source.h"
#include "token/token.h"

enum { PARTS_MOST = 400 };

struct parts {
	struct gguf_value token[PARTS_MOST], type[PARTS_MOST], score[PARTS_MOST], merge[PARTS_MOST];
	size_t tokens, merges;
};

/* Places in it are types of tokens, from 1. */
static const char kinds[] = "tkcuxb";

static void add_number(struct gguf_writer *w, const char *p, size_t n)
{
	const char *blank = memchr(p, ' ', n);
	struct gguf_value v = { .type = GGUF_U32 };
	char key[64], digits[16];

	if (!blank || blank - p > 32)
		return;
	snprintf(key, sizeof key, "tokenizer.ggml.%.*s", (int)(blank - p), p);
	snprintf(digits, sizeof digits, "%.*s", (int)(n - (size_t)(blank - p) - 1), blank + 1);
	v.u = (uint32_t)strtoul(digits, NULL, 10);
	if (!strncmp(key + 15, "add_", 4)) {
		v.type = GGUF_BOOL;
		v.u &= 1;
	}
	gguf_writer_key(w, key, strlen(key), &v);
}

static void add_charsmap(struct gguf_writer *w, const char *p, size_t n)
{
	struct gguf_value item[256];

	n = n > 256 ? 256 : n;
	for (size_t i = 0; i < n; i++)
		item[i] = (struct gguf_value){ .type = GGUF_U8, .u = (uint8_t)p[i] };
	gguf_writer_array(w, "tokenizer.ggml.precompiled_charsmap", 35, GGUF_U8, item, n);
}

static void add_part(struct gguf_writer *w, struct parts *parts, struct gguf_bytes line)
{
	const char *kind = strchr(kinds, line.p[0]);
	struct gguf_bytes text = { line.p + 1, line.n - 1 };

	if (line.p[0] && kind && parts->tokens < PARTS_MOST) {
		size_t i = parts->tokens++;

		parts->token[i] = (struct gguf_value){ .type = GGUF_STRING, .s = text };
		parts->type[i] = (struct gguf_value){ .type = GGUF_I32, .i = kind - kinds + 1 };
		parts->score[i] = (struct gguf_value){ .type = GGUF_F32, .f = -(double)(i % 7) };
	} else if (line.p[0] == 'm' && parts->merges < PARTS_MOST) {
		parts->merge[parts->merges++] = (struct gguf_value){ .type = GGUF_STRING, .s = text };
	} else if (line.p[0] == 'n') {
		add_number(w, text.p, text.n);
	} else if (line.p[0] == 'p') {
		add_charsmap(w, text.p, text.n);
	}
}

static struct source *make(struct fuzz_rest *r)
{
	static struct parts parts;
	struct gguf_writer *w;
	struct gguf_bytes line;

	if (gguf_writer_new(&w))
		abort();
	parts.tokens = parts.merges = 0;
	fuzz_put_string(w, "general.architecture", (struct gguf_bytes){ "llama", 5 });
	fuzz_put_string(w, "tokenizer.ggml.model", fuzz_part(r, '\n'));
	fuzz_put_string(w, "tokenizer.ggml.pre", fuzz_part(r, '\n'));
	while ((line = fuzz_part(r, '\n')).n)
		add_part(w, &parts, line);
	gguf_writer_array(w, "tokenizer.ggml.tokens", 21, GGUF_STRING, parts.token, parts.tokens);
	gguf_writer_array(w, "tokenizer.ggml.token_type", 25, GGUF_I32, parts.type, parts.tokens);
	gguf_writer_array(w, "tokenizer.ggml.scores", 21, GGUF_F32, parts.score, parts.tokens);
	if (parts.merges)
		gguf_writer_array(w, "tokenizer.ggml.merges", 21, GGUF_STRING, parts.merge, parts.merges);
	return fuzz_source_of(w);
}

static void encode(const struct vocab *v, const struct fuzz_rest *r, unsigned flags)
{
	struct tokens t = { 0 };

	if (vocab_encode(v, (const char *)r->p, r->n, flags, &t))
		abort();
	for (size_t i = 0; i < t.n; i++) {
		struct gguf_bytes p = vocab_piece(v, t.id[i], flags & 1);

		if (t.id[i] < 0 || (size_t)t.id[i] >= vocab_size(v) || (p.n && !p.p))
			abort();
	}
	free(t.id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_rest r = { data, size };
	struct gguf_error e = { 0 };
	struct vocab *v = NULL;
	struct source *s = make(&r);

	if (!s)
		return 0;
	fuzz_expect_reason(vocab_open(&v, s, &e), &e);
	for (unsigned flags = 0; v && flags < 4; flags++)
		encode(v, &r, flags);
	vocab_close(v);
	source_close(s);
	return 0;
}
