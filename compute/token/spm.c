/* SPDX-License-Identifier: MIT */
/*
 * SentencePiece's BPE ("llama"): neighbouring characters merge when the two together are a token, best score first and
 * the leftmost of equals. A space is U+2581; a character that is no token becomes the tokens of its bytes.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "merge.h"
#include "utf8.h"
#include "vocab.h"

struct spm {
	/*
	 * Which characters stand side by side in some token, as bits by hash. Where two do not, no merge can cross, so the
	 * text is cut there and each run is merged alone: the same tokens in a time that does not grow with the text.
	 */
	uint64_t *beside;
	unsigned shift; /* 64 less log2 of the bits */
	int32_t byte[256];
};

struct spm_scratch {
	struct merger m;
	char *text; /* the fragment with its spaces escaped */
	size_t cap;
};

struct spm_run {
	const struct vocab *v;
	const char *text;
};

static uint32_t char_code(const char *p, size_t n)
{
	uint32_t c = 0;

	memcpy(&c, p, n);
	return c;
}

static uint64_t beside_bit(const struct spm *spm, uint32_t a, uint32_t b)
{
	return (((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15 ^ (uint64_t)b * 0xd6e8feb86659fd93) >> spm->shift;
}

static bool may_join(const struct spm *spm, uint32_t a, uint32_t b)
{
	uint64_t bit = beside_bit(spm, a, b);

	return spm->beside[bit / 64] >> bit % 64 & 1;
}

static size_t char_length(const char *p, size_t left)
{
	size_t n = utf8_length(*p);

	return n < left ? n : left;
}

static void note_neighbours(struct spm *spm, struct gguf_bytes text)
{
	uint32_t before = 0;

	for (size_t at = 0; at < text.n;) {
		size_t n = char_length(text.p + at, text.n - at);
		uint32_t c = char_code(text.p + at, n);

		if (at) {
			uint64_t bit = beside_bit(spm, before, c);

			spm->beside[bit / 64] |= (uint64_t)1 << bit % 64;
		}
		before = c;
		at += n;
	}
}

static int load(struct vocab *v, struct source *s, struct gguf_error *e)
{
	struct spm *spm = v->data = calloc(1, sizeof *spm);
	unsigned log = 12;

	(void)s;
	while (log < 24 && (size_t)1 << log < 32 * v->n)
		log++;
	if (spm) {
		spm->shift = 64 - log;
		spm->beside = calloc(((size_t)1 << log) / 64, sizeof *spm->beside);
	}
	if (!spm || !spm->beside)
		return gguf_fail(e, -ENOMEM, 0, "no memory for the vocabulary");
	for (size_t i = 0; i < v->n; i++)
		note_neighbours(spm, v->text[i]);
	for (int i = 0; i < 256; i++)
		spm->byte[i] = vocab_byte(v, (unsigned char)i);
	return 0;
}

static void unload(struct vocab *v)
{
	struct spm *spm = v->data;

	if (spm)
		free(spm->beside);
	free(spm);
}

/* Orders floats as unsigned numbers, the highest first; NaN last. */
static uint32_t key_of_score(float score)
{
	uint32_t bits;

	if (isnan(score))
		return NO_PAIR - 1;
	score += 0.0f; /* -0 and 0 are equal */
	memcpy(&bits, &score, sizeof bits);
	return bits >> 31 ? bits : 0x7fffffff - bits;
}

static void spm_pair(const void *ctx, struct symbol *a, const struct symbol *b)
{
	const struct spm_run *r = ctx;
	size_t n = (size_t)a->n + b->n;
	int32_t id = n > r->v->longest ? -1 : index_find(&r->v->index, r->v->text, r->text + a->at, n);

	a->key = id < 0 ? NO_PAIR : key_of_score(token_score(r->v, id));
	a->merged = (uint32_t)id;
}

static int push_bytes(const struct vocab *v, const char *p, size_t n, struct tokens *out)
{
	const struct spm *spm = v->data;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		int32_t id = spm->byte[(unsigned char)p[i]];

		id = id < 0 ? v->role[ROLE_UNK] : id;
		err = id < 0 ? 0 : tokens_push(out, id);
	}
	return err;
}

static int push_symbol(const struct vocab *v, const char *text, const struct symbol *y, struct tokens *out)
{
	int32_t id = (int32_t)y->id;

	if (y->id == NO_SYMBOL)
		id = index_find(&v->index, v->text, text + y->at, y->n);
	return id < 0 ? push_bytes(v, text + y->at, y->n, out) : tokens_push(out, id);
}

static int encode_run(const struct vocab *v, struct merger *m, const char *text, struct tokens *out)
{
	int err = merge_run(m, spm_pair, &(struct spm_run){ v, text });

	for (size_t i = 0; i < m->n && !err; i++)
		err = push_symbol(v, text, &m->symbol[i], out);
	m->n = 0;
	return err;
}

/* Cuts text into runs that no token crosses, and encodes each. */
static int encode_text(const struct vocab *v, struct merger *m, const char *text, size_t n, struct tokens *out)
{
	uint32_t before = 0;
	int err = 0;

	m->n = 0;
	for (size_t at = 0; at < n && !err;) {
		size_t len = char_length(text + at, n - at);
		uint32_t c = char_code(text + at, len);

		if (m->n && !may_join(v->data, before, c))
			err = encode_run(v, m, text, out);
		if (!err)
			err = merger_reserve(m, m->n + 1);
		if (!err)
			m->symbol[m->n++] = (struct symbol){ .at = (uint32_t)at, .n = (uint32_t)len, .id = NO_SYMBOL };
		before = c;
		at += len;
	}
	return err ? err : encode_run(v, m, text, out);
}

static void *begin(const struct vocab *v, size_t n)
{
	(void)n;
	(void)v;
	return calloc(1, sizeof(struct spm_scratch));
}

static int encode(const struct vocab *v, void *scratch, const struct fragment *f, struct tokens *out)
{
	struct spm_scratch *s = scratch;
	size_t need = LOW_BLOCK_BYTES * (f->n + 1), n = 0;

	if (need > UINT32_MAX)
		return -EINVAL;
	if (need > s->cap) {
		free(s->text);
		s->text = malloc(need);
		s->cap = s->text ? need : 0;
		if (!s->text)
			return -ENOMEM;
	}
	if (f->after_token && v->habits & HABIT_SPACE_PREFIX)
		n = escape_spaces(s->text, " ", 1);
	n += escape_spaces(s->text + n, f->p, f->n);
	return encode_text(v, &s->m, s->text, n, out);
}

static void end(void *scratch)
{
	struct spm_scratch *s = scratch;

	merger_free(&s->m);
	free(s->text);
	free(s);
}

const struct token_model token_model_spm = {
	.name = "llama",
	.bos = 1, .eos = 2, .unk = 0, .sep = -1, .pad = -1, .mask = -1,
	.habits = HABIT_BOS | HABIT_SPACE_PREFIX | HABIT_ESCAPE_SPACES,
	.load = load, .unload = unload,
	.begin = begin, .encode = encode, .end = end,
	.piece = piece_low_block,
};
