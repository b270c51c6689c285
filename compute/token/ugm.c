/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/*
 * SentencePiece's unigram model ("t5"): the text, normalised by the model's own table, is covered by the tokens whose
 * scores, log probabilities, have the highest sum (Viterbi). What no token covers is unknown.
 */
#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include "utf8.h"
#include "vocab.h"

/*
 * tokenizer.ggml.precompiled_charsmap: u32 bytes of the array, a double array of u32 that maps text prefixes to offsets
 * (child of node s by byte c: base(s) ^ c, right if its label is c), then replacements that end in NUL.
 */
struct charsmap {
	uint8_t *bytes;
	const uint8_t *node; /* nodes little-endian u32 */
	size_t nodes;
	const char *replacement;
	size_t replacement_bytes;
};

enum { PREFIX_MAX = 256 }; /* bytes of text that a rule may replace; published tables stay below 20 */

struct ugm {
	struct charsmap map;
	struct trie tokens, user;
	double unknown_score;
};

struct best { /* how the text up to some byte is covered best */
	double score;
	size_t from; /* where the last token begins */
	int32_t id;
};

struct ugm_scratch {
	char *text; /* normalised */
	size_t n, cap;
	struct best *best;
	size_t best_cap;
};

/* ---- the table ---- */

static int split_charsmap(struct charsmap *m, size_t n, struct gguf_error *e)
{
	size_t array = n < 4 ? n : (size_t)m->bytes[0] | (size_t)m->bytes[1] << 8 | (size_t)m->bytes[2] << 16 |
					   (size_t)m->bytes[3] << 24;

	if (n < 4 || array >= n - 4 || array % 4)
		return gguf_fail(
			e, -EINVAL, 0,
			"tokenizer.ggml.precompiled_charsmap: %zu bytes do not hold an array of %zu and a text", n,
			array);
	m->node = m->bytes + 4;
	m->nodes = array / 4;
	m->replacement = (const char *)m->bytes + 4 + array;
	m->replacement_bytes = n - 4 - array;
	return 0;
}

static int load_charsmap(struct charsmap *m, struct source *s, struct gguf_error *e)
{
	const int64_t *item;
	size_t n;
	int err = source_i64s(s, "tokenizer.ggml.precompiled_charsmap", &item, &n, e);

	if (err == -ENOENT || (!err && !n))
		return 0;
	if (err)
		return err;
	m->bytes = malloc(n);
	if (!m->bytes)
		return gguf_fail(e, -ENOMEM, 0, "no memory for the vocabulary");
	for (size_t i = 0; i < n; i++)
		m->bytes[i] = (uint8_t)item[i];
	return split_charsmap(m, n, e);
}

/* Node i, or one that nothing follows. */
static uint32_t charsmap_node(const struct charsmap *m, size_t i)
{
	const uint8_t *p;

	if (i >= m->nodes)
		return 0;
	p = m->node + 4 * i;
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t node_base(uint32_t node)
{
	return node >> 10 << (node >> 9 & 1) * 8;
}

/* What the longest prefix of p that the table knows is replaced by; its bytes in *used, 0 for none. */
static struct gguf_bytes replacement(const struct charsmap *m, const char *p, size_t n, size_t *used)
{
	size_t at = node_base(charsmap_node(m, 0)), offset = 0;

	*used = 0;
	for (size_t i = 0; i < n && i < PREFIX_MAX && p[i]; i++) {
		unsigned char c = (unsigned char)p[i];
		uint32_t node;

		at ^= c;
		node = charsmap_node(m, at);
		if ((node & 0x800000ff) != c)
			break;
		at ^= node_base(node);
		if (node >> 8 & 1) {
			offset = charsmap_node(m, at) & 0x7fffffff;
			*used = i + 1;
		}
	}
	if (offset >= m->replacement_bytes)
		*used = 0;
	if (!*used)
		return (struct gguf_bytes){ 0 };
	return (struct gguf_bytes){ m->replacement + offset,
				    strnlen(m->replacement + offset, m->replacement_bytes - offset) };
}

/* ---- loading ---- */

static int put_tokens(const struct vocab *v, struct ugm *u)
{
	double lowest = 0;
	int err = 0;

	for (size_t i = v->n; i-- && !err;) { /* of equal texts the last counts */
		unsigned attr = v->attr[i] & ATTR_NOT_NORMAL;
		double score = token_score(v, (int32_t)i);

		if (!attr && score < lowest)
			lowest = score;
		if (!v->text[i].n || attr & ~(unsigned)(ATTR_USER | ATTR_UNUSED))
			continue;
		err = trie_put(&u->tokens, v->text[i].p, v->text[i].n, (int32_t)i);
		if (!err && attr & ATTR_USER)
			err = trie_put(&u->user, v->text[i].p, v->text[i].n, (int32_t)i);
	}
	u->unknown_score = lowest - 10;
	return err;
}

static int load(struct vocab *v, struct source *s, struct gguf_error *e)
{
	struct ugm *u = v->data = calloc(1, sizeof *u);
	int err = u ? trie_init(&u->tokens) : -ENOMEM;

	if (!err)
		err = trie_init(&u->user);
	if (!err)
		err = put_tokens(v, u);
	if (err)
		return gguf_fail(e, err, 0, "no memory for the vocabulary");
	return load_charsmap(&u->map, s, e);
}

static void unload(struct vocab *v)
{
	struct ugm *u = v->data;

	if (!u)
		return;
	trie_free(&u->tokens);
	trie_free(&u->user);
	free(u->map.bytes);
	free(u);
}

/* ---- normalising ---- */

static int append(struct ugm_scratch *s, const char *p, size_t n)
{
	if (n > s->cap - s->n) {
		size_t cap = 2 * s->cap + n + 64;
		char *more = cap < INT32_MAX ? realloc(s->text, cap) : NULL;

		if (!more)
			return -ENOMEM;
		s->text = more;
		s->cap = cap;
	}
	memcpy(s->text + s->n, p, n);
	s->n += n;
	return 0;
}

/* What stands at p once normalised; *used bytes of p. */
static struct gguf_bytes normal_form(const struct ugm *u, const char *p, size_t n, size_t *used)
{
	struct gguf_bytes to;
	int32_t id;

	*used = trie_longest(&u->user, p, n, &id);
	if (*used)
		return (struct gguf_bytes){ p, *used };
	to = replacement(&u->map, p, n, used);
	if (*used)
		return to;
	*used = utf8_valid(p, n);
	if (*used)
		return (struct gguf_bytes){ p, *used };
	*used = 1;
	return (struct gguf_bytes){ UTF8_REPLACEMENT, 3 };
}

struct spacing {
	struct gguf_bytes space;
	bool merge, prefix;
	bool in_word, prefixed;
};

static int append_char(struct ugm_scratch *s, struct spacing *g, const char *p)
{
	int err = 0;

	if (*p == ' ') {
		g->in_word = false;
		return g->merge ? 0 : append(s, g->space.p, g->space.n);
	}
	if (!g->in_word && ((g->prefix && !g->prefixed) || g->merge)) {
		err = append(s, g->space.p, g->space.n);
		g->prefixed = true;
	}
	g->in_word = true;
	return err ? err : append(s, p, 1);
}

static int normalise(const struct vocab *v, struct ugm_scratch *s, const char *p, size_t n)
{
	static const struct gguf_bytes space[2] = { { " ", 1 }, { LOW_BLOCK, LOW_BLOCK_BYTES } };
	struct spacing g = { space[!!(v->habits & HABIT_ESCAPE_SPACES)], v->habits & HABIT_MERGE_SPACES,
			     v->habits & HABIT_SPACE_PREFIX, false, false };
	int err = 0;

	s->n = 0;
	for (size_t at = 0, used; at < n && !err; at += used) {
		struct gguf_bytes to = normal_form(v->data, p + at, n - at, &used);

		for (size_t i = 0; i < to.n && !err; i++)
			err = append_char(s, &g, to.p + i);
	}
	return err;
}

/* ---- covering ---- */

static void offer(struct best *b, double score, size_t from, int32_t id)
{
	if (score > b->score)
		*b = (struct best){ score, from, id };
}

/* All tokens that begin at byte at, whose character has len bytes. */
static void extend(const struct vocab *v, struct ugm_scratch *s, size_t at, size_t len)
{
	const struct ugm *u = v->data;
	double score = s->best[at].score;
	bool covered = false;
	uint32_t node = 0;

	for (size_t i = at; i < s->n && (node = trie_step(&u->tokens, node, (unsigned char)s->text[i])); i++) {
		int32_t id = u->tokens.value[node];

		if (id < 0)
			continue;
		covered |= i + 1 == at + len;
		offer(&s->best[i + 1], score + (token_is(v, id, ATTR_USER) ? 0 : (double)token_score(v, id)), at, id);
	}
	if (!covered)
		offer(&s->best[at + len], score + u->unknown_score, at, v->role[ROLE_UNK]);
}

/* The tokens of the best cover, last one first; of unknown ones in a row only one. */
static int push_backwards(const struct vocab *v, const struct ugm_scratch *s, struct tokens *out)
{
	bool after_unknown = false;
	int err = 0;

	for (size_t at = s->n; at && !err; at = s->best[at].from) {
		int32_t id = s->best[at].id;
		bool unknown = id == v->role[ROLE_UNK];

		if (id >= 0 && !(unknown && after_unknown))
			err = tokens_push(out, id);
		after_unknown = unknown;
	}
	return err;
}

static int cover(const struct vocab *v, struct ugm_scratch *s, struct tokens *out)
{
	size_t first = out->n;
	int err;

	for (size_t i = 0; i <= s->n; i++)
		s->best[i] = (struct best){ i ? -DBL_MAX : 0, 0, v->role[ROLE_UNK] };
	for (size_t at = 0, len; at < s->n; at += len) {
		len = utf8_length(s->text[at]);
		if (len > s->n - at)
			len = s->n - at;
		extend(v, s, at, len);
	}
	err = push_backwards(v, s, out);
	for (size_t i = first, k = out->n; !err && i + 1 < k; i++) {
		int32_t id = out->id[--k];

		out->id[k] = out->id[i];
		out->id[i] = id;
	}
	return err;
}

static void *begin(const struct vocab *v, size_t n)
{
	(void)n;
	(void)v;
	return calloc(1, sizeof(struct ugm_scratch));
}

static int encode(const struct vocab *v, void *scratch, const struct fragment *f, struct tokens *out)
{
	struct ugm_scratch *s = scratch;
	int err = normalise(v, s, f->p, f->n);

	if (err)
		return err;
	if (s->n >= s->best_cap) {
		free(s->best);
		s->best_cap = s->n + 1;
		s->best = malloc(s->best_cap * sizeof *s->best);
		if (!s->best) {
			s->best_cap = 0;
			return -ENOMEM;
		}
	}
	return cover(v, s, out);
}

static void end(void *scratch)
{
	struct ugm_scratch *s = scratch;

	free(s->text);
	free(s->best);
	free(s);
}

const struct token_model token_model_ugm = {
	.name = "t5",
	.bos = -1, .eos = 1, .unk = 2, .sep = -1, .pad = 0, .mask = -1,
	.habits = HABIT_EOS | HABIT_ESCAPE_SPACES,
	.load = load, .unload = unload,
	.begin = begin, .encode = encode, .end = end,
	.piece = piece_low_block,
};
