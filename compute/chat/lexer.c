/* SPDX-License-Identifier: MIT */
/*
 * Jinja's tokens. trim_blocks and lstrip_blocks are on, as in Transformers, and a dash or plus at a tag's end has its say
 * over them.
 */
#define _GNU_SOURCE /* memmem */
#include "lexer.h"
#include "number.h"
#include <errno.h>
#include <string.h>

static const char *const names[T_KINDS] = {
#define O(name, text) [T_##name] = text,
	OPERATORS(O) TOKENS(O)
#undef O
};

struct lexer {
	struct job *j;
	const char *p;
	size_t n, at;
	unsigned line;
	bool line_start;          /* whether the last tag ended with a line */
	struct tokens_of *out;
	char closers[256];        /* of the brackets that are open in this tag */
	unsigned open;
};

const char *token_name(enum token_kind kind)
{
	return names[kind];
}

__attribute__((format(printf, 2, 3), noreturn))
static void lex_fail(struct lexer *x, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	job_vfail(x->j, -EINVAL, x->at, x->line, fmt, ap);
}

static struct token *token_add(struct lexer *x, enum token_kind kind)
{
	struct tokens_of *t = x->out;

	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 64;
		t->v = job_grow(x->j, t->v, t->n, t->cap, sizeof *t->v);
	}
	t->v[t->n] = (struct token){ .kind = kind, .line = x->line, .at = x->at };
	return &t->v[t->n++];
}

static bool here(const struct lexer *x, const char *text)
{
	size_t n = strlen(text);

	return x->n - x->at >= n && !memcmp(x->p + x->at, text, n);
}

static void advance(struct lexer *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x->line += x->p[x->at + i] == '\n';
	x->at += n;
}

/* Bytes of whitespace at p. */
static size_t space_length(const char *p, size_t n)
{
	size_t i = 0, len;

	for (; i < n; i += len)
		if (!uc_space(utf8_get(p + i, n - i, &len)))
			break;
	return i;
}

static void skip_space(struct lexer *x)
{
	advance(x, space_length(x->p + x->at, x->n - x->at));
}

/*
 * What is left of n bytes of text before a tag whose sign is '-', '+' or 0. lstrip: the tag strips its own line;
 * line_start: the text starts one.
 */
static size_t text_before(const char *p, size_t n, char sign, bool lstrip, bool line_start)
{
	size_t line = n;

	if (sign == '-') {
		while (n) {
			size_t k = utf8_last(p, n), len;

			if (!uc_space(utf8_get(p + n - k, k, &len)))
				break;
			n -= k;
		}
		return n;
	}
	if (sign == '+' || !lstrip)
		return n;
	while (line && p[line - 1] != '\n')
		line--;
	if ((line || line_start) && space_length(p + line, n - line) == n - line)
		return line;
	return n;
}

static void add_data(struct lexer *x, const char *p, size_t n)
{
	if (n)
		token_add(x, T_DATA)->s = str_new(x->j, p, n);
}

static char sign_at(const struct lexer *x, size_t at)
{
	return at < x->n && (x->p[at] == '-' || x->p[at] == '+') ? x->p[at] : 0;
}

/*
 * The end of a tag at x->at: close, with '-' (eats space behind) or '+' before it where plus allows; trim: a newline
 * behind goes with it. False when there is none here.
 */
static bool tag_end(struct lexer *x, const char *close, bool plus, bool trim)
{
	char sign = sign_at(x, x->at);
	size_t start = x->at;

	if (sign == '+' && !plus)
		return false;
	x->at += sign != 0;
	if (!here(x, close)) {
		x->at = start;
		return false;
	}
	x->at += strlen(close);
	if (sign == '-')
		skip_space(x);
	else if (!sign && trim && x->at < x->n && x->p[x->at] == '\n')
		advance(x, 1);
	x->line_start = x->p[x->at - 1] == '\n';
	return true;
}

static void lex_comment(struct lexer *x)
{
	unsigned line = x->line;
	size_t at = x->at;

	while (x->at < x->n) {
		if (tag_end(x, "#}", true, true))
			return;
		advance(x, 1);
	}
	job_fail(x->j, -EINVAL, at, line, "Missing end of comment tag");
}

/* {% endraw %} at x->at: eats it. */
static bool raw_end(struct lexer *x)
{
	size_t start = x->at;
	unsigned line = x->line;

	x->at += 2;
	x->at += sign_at(x, x->at) != 0;
	skip_space(x);
	if (here(x, "endraw")) {
		x->at += 6;
		skip_space(x);
		if (tag_end(x, "%}", true, true))
			return true;
	}
	x->at = start;
	x->line = line;
	return false;
}

static void lex_raw(struct lexer *x)
{
	size_t from = x->at;
	struct token *t = token_add(x, T_DATA);
	bool line_start = x->line_start;

	for (;;) {
		const char *p = memmem(x->p + x->at, x->n - x->at, "{%", 2);

		if (!p)
			lex_fail(x, "Missing end of raw directive");
		size_t tag = (size_t)(p - x->p);
		advance(x, tag - x->at);
		if (raw_end(x)) {
			size_t n = text_before(x->p + from, tag - from, sign_at(x, tag + 2), true, line_start);

			t->s = str_new(x->j, x->p + from, n);
			return;
		}
		advance(x, 2);
	}
}

/* {% raw %} at x->at: eats it. */
static bool raw_begin(struct lexer *x)
{
	size_t start = x->at;
	unsigned line = x->line;

	x->at += 2;
	x->at += sign_at(x, x->at) != 0;
	skip_space(x);
	if (here(x, "raw")) {
		x->at += 3;
		skip_space(x);
		if (tag_end(x, "%}", false, false))
			return true;
	}
	x->at = start;
	x->line = line;
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static void lex_name(struct lexer *x)
{
	size_t n = 0;

	while (x->at + n < x->n && is_word(x->p[x->at + n]))
		n++;
	token_add(x, T_NAME)->s = str_new(x->j, x->p + x->at, n);
	x->at += n;
}

/* After a dot a number is an index: x.0.1 is (x.0).1. */
static size_t number_end(const struct lexer *x)
{
	size_t end = x->at;

	if (!end || x->p[end - 1] != '.')
		return x->n;
	while (end < x->n && is_digit(x->p[end]))
		end++;
	return end;
}

static void lex_number(struct lexer *x)
{
	struct value v;
	size_t n = number_literal(x->p + x->at, number_end(x) - x->at, &v);

	if (!n)
		lex_fail(x, "integer literal out of range");
	if (v.type == V_INT)
		token_add(x, T_INT)->i = v.i;
	else
		token_add(x, T_FLOAT)->f = v.f;
	x->at += n;
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* n hex digits after an escape's letter at p. */
static size_t hex_escape(struct lexer *x, struct buf *b, const char *p, const char *end, size_t n)
{
	uint32_t c = 0;

	for (size_t i = 1; i <= n; i++) {
		int d = p + i < end ? hex_digit(p[i]) : -1;

		if (d < 0)
			lex_fail(x, "truncated \\%c escape", *p);
		c = c << 4 | (uint32_t)d;
	}
	if (c > 0x10ffff)
		lex_fail(x, "illegal Unicode character");
	buf_char(b, c);
	return n + 1;
}

static size_t octal_escape(struct buf *b, const char *p, const char *end)
{
	uint32_t c = 0;
	size_t n = 0;

	for (; n < 3 && p + n < end && p[n] >= '0' && p[n] <= '7'; n++)
		c = c << 3 | (uint32_t)(p[n] - '0');
	buf_char(b, c);
	return n;
}

/* The escape after a backslash; p < end. Returns its length. */
static size_t escape(struct lexer *x, struct buf *b, const char *p, const char *end)
{
	static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
	const char *simple = memchr(from, *p, sizeof from - 1);

	if (simple)
		buf_add(b, &to[simple - from], 1);
	else if (*p == 'x' || *p == 'u' || *p == 'U')
		return hex_escape(x, b, p, end, *p == 'x' ? 2 : *p == 'u' ? 4 : 8);
	else if (*p >= '0' && *p <= '7')
		return octal_escape(b, p, end);
	else if (*p == 'N')
		lex_fail(x, "named characters (\\N) are not supported");
	else if (*p != '\n')
		buf_add(b, p - 1, 2);
	return 1;
}

static void lex_string(struct lexer *x)
{
	char quote = x->p[x->at];
	const char *p = x->p + x->at + 1, *end = p, *last = x->p + x->n;
	struct buf b = { .j = x->j };

	while (end < last && *end != quote)
		end += *end == '\\' ? 2 : 1;
	if (end >= last)
		lex_fail(x, "unexpected char '%c': the string does not end", quote);
	struct token *t = token_add(x, T_STRING);
	while (p < end) {
		const char *slash = memchr(p, '\\', (size_t)(end - p));

		buf_add(&b, p, (size_t)((slash ? slash : end) - p));
		p = slash ? slash + 1 + escape(x, &b, slash + 1, end) : end;
	}
	t->s = buf_take(&b);
	advance(x, (size_t)(end + 1 - x->p) - x->at);
}

/* Inside brackets, }} and %} are no end of the tag. */
static void balance(struct lexer *x, enum token_kind kind)
{
	static const struct { enum token_kind open; char close; } pairs[] = {
		{ T_LBRACE, '}' }, { T_LPAREN, ')' }, { T_LBRACKET, ']' },
	};
	char c = *names[kind];

	for (size_t i = 0; i < 3; i++)
		if (kind == pairs[i].open) {
			if (x->open == sizeof x->closers)
				lex_fail(x, "brackets are nested too deeply");
			x->closers[x->open++] = pairs[i].close;
			return;
		}
	if (c != '}' && c != ')' && c != ']')
		return;
	if (!x->open)
		lex_fail(x, "unexpected '%c'", c);
	if (x->closers[--x->open] != c)
		lex_fail(x, "unexpected '%c', expected '%c'", c, x->closers[x->open]);
}

static void lex_operator(struct lexer *x)
{
	for (enum token_kind k = 0; k <= T_RBRACE; k++)
		if (here(x, names[k])) {
			balance(x, k);
			token_add(x, k);
			x->at += strlen(names[k]);
			return;
		}
	size_t len;
	utf8_get(x->p + x->at, x->n - x->at, &len);
	lex_fail(x, "unexpected char '%.*s'", (int)len, x->p + x->at);
}

/* One token inside a tag, or the tag's end (false). */
static bool lex_inside(struct lexer *x, bool block)
{
	skip_space(x);
	if (x->at >= x->n)
		lex_fail(x, "the template ends inside a tag: '%s' is missing", block ? "%}" : "}}");
	size_t at = x->at;
	unsigned line = x->line;
	if (!x->open && tag_end(x, block ? "%}" : "}}", block, block)) {
		struct token *t = token_add(x, block ? T_BLOCK_END : T_VAR_END);

		t->at = at;
		t->line = line;
		return false;
	}
	char c = x->p[x->at];
	if (is_digit(c))
		lex_number(x);
	else if (is_word(c))
		lex_name(x);
	else if (c == '\'' || c == '"')
		lex_string(x);
	else
		lex_operator(x);
	return true;
}

static void lex_tag(struct lexer *x, bool block)
{
	token_add(x, block ? T_BLOCK_BEGIN : T_VAR_BEGIN);
	x->at += 2;
	x->at += sign_at(x, x->at) != 0;
	x->open = 0;
	while (lex_inside(x, block))
		;
}

/* Text up to the next tag, and the tag. */
static void lex_next(struct lexer *x)
{
	size_t from = x->at, to = from;

	while (to + 1 < x->n && (x->p[to] != '{' || !strchr("{%#", x->p[to + 1]) || !x->p[to + 1]))
		to++;
	if (to + 1 >= x->n) {
		add_data(x, x->p + from, x->n - from);
		x->at = x->n;
		return;
	}
	char c = x->p[to + 1];
	add_data(x, x->p + from, text_before(x->p + from, to - from, sign_at(x, to + 2), c != '{', x->line_start));
	advance(x, to - from);
	if (c == '#') {
		x->at += 2;
		x->at += sign_at(x, x->at) != 0;
		lex_comment(x);
	} else if (c == '%' && raw_begin(x)) {
		lex_raw(x);
	} else {
		lex_tag(x, c == '%');
	}
}

/* The template with single newlines, without the last one. */
static void normalize(struct lexer *x, const char *text, size_t n)
{
	char *q = job_alloc(x->j, n);

	x->p = q;
	for (size_t i = 0; i < n; i++) {
		*q++ = text[i] == '\r' ? '\n' : text[i];
		if (text[i] == '\r' && i + 1 < n && text[i + 1] == '\n')
			i++;
	}
	x->n = (size_t)(q - x->p);
	if (x->n && x->p[x->n - 1] == '\n')
		x->n--;
}

void lex(struct job *j, const char *text, size_t n, struct tokens_of *out)
{
	struct lexer x = { .j = j, .line = 1, .line_start = true, .out = out };

	normalize(&x, text, n);
	while (x.at < x.n)
		lex_next(&x);
	token_add(&x, T_EOF);
}
