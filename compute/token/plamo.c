/* SPDX-License-Identifier: MIT */
/*
 * PLaMo 2: from the end of the text backwards, each character gets the cheapest cover of all that follows by tokens;
 * of equals the one that begins with the longer token. A character that none covers becomes the tokens of its bytes.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "utf8.h"
#include "vocab.h"

/* Scores are compared as whole numbers, in ten-thousandths; a token that is worse than UNUSABLE is not used. */
enum { SCALE = 10000, UNKNOWN_COST = 10000000, UNUSABLE = 20000000 };

struct plamo {
	struct trie tokens;
	int32_t byte[256];
};

struct step { /* the cheapest cover from some byte on */
	int64_t cost;
	uint32_t n;  /* bytes of its first token */
	int32_t id;  /* -1: the character's bytes */
};

static int put_tokens(const struct vocab *v, struct plamo *p)
{
	int err = 0;

	for (size_t i = v->n; i-- && !err;) { /* of equal texts the last counts */
		float score = token_score(v, (int32_t)i);

		if (!v->text[i].n || token_is(v, (int32_t)i, ATTR_BYTE) || !(fabsf(score) < (float)UNUSABLE / SCALE))
			continue;
		err = trie_put(&p->tokens, v->text[i].p, v->text[i].n, (int32_t)i);
	}
	return err;
}

static int load(struct vocab *v, struct source *s, struct gguf_error *e)
{
	struct plamo *p = v->data = calloc(1, sizeof *p);
	int err = p ? trie_init(&p->tokens) : -ENOMEM;

	(void)s;
	if (!err)
		err = put_tokens(v, p);
	if (err)
		return gguf_fail(e, err, 0, "no memory for the vocabulary");
	for (int i = 0; i < 256; i++) {
		p->byte[i] = vocab_byte(v, (unsigned char)i);
		if (p->byte[i] < 0)
			return gguf_fail(e, -EINVAL, 0, "tokenizer.ggml.tokens: the byte token <0x%02X> is missing", i);
	}
	return 0;
}

static void unload(struct vocab *v)
{
	struct plamo *p = v->data;

	if (p)
		trie_free(&p->tokens);
	free(p);
}

static void *begin(const struct vocab *v, size_t n)
{
	(void)v;
	(void)n;
	return malloc(1);
}

/* The cheapest cover of the n bytes at text, whose first character has len; next[i] is known for i > 0. */
static struct step best_step(const struct vocab *v, const char *text, size_t n, size_t len, const struct step *next)
{
	const struct plamo *p = v->data;
	struct step best = { next[len].cost + UNKNOWN_COST, (uint32_t)len, -1 };
	uint32_t node = 0;

	for (size_t i = 0; i < n && (node = trie_step(&p->tokens, node, (unsigned char)text[i])); i++) {
		int32_t id = p->tokens.value[node];
		int64_t cost;

		if (id < 0)
			continue;
		cost = next[i + 1].cost - lroundf(token_score(v, id) * SCALE);
		if (cost <= best.cost)
			best = (struct step){ cost, (uint32_t)i + 1, id };
	}
	return best;
}

static int push_steps(const struct plamo *p, const char *text, size_t n, const struct step *step, struct tokens *out)
{
	int err = 0;

	for (size_t at = 0; at < n && !err; at += step[at].n) {
		if (step[at].id >= 0)
			err = tokens_push(out, step[at].id);
		for (size_t i = 0; step[at].id < 0 && i < step[at].n && !err; i++)
			err = tokens_push(out, p->byte[(unsigned char)text[at + i]]);
	}
	return err;
}

static int cover(const struct vocab *v, const char *text, size_t n, struct tokens *out)
{
	struct step *step = malloc((n + 1) * sizeof *step);
	size_t end = n;
	int err;

	if (!step)
		return -ENOMEM;
	step[n] = (struct step){ 0 };
	for (size_t at = n; at-- > 0;) {
		/* inside a character: no token may end here */
		step[at] = (struct step){ INT64_MAX / 2, 1, -1 };
		if (((unsigned char)text[at] & 0xc0) == 0x80)
			continue;
		step[at] = best_step(v, text + at, n - at, end - at, step + at);
		end = at;
	}
	err = push_steps(v->data, text, n, step, out);
	free(step);
	return err;
}

static int encode(const struct vocab *v, void *scratch, const struct fragment *f, struct tokens *out)
{
	static const char mark[] = "\xef\xbb\xbf"; /* U+FEFF, which a text may begin with and is no part of it */
	char *text = malloc(3 * (f->n + 6));
	struct utf8_hold hold = { 0 };
	size_t n, skip;
	int err;

	(void)scratch;
	if (!text)
		return -ENOMEM;
	n = utf8_hold(&hold, f->p, f->n, text);
	n += utf8_hold_end(&hold, text + n);
	skip = n >= 3 && !memcmp(text, mark, 3) ? 3 : 0;
	err = cover(v, text + skip, n - skip, out);
	free(text);
	return err;
}

const struct token_model token_model_plamo = {
	.name = "plamo2",
	.bos = 1, .eos = 2, .unk = 0, .sep = -1, .pad = 3, .mask = -1,
	.load = load, .unload = unload,
	.begin = begin, .encode = encode, .end = free,
	.piece = piece_plain,
};
