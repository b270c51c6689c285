/* SPDX-License-Identifier: MIT */
/*
 * Pre-tokenizers: the patterns published for each name of tokenizer.ggml.pre, applied one after another, each cutting the
 * pieces of the one before. PCRE2 runs them with its JIT and Unicode properties.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>
#include "error.h"
#include "split.h"
#include "utf8.h"

#define THOUSANDS "" /* no pattern could do it in linear time */
enum { STAGES_MAX = 6, JIT_STACK_START = 32 << 10, JIT_STACK_MAX = 8 << 20 };

static const struct pre {
	const char *names; /* separated by spaces */
	unsigned flags;
	const char *pattern[STAGES_MAX];
} pres[] = {
#define PRE(names, flags, ...) { names, flags, { __VA_ARGS__ } },
#include "pre.def"
#undef PRE
};
enum { PRES = sizeof pres / sizeof *pres };

struct splitter {
	const struct pre *pre;
	size_t stages;
	struct {
		pcre2_code *code; /* NULL: THOUSANDS */
		bool jit;
	} stage[STAGES_MAX];
};

struct split_state {
	pcre2_match_data *match;
	pcre2_match_context *context;
	pcre2_jit_stack *stack;
};

struct words { /* one call of split_text */
	const struct splitter *s;
	struct split_state *st;
	word_fn *fn;
	void *ctx;
};

/* The name at p, without the spaces around it; *p moves behind it. Empty at the end. */
static struct gguf_bytes next_name(const char **p)
{
	struct gguf_bytes name;

	*p += strspn(*p, " ");
	name = (struct gguf_bytes){ *p, strcspn(*p, " ") };
	*p += name.n;
	return name;
}

struct gguf_bytes split_name(size_t i)
{
	for (size_t k = 0; k < PRES; k++) {
		const char *p = pres[k].names;

		for (struct gguf_bytes name = next_name(&p); name.n; name = next_name(&p))
			if (!i--)
				return name;
	}
	return (struct gguf_bytes){ 0 };
}

static const struct pre *find_pre(struct gguf_bytes want)
{
	for (size_t k = 0; k < PRES; k++) {
		const char *p = pres[k].names;

		for (struct gguf_bytes name = next_name(&p); name.n; name = next_name(&p))
			if (name.n == want.n && !memcmp(name.p, want.p, name.n))
				return &pres[k];
	}
	return NULL;
}

static int compile(struct splitter *s, const char *pattern, struct gguf_error *e)
{
	pcre2_code *code;
	PCRE2_SIZE at;
	int why;

	if (!*pattern) {
		s->stages++;
		return 0;
	}
	code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP, &why, &at, NULL);
	if (!code)
		return gguf_fail(e, why == PCRE2_ERROR_NOMEMORY ? -ENOMEM : -EINVAL, 0,
				 "pattern of a pre-tokenizer does not compile: error %d at %zu", why, at);
	s->stage[s->stages].jit = !pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
	s->stage[s->stages++].code = code;
	return 0;
}

int splitter_make(struct splitter **out, struct gguf_bytes name, struct gguf_error *e)
{
	const struct pre *pre = find_pre(name);
	struct splitter *s;
	int err = 0;

	if (!pre)
		return gguf_fail(e, -ENOTSUP, 0, "tokenizer.ggml.pre: the pre-tokenizer '%.*s' is unknown",
				 (int)(name.n < 60 ? name.n : 60), name.p);
	s = calloc(1, sizeof *s);
	if (!s)
		return gguf_fail(e, -ENOMEM, 0, "no memory for a pre-tokenizer");
	s->pre = pre;
	for (size_t i = 0; i < STAGES_MAX && pre->pattern[i] && !err; i++)
		err = compile(s, pre->pattern[i], e);
	if (err)
		splitter_free(s);
	else
		*out = s;
	return err;
}

void splitter_free(struct splitter *s)
{
	for (size_t i = 0; s && i < s->stages; i++)
		pcre2_code_free(s->stage[i].code);
	free(s);
}

unsigned splitter_flags(const struct splitter *s)
{
	return s->pre->flags;
}

struct split_state *split_state_make(void)
{
	struct split_state *st = calloc(1, sizeof *st);

	if (!st)
		return NULL;
	st->match = pcre2_match_data_create(1, NULL);
	st->context = pcre2_match_context_create(NULL);
	st->stack = pcre2_jit_stack_create(JIT_STACK_START, JIT_STACK_MAX, NULL);
	if (!st->match || !st->context) {
		split_state_free(st);
		return NULL;
	}
	if (st->stack)
		pcre2_jit_stack_assign(st->context, NULL, st->stack);
	pcre2_set_match_limit(st->context, UINT32_MAX);
	return st;
}

void split_state_free(struct split_state *st)
{
	if (!st)
		return;
	pcre2_match_data_free(st->match);
	pcre2_match_context_free(st->context);
	pcre2_jit_stack_free(st->stack);
	free(st);
}

static int split_stage(const struct words *w, size_t stage, const char *p, size_t n);

static bool is_number(const char *p, size_t len)
{
	utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)utf8_decode(p, len));

	return c == UTF8PROC_CATEGORY_ND || c == UTF8PROC_CATEGORY_NL || c == UTF8PROC_CATEGORY_NO;
}

/* Bytes of the longest run at p whose characters are all numbers, or all none; *chars of them. */
static size_t number_run(const char *p, size_t n, bool number, size_t *chars)
{
	size_t at = 0, len;

	for (*chars = 0; at < n; at += len, ++*chars) {
		len = utf8_length(p[at]);
		if (is_number(p + at, len) != number)
			break;
	}
	return at;
}

/* A run of digits: one or two that are left over, then threes. */
static int split_digits(const struct words *w, size_t stage, const char *p, size_t n, size_t chars)
{
	size_t at = 0;
	int err = 0;

	while (at < n && !err) {
		size_t take = chars % 3 ? chars % 3 : 3, len = 0;

		chars -= take;
		while (take--)
			len += utf8_length(p[at + len]);
		err = split_stage(w, stage, p + at, len);
		at += len;
	}
	return err;
}

static int split_thousands(const struct words *w, size_t stage, const char *p, size_t n)
{
	size_t at = 0;
	int err = 0;

	while (at < n && !err) {
		size_t chars, text = number_run(p + at, n - at, false, &chars);
		size_t digits = number_run(p + at + text, n - at - text, true, &chars);

		err = split_stage(w, stage + 1, p + at, text);
		if (!err)
			err = split_digits(w, stage + 1, p + at + text, digits, chars);
		at += text + digits;
	}
	return err;
}

/* Finds the next match from at on: its ends in *from and *to. Returns 1, 0 without one, or a negative errno. */
static int find(const struct words *w, size_t stage, const char *p, size_t n, size_t at, size_t *from, size_t *to)
{
	const pcre2_code *code = w->s->stage[stage].code;
	PCRE2_SPTR text = (PCRE2_SPTR)p;
	const PCRE2_SIZE *ends;
	int rc = PCRE2_ERROR_JIT_STACKLIMIT;

	if (w->s->stage[stage].jit)
		rc = pcre2_jit_match(code, text, n, at, 0, w->st->match, w->st->context);
	if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
		rc = pcre2_match(code, text, n, at, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, w->st->match, w->st->context);
	if (rc == PCRE2_ERROR_NOMATCH)
		return 0;
	if (rc < 0)
		return rc == PCRE2_ERROR_NOMEMORY || rc == PCRE2_ERROR_HEAPLIMIT ? -ENOMEM : -EINVAL;
	ends = pcre2_get_ovector_pointer(w->st->match);
	*from = ends[0];
	*to = ends[1];
	return 1;
}

static int split_stage(const struct words *w, size_t stage, const char *p, size_t n)
{
	size_t at = 0, from, to;
	int err = 0;

	if (!n)
		return 0;
	if (stage == w->s->stages)
		return w->fn(w->ctx, p, n);
	if (!w->s->stage[stage].code)
		return split_thousands(w, stage, p, n);
	while (at < n) {
		int found = find(w, stage, p, n, at, &from, &to);

		if (found < 0)
			return found;
		if (!found)
			break;
		err = split_stage(w, stage + 1, p + at, from - at);
		if (!err)
			err = split_stage(w, stage + 1, p + from, to - from);
		if (err)
			return err;
		at = to;
	}
	return split_stage(w, stage + 1, p + at, n - at);
}

int split_text(const struct splitter *s, struct split_state *st, const char *p, size_t n, word_fn *fn, void *ctx)
{
	struct words w = { s, st, fn, ctx };

	return split_stage(&w, 0, p, n);
}
