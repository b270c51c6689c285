/* SPDX-License-Identifier: MIT */
/*
 * Byte pair encoding: a word's symbols, bytes ("gpt2") or characters ("gemma4") at first, merge pair by pair in the
 * order of tokenizer.ggml.merges.
 */
#include <errno.h>
#include <stdlib.h>
#include "bytemap.h"
#include "merge.h"
#include "pages.h"
#include "split.h"
#include "utf8.h"
#include "vocab.h"

struct pair_slot {
	uint32_t left, right; /* symbols */
	uint32_t next_rank;   /* the rank and one; 0: free */
	uint32_t merged;      /* symbol */
};

/* Symbols are token ids. Texts that merges name and the vocabulary lacks are numbered after the tokens. */
struct bpe {
	struct splitter *split;
	struct pair_slot *pair;
	size_t mask;
	uint64_t seed;
	uint32_t byte[256];        /* the symbol of a byte, or NO_SYMBOL */
	bool chars;                /* symbols begin as characters, not as bytes */
	bool ignore_merges;
	struct gguf_bytes *extra;
	size_t extras, extra_cap;
	struct text_index extra_index;
	char *joined;              /* texts of merged pairs that are not in the vocabulary */
	size_t joined_n;
};

struct bpe_scratch {
	struct merger m;
	struct split_state *split;
	char *text;   /* a fragment that had to be changed */
	char *mapped; /* a word as the vocabulary writes it */
	const struct vocab *v;
	struct tokens *out;
};

/* ---- loading ---- */

static size_t pair_place(const struct bpe *b, uint32_t left, uint32_t right)
{
	return (size_t)(hash_mix(((uint64_t)left << 32 | right) ^ b->seed, 0x9e3779b97f4a7c15)) & b->mask;
}

/* Of a pair that comes twice, the first counts. */
static void pair_put(struct bpe *b, const struct pair_slot *p)
{
	size_t i = pair_place(b, p->left, p->right);

	for (; b->pair[i].next_rank; i = (i + 1) & b->mask)
		if (b->pair[i].left == p->left && b->pair[i].right == p->right)
			return;
	b->pair[i] = *p;
}

static int add_extra(const struct vocab *v, struct bpe *b, struct gguf_bytes text, uint32_t *symbol)
{
	int err;

	if (b->extras == b->extra_cap) {
		size_t cap = b->extra_cap ? 2 * b->extra_cap : 64;
		struct gguf_bytes *more = realloc(b->extra, cap * sizeof *more);

		if (!more)
			return -ENOMEM;
		b->extra = more;
		b->extra_cap = cap;
	}
	if (!b->extra_index.slot && (err = index_init(&b->extra_index, 64)))
		return err;
	*symbol = (uint32_t)(v->n + b->extras);
	b->extra[b->extras] = text;
	err = index_put(&b->extra_index, b->extra, (int32_t)b->extras);
	b->extras += !err;
	return err;
}

/* The symbol of a text, NO_SYMBOL when it has none. */
static uint32_t find_symbol(const struct vocab *v, const struct bpe *b, const char *p, size_t n)
{
	int32_t id = index_find(&v->index, v->text, p, n);

	if (id >= 0)
		return (uint32_t)id;
	if (b->extras)
		id = index_find(&b->extra_index, b->extra, p, n);
	return id < 0 ? NO_SYMBOL : (uint32_t)(v->n + (size_t)id);
}

static int need_symbol(const struct vocab *v, struct bpe *b, struct gguf_bytes text, uint32_t *symbol)
{
	*symbol = find_symbol(v, b, text.p, text.n);
	return *symbol == NO_SYMBOL ? add_extra(v, b, text, symbol) : 0;
}

static bool is_joined(struct gguf_bytes text, struct gguf_bytes left, struct gguf_bytes right)
{
	return text.n == left.n + right.n && !memcmp(text.p, left.p, left.n) &&
	       !memcmp(text.p + left.n, right.p, right.n);
}

/*
 * The symbol of left and right together; *symbol is the last one on entry. Most files list merges in the order of the
 * tokens that they make, so that one and the next are tried first, unless texts come twice and the number is not sure.
 */
static int join(const struct vocab *v, struct bpe *b, struct gguf_bytes left, struct gguf_bytes right, uint32_t *symbol)
{
	struct gguf_bytes text = { b->joined + b->joined_n, left.n + right.n };
	size_t guess = v->index.used == v->n ? *symbol : v->n, end = guess + 2;
	int err;

	for (; guess < end && guess < v->n; guess++) {
		if (is_joined(v->text[guess], left, right)) {
			*symbol = (uint32_t)guess;
			return 0;
		}
	}
	memcpy(b->joined + b->joined_n, left.p, left.n);
	memcpy(b->joined + b->joined_n + left.n, right.p, right.n);
	*symbol = find_symbol(v, b, text.p, text.n);
	if (*symbol != NO_SYMBOL)
		return 0;
	err = add_extra(v, b, text, symbol);
	b->joined_n += err ? 0 : text.n;
	return err;
}

static int add_merge(const struct vocab *v, struct bpe *b, struct gguf_bytes m, struct pair_slot *p)
{
	const char *space = m.n > 1 ? memchr(m.p + 1, ' ', m.n - 1) : NULL;
	struct gguf_bytes left = { m.p, 0 }, right = { 0 };
	int err;

	if (!space)
		return -EINVAL;
	left.n = (size_t)(space - m.p);
	right = (struct gguf_bytes){ space + 1, m.n - left.n - 1 };
	err = need_symbol(v, b, left, &p->left);
	if (!err)
		err = need_symbol(v, b, right, &p->right);
	if (!err)
		err = join(v, b, left, right, &p->merged);
	if (!err)
		pair_put(b, p);
	return err;
}

static int make_pairs(struct bpe *b, const struct gguf_bytes *merge, size_t n)
{
	size_t slots = 64, bytes = 0;

	while (slots / 3 * 2 <= n)
		slots *= 2;
	for (size_t i = 0; i < n; i++)
		bytes += merge[i].n;
	b->mask = slots - 1;
	b->joined = malloc(bytes + 1);
	b->pair = calloc(slots, sizeof *b->pair);
	if (!b->joined || !b->pair)
		return -ENOMEM;
	pages_ready(b->pair, slots * sizeof *b->pair);
	b->seed = random_seed();
	return 0;
}

static int load_merges(struct vocab *v, struct bpe *b, struct source *s, struct gguf_error *e)
{
	static const char key[] = "tokenizer.ggml.merges";
	const struct gguf_bytes *merge;
	struct pair_slot p = { .merged = 0 };
	size_t n;
	int err = source_strings(s, key, &merge, &n, e);

	if (err == -ENOENT)
		return gguf_fail(e, -EINVAL, 0, "%s is missing", key);
	if (err)
		return err;
	err = n < NO_PAIR && v->n + 3 * n < INT32_MAX ? make_pairs(b, merge, n) : -EINVAL;
	if (err)
		return gguf_fail(e, err, 0, "%s: %s", key, err == -ENOMEM ? "no memory" : "too many");
	for (size_t i = 0; i < n; i++) {
		p.next_rank = (uint32_t)i + 1;
		err = add_merge(v, b, merge[i], &p);
		if (err == -EINVAL)
			return gguf_fail(e, err, 0, "%s: item %zu has no space between two texts", key, i);
		if (err)
			return gguf_fail(e, err, 0, "%s: no memory", key);
	}
	return 0;
}

static uint32_t byte_symbol(const struct vocab *v, const struct bpe *b, unsigned char byte)
{
	char text[4];

	return find_symbol(v, b, text, utf8_encode(bytemap_char(byte), text));
}

static int load_splitter(struct vocab *v, struct bpe *b, struct source *s, struct gguf_error *e)
{
	static const char key[] = "tokenizer.ggml.pre";
	struct gguf_bytes name;
	int err = source_string(s, key, &name, e);

	if (err == -ENOENT || (!err && !name.n)) {
		vocab_warn(v, "%s is missing: words are cut as by 'default', which may not be what the model learnt", key);
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

static int load_kind(struct vocab *v, struct source *s, bool chars, struct gguf_error *e)
{
	struct bpe *b = v->data = calloc(1, sizeof *b);
	int err;

	if (!b)
		return gguf_fail(e, -ENOMEM, 0, "no memory for the vocabulary");
	b->chars = chars;
	err = load_splitter(v, b, s, e);
	if (!err)
		err = load_merges(v, b, s, e);
	for (int i = 0; i < 256 && !err; i++)
		b->byte[i] = chars ? (uint32_t)vocab_byte(v, (unsigned char)i) : byte_symbol(v, b, (unsigned char)i);
	return err;
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
	splitter_free(b->split);
	free(b->pair);
	free(b->extra);
	index_free(&b->extra_index);
	free(b->joined);
	free(b);
}

/* ---- encoding ---- */

static void bpe_pair(const void *ctx, struct symbol *a, const struct symbol *right)
{
	const struct bpe *b = ctx;

	for (size_t i = pair_place(b, a->id, right->id);; i = (i + 1) & b->mask) {
		const struct pair_slot *p = &b->pair[i];

		if ((p->left == a->id && p->right == right->id) || !p->next_rank) {
			a->key = p->next_rank - 1;
			a->merged = p->merged;
			return;
		}
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

static size_t map_word(char *out, const char *p, size_t n)
{
	size_t w = 0;

	for (size_t i = 0; i < n; i++)
		w += utf8_encode(bytemap_char((unsigned char)p[i]), out + w);
	return w;
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
		y->id = b->chars ? find_symbol(s->v, b, p + at, len) : b->byte[(unsigned char)p[at]];
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
	err = make_symbols(s, p, n);
	if (!err)
		err = merge_run(&s->m, bpe_pair, b);
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
	free(s);
}

static void *begin(const struct vocab *v)
{
	struct bpe_scratch *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->split = split_state_make();
	s->mapped = malloc(2 * v->longest + 1);
	if (!s->split || !s->mapped) {
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
	.load = load_bytes, .unload = unload,
	.begin = begin, .encode = encode, .end = end,
	.piece = piece_mapped,
};

const struct token_model token_model_gemma4 = {
	.name = "gemma4",
	.bos = -1, .eos = -1, .unk = -1, .sep = -1, .pad = -1, .mask = -1,
	.habits = HABIT_ESCAPE_SPACES | HABIT_BOS,
	.forced = HABIT_BOS,
	.load = load_chars, .unload = unload,
	.begin = begin, .encode = encode, .end = end,
	.piece = piece_low_block,
};
