/* SPDX-License-Identifier: MIT */
/*
 * WordPiece ("bert"): lower case without accents, words cut at white space, punctuation and Chinese characters; each
 * word, with U+2581 before it, is covered by the longest tokens from its beginning, or is unknown as a whole.
 */
#include <errno.h>
#include <stdlib.h>
#include <utf8proc.h>
#include "utf8.h"
#include "vocab.h"

struct wpm_scratch {
	char *word; /* begins with U+2581 */
	size_t n, cap;
	const struct trie *trie;
	int32_t unknown;
	struct tokens *out;
};

static int load(struct vocab *v, struct source *s, struct gguf_error *e)
{
	struct trie *t = v->data = calloc(1, sizeof *t);
	int err = t ? trie_init(t) : -ENOMEM;

	(void)s;
	for (size_t i = v->n; i-- && !err;) /* of equal texts the last counts */
		err = v->text[i].n ? trie_put(t, v->text[i].p, v->text[i].n, (int32_t)i) : 0;
	return err ? gguf_fail(e, err, 0, "no memory for the vocabulary") : 0;
}

static void unload(struct vocab *v)
{
	if (v->data)
		trie_free(v->data);
	free(v->data);
}

static int end_word(struct wpm_scratch *s)
{
	size_t before = s->out->n, n = s->n;
	int err = 0;

	s->n = LOW_BLOCK_BYTES;
	if (n == LOW_BLOCK_BYTES)
		return 0;
	for (size_t at = 0, len; at < n && !err; at += len) {
		int32_t id = -1;

		len = trie_longest(s->trie, s->word + at, n - at, &id);
		if (!len) {
			s->out->n = before;
			return s->unknown < 0 ? 0 : tokens_push(s->out, s->unknown);
		}
		err = tokens_push(s->out, id);
	}
	return err;
}

static int add_char(struct wpm_scratch *s, uint32_t c)
{
	if (s->cap - s->n < 4) {
		char *more = realloc(s->word, 2 * s->cap);

		if (!more)
			return -ENOMEM;
		s->word = more;
		s->cap *= 2;
	}
	s->n += utf8_encode(c, s->word + s->n);
	return 0;
}

static bool is_chinese(uint32_t c)
{
	static const uint32_t range[][2] = {
		{ 0x3400, 0x4dbf },   { 0x4e00, 0x9fff },   { 0xf900, 0xfaff },   { 0x20000, 0x2a6df },
		{ 0x2a700, 0x2b73f }, { 0x2b740, 0x2b81f }, { 0x2b920, 0x2ceaf }, { 0x2f800, 0x2fa1f },
	};

	for (size_t i = 0; i < sizeof range / sizeof *range; i++)
		if (c >= range[i][0] && c <= range[i][1])
			return true;
	return false;
}

static bool is_space(uint32_t c, utf8proc_category_t cat)
{
	return (c >= 9 && c <= 13) || c == 0x85 || cat == UTF8PROC_CATEGORY_ZS || cat == UTF8PROC_CATEGORY_ZL ||
	       cat == UTF8PROC_CATEGORY_ZP;
}

/* Control characters, and accents once they are apart from their letter. */
static bool is_dropped(uint32_t c, utf8proc_category_t cat)
{
	return c == 0 || c == 0xfffd || cat == UTF8PROC_CATEGORY_CC || cat == UTF8PROC_CATEGORY_CF ||
	       cat == UTF8PROC_CATEGORY_CS || cat == UTF8PROC_CATEGORY_CO || cat == UTF8PROC_CATEGORY_MN;
}

static bool stands_alone(uint32_t c, utf8proc_category_t cat)
{
	bool punctuation = cat >= UTF8PROC_CATEGORY_PC && cat <= UTF8PROC_CATEGORY_PO;
	bool symbol = cat >= UTF8PROC_CATEGORY_SM && cat <= UTF8PROC_CATEGORY_SO;

	return punctuation || (symbol && c < 0x7f) || is_chinese(c);
}

/* One character of the decomposed text. */
static int take_char(struct wpm_scratch *s, uint32_t c)
{
	utf8proc_category_t cat = utf8proc_category((utf8proc_int32_t)c);
	uint32_t lower;
	int err = 0;

	if (is_space(c, cat))
		return end_word(s);
	if (is_dropped(c, cat))
		return 0;
	lower = (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
	if (!stands_alone(c, cat))
		return add_char(s, lower);
	err = end_word(s);
	if (!err)
		err = add_char(s, lower);
	return err ? err : end_word(s);
}

/*
 * The first character of c's canonical decomposition: a letter without its accents. Of a Hangul syllable that leaves the
 * first jamo only; llama.cpp does so, and embeddings are compared with those made by it.
 */
static uint32_t without_accents(uint32_t c)
{
	enum { MOST = 8 }; /* of canonical decompositions: 4 */
	utf8proc_int32_t part[MOST];
	int boundary = 0;

	if (c < 0xc0 || utf8proc_decompose_char((utf8proc_int32_t)c, part, MOST, UTF8PROC_DECOMPOSE, &boundary) < 1)
		return c;
	return (uint32_t)part[0];
}

static void *begin(const struct vocab *v, size_t n)
{
	struct wpm_scratch *s = calloc(1, sizeof *s);
	char *word = malloc(256);

	(void)n;
	if (!s || !word) {
		free(s);
		free(word);
		return NULL;
	}
	memcpy(word, LOW_BLOCK, LOW_BLOCK_BYTES);
	*s = (struct wpm_scratch){ word, LOW_BLOCK_BYTES, 256, v->data, v->role[ROLE_UNK], NULL };
	return s;
}

static int encode(const struct vocab *v, void *scratch, const struct fragment *f, struct tokens *out)
{
	struct wpm_scratch *s = scratch;
	int err = 0;

	(void)v;
	s->out = out;
	for (size_t at = 0; at < f->n && !err;) {
		size_t len = utf8_valid(f->p + at, f->n - at);

		if (len)
			err = take_char(s, without_accents(utf8_decode(f->p + at, len)));
		at += len ? len : 1;
	}
	return err ? err : end_word(s);
}

static void end(void *scratch)
{
	struct wpm_scratch *s = scratch;

	free(s->word);
	free(s);
}

const struct token_model token_model_wpm = {
	.name = "bert",
	.bos = 101, .eos = -1, .unk = 100, .sep = 102, .pad = 0, .mask = 103,
	.habits = HABIT_BOS | HABIT_SEP,
	.load = load, .unload = unload,
	.begin = begin, .encode = encode, .end = end,
	.piece = piece_low_block,
};
