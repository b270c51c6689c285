/* SPDX-License-Identifier: MIT */
/*
 * Byte pair encoding: a word's symbols, bytes ("gpt2") or characters ("gemma4") at first, merge pair by pair in the
 * order of tokenizer.ggml.merges.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include "bytemap.h"
#include "merge.h"
#include "pages.h"
#include "split.h"
#include "utf8.h"
#include "vocab.h"

/* A pair that was looked up: its symbols as token ids, and what became of it. Such pairs come again and again. */
struct pair_note {
	uint32_t left, right; /* token ids; NO_SYMBOL: empty */
	uint32_t key;         /* the rank, or NO_PAIR */
	uint32_t merged;      /* token id or NO_SYMBOL */
};
enum { NOTES_MAX = 1 << 14 };

struct bpe {
	struct splitter *split;
	const struct gguf_bytes *merge; /* "left right", by rank */
	size_t merges, longest;         /* how many, and bytes of the longest */
	struct text_index rank;         /* of the merges */
	uint64_t seed;
	uint32_t byte[256];             /* the token of a byte, or NO_SYMBOL */
	bool chars;                     /* symbols begin as characters, not as bytes */
	bool ignore_merges;
	/* the merges are read while the texts are: reader sets what of it is above, and these */
	struct source *source;
	pthread_t reader;
	bool reading;
	int read_err;
	struct gguf_error read_error;
};

struct bpe_scratch {
	struct merger m;
	struct split_state *split;
	char *text;             /* a fragment that had to be changed */
	char *mapped;           /* a word as the vocabulary writes it */
	char *pair;             /* two symbols' texts with a space between */
	struct pair_note *note; /* by hash; a new one takes the place of an old one */
	size_t note_mask;       /* notes less one */
	const struct vocab *v;
	struct tokens *out;
	const char *word;       /* that is being merged */
};

/* ---- loading ---- */

static int check_merges(struct bpe *b, const char *key, struct gguf_error *e)
{
	for (size_t i = 0; i < b->merges; i++) {
		struct gguf_bytes m = b->merge[i];

		if (m.n < 2 || !memchr(m.p + 1, ' ', m.n - 1))
			return gguf_fail(e, -EINVAL, 0, "%s: item %zu has no space between two texts", key, i);
		b->longest = m.n > b->longest ? m.n : b->longest;
	}
	return 0;
}

static int load_merges(struct bpe *b, struct source *s, struct gguf_error *e)
{
	static const char key[] = "tokenizer.ggml.merges";
	int err = source_strings(s, key, &b->merge, &b->merges, e);

	if (err == -ENOENT)
		return gguf_fail(e, -EINVAL, 0, "%s is missing", key);
	if (err)
		return err;
	if (b->merges >= INT32_MAX)
		return gguf_fail(e, -EINVAL, 0, "%s: %zu are too many", key, b->merges);
	err = check_merges(b, key, e);
	if (err)
		return err;
	err = index_build(&b->rank, b->merge, b->merges, INDEX_FIRST);
	b->seed = random_seed();
	return err ? gguf_fail(e, err, 0, "%s: no memory", key) : 0;
}

static int32_t find_mapped_byte(const struct vocab *v, unsigned char byte)
{
	char text[4];

	return vocab_find(v, text, utf8_encode(bytemap_char(byte), text));
}

static int load_splitter(struct vocab *v, struct bpe *b, struct source *s, struct gguf_error *e)
{
	static const char key[] = "tokenizer.ggml.pre";
	struct gguf_bytes name;
	int err = source_string(s, key, &name, e);

	if (err == -ENOENT || (!err && !name.n)) {
		vocab_warn(v, "%s is missing: words are cut as by 'default', which may not be what the model learnt",
			   key);
		name = (struct gguf_bytes){ "default", 7 };
	} else if (err) {
		return err;
	}
	if (b->chars)
		name = (struct gguf_bytes){ "gemma4", 6 };
	err = splitter_make(&b->split, name, e);
	if (err)
		return err;
	b->ignore_merges = splitter_flags(b->split) & PRE_IGNORE_MERGES;
	if (splitter_flags(b->split) & PRE_ADD_BOS)
		v->habits |= HABIT_BOS;
	return 0;
}

static void *read_merges(void *data)
{
	struct bpe *b = data;

	b->read_err = load_merges(b, b->source, &b->read_error);
	return NULL;
}

static int begin_load(struct vocab *v, struct source *s, struct gguf_error *e)
{
	struct bpe *b = v->data = calloc(1, sizeof *b);

	if (!b)
		return gguf_fail(e, -ENOMEM, 0, "no memory for the vocabulary");
	b->source = s;
	b->reading = !pthread_create(&b->reader, NULL, read_merges, b);
	if (!b->reading)
		read_merges(b);
	return 0;
}

static void end_reading(struct bpe *b)
{
	if (b->reading)
		pthread_join(b->reader, NULL);
	b->reading = false;
}

static int load_kind(struct vocab *v, struct source *s, bool chars, struct gguf_error *e)
{
	struct bpe *b = v->data;
	int err;

	b->chars = chars;
	for (int i = 0; i < 256; i++)
		b->byte[i] =
			(uint32_t)(chars ? vocab_byte(v, (unsigned char)i) : find_mapped_byte(v, (unsigned char)i));
	err = load_splitter(v, b, s, e);
	end_reading(b);
	if (err || !b->read_err)
		return err;
	return gguf_fail(e, b->read_err, b->read_error.offset, "%s", b->read_error.text);
}

static int load_bytes(struct vocab *v, struct source *s, struct gguf_error *e)
{
	return load_kind(v, s, false, e);
}

static int load_chars(struct vocab *v, struct source *s, struct gguf_error *e)
{
	return load_kind(v, s, true, e);
}

static void unload(struct vocab *v)
{
	struct bpe *b = v->data;

	if (!b)
		return;
	end_reading(b);
	splitter_free(b->split);
	index_free(&b->rank);
	free(b);
}

/* ---- encoding ---- */

static size_t map_word(char *out, const char *p, size_t n)
{
	size_t w = 0;

	for (size_t i = 0; i < n; i++)
		w += utf8_encode(bytemap_char((unsigned char)p[i]), out + w);
	return w;
}

/* A symbol as the merges write it. Returns its bytes, at most 2 * room, or 0 for a symbol that no merge can have. */
static size_t symbol_text(const struct bpe_scratch *s, const struct symbol *y, char *out, size_t room)
{
	const struct bpe *b = s->v->data;
	struct gguf_bytes text = { s->word + y->at, y->n };

	if (y->id == NO_SYMBOL && !b->chars)
		return text.n > room ? 0 : map_word(out, text.p, text.n);
	if (y->id != NO_SYMBOL)
		text = s->v->text[y->id];
	return text.n > room ? 0 : piece_plain(text, out);
}

/* Looks the pair up by its text. */
static void find_pair(const struct bpe_scratch *s, struct symbol *a, const struct symbol *right)
{
	const struct bpe *b = s->v->data;
	size_t n = symbol_text(s, a, s->pair, b->longest), m = 0;
	int32_t rank = -1;

	if (n)
		m = symbol_text(s, right, s->pair + n + 1, b->longest);
	if (m) {
		s->pair[n] = ' ';
		rank = index_find(&b->rank, b->merge, s->pair, n + 1 + m);
	}
	a->key = rank < 0 ? NO_PAIR : (uint32_t)rank;
	a->merged = NO_SYMBOL;
	if (rank < 0)
		return;
	memmove(s->pair + n, s->pair + n + 1, m);
	a->merged = (uint32_t)index_find(&s->v->index, s->v->text, s->pair, n + m);
}

static void bpe_pair(const void *ctx, struct symbol *a, const struct symbol *right)
{
	const struct bpe_scratch *s = ctx;
	const struct bpe *b = s->v->data;
	uint64_t key = (uint64_t)a->id << 32 | right->id;
	struct pair_note *note = &s->note[hash_mix(key ^ b->seed, 0x9e3779b97f4a7c15) & s->note_mask];

	if (a->id == NO_SYMBOL || right->id == NO_SYMBOL) {
		find_pair(s, a, right);
	} else if (note->left == a->id && note->right == right->id) {
		a->key = note->key;
		a->merged = note->merged;
	} else {
		find_pair(s, a, right);
		*note = (struct pair_note){ a->id, right->id, a->key, a->merged };
	}
}

/* A symbol that is no token: the tokens of its bytes, as far as there are any. */
static int push_bytes(const struct bpe_scratch *s, const char *p, size_t n)
{
	const struct bpe *b = s->v->data;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		uint32_t id = b->byte[(unsigned char)p[i]];

		err = id < s->v->n ? tokens_push(s->out, (int32_t)id) : 0;
	}
	return err;
}

/* The token that a word is as a whole, or -1. mapped has room for twice the longest text. */
static int32_t whole_word(const struct bpe_scratch *s, const char *p, size_t n)
{
	if (n > s->v->longest)
		return -1;
	return index_find(&s->v->index, s->v->text, s->mapped, map_word(s->mapped, p, n));
}

static int32_t whole_newlines(const struct vocab *v, const char *p, size_t n)
{
	return *p == '\n' ? index_find(&v->index, v->text, p, n) : -1;
}

static int make_symbols(struct bpe_scratch *s, const char *p, size_t n)
{
	const struct bpe *b = s->v->data;
	int err = merger_reserve(&s->m, n);

	s->m.n = 0;
	for (size_t at = 0, len; at < n && !err; at += len) {
		struct symbol *y = &s->m.symbol[s->m.n++];

		len = b->chars ? utf8_length(p[at]) : 1;
		y->at = (uint32_t)at;
		y->n = (uint32_t)len;
		y->id = b->chars ? (uint32_t)vocab_find(s->v, p + at, len) : b->byte[(unsigned char)p[at]];
	}
	return err;
}

static int encode_word(void *ctx, const char *p, size_t n)
{
	struct bpe_scratch *s = ctx;
	const struct bpe *b = s->v->data;
	int32_t whole = b->chars ? whole_newlines(s->v, p, n) : b->ignore_merges ? whole_word(s, p, n) : -1;
	int err;

	if (whole >= 0)
		return tokens_push(s->out, whole);
	s->word = p;
	err = make_symbols(s, p, n);
	if (!err)
		err = merge_run(&s->m, bpe_pair, s);
	for (size_t i = 0; i < s->m.n && !err; i++) {
		const struct symbol *y = &s->m.symbol[i];

		err = y->id < s->v->n ? tokens_push(s->out, (int32_t)y->id) : push_bytes(s, p + y->at, y->n);
	}
	return err;
}

static void end(void *scratch)
{
	struct bpe_scratch *s = scratch;

	merger_free(&s->m);
	split_state_free(s->split);
	free(s->text);
	free(s->mapped);
	free(s->pair);
	free(s->note);
	free(s);
}

/* As many notes as the text can have use for, all empty. */
static int make_notes(struct bpe_scratch *s, size_t text)
{
	size_t n = 64;

	while (n < NOTES_MAX && n < text)
		n *= 2;
	s->note = malloc(n * sizeof *s->note);
	if (!s->note)
		return -ENOMEM;
	pages_ready(s->note, n * sizeof *s->note);
	memset(s->note, 0xff, n * sizeof *s->note);
	s->note_mask = n - 1;
	return 0;
}

static void *begin(const struct vocab *v, size_t n)
{
	const struct bpe *b = v->data;
	struct bpe_scratch *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->split = split_state_make();
	s->mapped = malloc(2 * v->longest + 1);
	s->pair = malloc(4 * b->longest + 1);
	if (!s->split || !s->mapped || !s->pair || make_notes(s, n)) {
		end(s);
		return NULL;
	}
	s->v = v;
	return s;
}

static void keep(struct bpe_scratch *s, char *text, size_t n, struct gguf_bytes *t)
{
	free(s->text);
	s->text = text;
	*t = (struct gguf_bytes){ text, n };
}

/* Valid UTF-8, with its spaces as the vocabulary has them: a copy in s where t is not so already. */
static int prepare(struct bpe_scratch *s, struct gguf_bytes *t)
{
	char *copy;

	if (utf8_valid_prefix(t->p, t->n) != t->n) {
		struct utf8_hold hold = { 0 };
		size_t n;

		copy = malloc(3 * (t->n + 6));
		if (!copy)
			return -ENOMEM;
		n = utf8_hold(&hold, t->p, t->n, copy);
		n += utf8_hold_end(&hold, copy + n);
		keep(s, copy, n, t);
	}
	if (s->v->habits & HABIT_ESCAPE_SPACES) {
		copy = malloc(LOW_BLOCK_BYTES * t->n);
		if (!copy)
			return -ENOMEM;
		keep(s, copy, escape_spaces(copy, t->p, t->n), t);
	}
	return 0;
}

static int encode(const struct vocab *v, void *scratch, const struct fragment *f, struct tokens *out)
{
	struct bpe_scratch *s = scratch;
	const struct bpe *b = v->data;
	struct gguf_bytes t = { f->p, f->n };
	int err = prepare(s, &t);

	s->out = out;
	return err ? err : split_text(b->split, s->split, t.p, t.n, encode_word, s);
}

static size_t piece_mapped(struct gguf_bytes text, char *out)
{
	size_t w = 0;

	for (size_t at = 0, len; at < text.n; at += len) {
		int byte = -1;

		len = utf8_valid(text.p + at, text.n - at);
		if (len)
			byte = bytemap_byte(utf8_decode(text.p + at, len));
		if (byte < 0)
			return piece_plain(text, out);
		out[w++] = (char)byte;
	}
	return w;
}

const struct token_model token_model_bpe = {
	.name = "gpt2",
	.bos = -1, .eos = -1, .unk = -1, .sep = -1, .pad = -1, .mask = -1,
	.begin_load = begin_load, .load = load_bytes, .unload = unload,
	.begin = begin, .encode = encode, .end = end,
	.piece = piece_mapped,
};

const struct token_model token_model_gemma4 = {
	.name = "gemma4",
	.bos = -1, .eos = -1, .unk = -1, .sep = -1, .pad = -1, .mask = -1,
	.habits = HABIT_ESCAPE_SPACES | HABIT_BOS,
	.forced = HABIT_BOS,
	.begin_load = begin_load, .load = load_chars, .unload = unload,
	.begin = begin, .encode = encode, .end = end,
	.piece = piece_low_block,
};
