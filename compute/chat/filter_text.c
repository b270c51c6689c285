/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memmem */
/* Filters that make text. */
#include "format.h"
#include "json.h"
#include "textops.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct value f_string(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_str(to_str(r, a[0]));
}

static struct value f_trim(struct run *r, const struct value *a, const struct args *all)
{
	const struct str *chars = given(a[1]) && a[1].type != V_NONE ? want_str(r, a[1], "trim") : NULL;

	(void)all;
	return v_str(strip_text(r, to_str(r, a[0]), chars, STRIP_LEFT | STRIP_RIGHT));
}

static struct value f_upper(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_str(upper_text(r, to_str(r, a[0])));
}

static struct value f_lower(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_str(lower_text(r, to_str(r, a[0])));
}

static struct value f_capitalize(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_str(capitalize_text(r, to_str(r, a[0])));
}

/* Words start behind whitespace and any of these, unlike str.title(). */
static struct value f_title(struct run *r, const struct value *a, const struct args *all)
{
	struct str *s = to_str(r, a[0]);
	struct buf b = { .j = &r->job };
	size_t from = 0, len;
	bool gap = true;

	(void)all;
	for (size_t i = 0; i <= s->n; i += len) {
		uint32_t c = i < s->n ? utf8_get(s->p + i, s->n - i, &len) : ' ';
		bool now = uc_space(c) || (c < 0x80 && c && strchr("-({[<", (int)c));

		len = i < s->n ? len : 1;
		if (now && !gap && i > from) {
			size_t first = from + str_offset(str_new(&r->job, s->p + from, s->n - from), 1);

			buf_str(&b, upper_text(r, str_new(&r->job, s->p + from, first - from)));
			buf_str(&b, lower_text(r, str_new(&r->job, s->p + first, i - first)));
		}
		if (now && i < s->n)
			buf_add(&b, s->p + i, len);
		if (!now && gap)
			from = i;
		gap = now;
	}
	return v_str(buf_take(&b));
}

static struct value f_center(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_str(center_text(r, to_str(r, a[0]), want_int(r, a[1], 80)));
}

static struct value f_replace(struct run *r, const struct value *a, const struct args *all)
{
	int64_t count = given(a[3]) && a[3].type != V_NONE ? want_int(r, a[3], -1) : -1;

	(void)all;
	return v_str(replace_text(r, to_str(r, a[0]), to_str(r, a[1]), to_str(r, a[2]), count));
}

/* Each line but the first (and blank ones, unless asked for) after width; a newline at the end goes. */
static struct value f_indent(struct run *r, const struct value *a, const struct args *all)
{
	bool first = bool_or(a[2], false), blank = bool_or(a[3], false);
	struct buf b = { .j = &r->job }, width = { .j = &r->job };

	(void)all;
	if (a[0].type == V_UNDEFINED)
		undefined_fail(r, a[0]);
	struct list *lines =
		split_lines(r, str_concat(&r->job, want_str(r, a[0], "indent"), str_literal(&r->job, "\n")), false);
	if (given(a[1]) && a[1].type == V_STRING) {
		buf_str(&width, a[1].s);
	} else {
		int64_t n = want_int(r, a[1], 4);

		buf_repeat(&width, str_literal(&r->job, " "), n > 0 ? (uint64_t)n : 0);
	}
	struct str *indent = buf_take(&width);
	for (size_t i = 0; i < lines->n; i++) {
		buf_text(&b, i ? "\n" : "");
		if (i ? blank || lines->v[i].s->n : first)
			buf_str(&b, indent);
		buf_str(&b, lines->v[i].s);
	}
	return v_str(str_marked(buf_take(&b), a[0].s->safe));
}

/* Cuts at a word, unless killwords; a text that is longer only by leeway stays whole. */
static struct value f_truncate(struct run *r, const struct value *a, const struct args *all)
{
	struct str *end = str_or(r, a[3], "..."), *s;
	int64_t length = want_int(r, a[1], 255), leeway = given(a[4]) && a[4].type != V_NONE ? want_int(r, a[4], 5) : 5;
	int64_t keep = length - (int64_t)str_chars(end);
	struct buf b = { .j = &r->job };

	(void)all;
	if (keep < 0 || leeway < 0)
		run_fail(r, "truncate(): length is shorter than the end, or leeway is negative");
	if (length_of(r, a[0]) <= length || length_of(r, a[0]) - length <= leeway)
		return a[0];
	s = want_str(r, a[0], "truncate");
	size_t to = str_offset(s, (size_t)keep), space = to;
	while (space && s->p[space - 1] != ' ')
		space--;
	if (!bool_or(a[2], false) && space)
		to = space - 1;
	buf_add(&b, s->p, to);
	buf_str(&b, s->safe ? escape_html(r, end) : end);
	return v_str(str_marked(buf_take(&b), s->safe));
}

static struct value f_format(struct run *r, const struct value *a, const struct args *all)
{
	struct str *s = to_str(r, a[0]);
	struct list *l = list_new(&r->job, all->n);
	struct dict *d = dict_new(&r->job);

	if (all->n > 1 && all->nkw)
		run_fail(r, "can't handle positional and keyword arguments at the same time");
	for (size_t i = 1; i < all->n; i++)
		list_push(&r->job, l, all->v[i]);
	for (size_t i = 0; i < all->nkw; i++)
		dict_put(&r->job, d, v_str(all->kw[i].name), all->kw[i].value);
	return v_str(format_percent(r, s, all->nkw ? v_dict(d) : v_tuple(l)));
}

/* A number of spaces, a text, or NULL for one line. */
static const struct str *json_indent(struct run *r, struct value v)
{
	struct buf b = { .j = &r->job };

	if (!given(v) || v.type == V_NONE)
		return NULL;
	if (v.type == V_STRING)
		return v.s;
	int64_t n = want_int(r, v, 0);
	buf_repeat(&b, str_literal(&r->job, " "), n > 0 ? (uint64_t)n : 0);
	return buf_take(&b);
}

static struct value f_tojson(struct run *r, const struct value *a, const struct args *all)
{
	struct json_style style = { .ascii = bool_or(a[1], false),
				    .indent = json_indent(r, a[2]),
				    .sort = bool_or(a[4], false) };

	(void)all;
	style.item = str_literal(&r->job, style.indent ? "," : ", ");
	style.key = str_literal(&r->job, ": ");
	if (given(a[3]) && a[3].type != V_NONE) {
		struct list *l = items_of(r, a[3]);

		if (l->n != 2)
			run_fail(r, "tojson: separators must be two texts");
		style.item = want_str(r, l->v[0], "separators");
		style.key = want_str(r, l->v[1], "separators");
	}
	return v_str(to_json(r, a[0], &style));
}

static struct value f_safe(struct run *r, const struct value *a, const struct args *all)
{
	struct str *s = str_new(&r->job, "", 0);

	(void)all;
	*s = *to_str(r, a[0]);
	s->safe = true;
	return v_str(s);
}

static struct value f_escape(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_str(escape_html(r, to_str(r, a[0])));
}

static struct value f_forceescape(struct run *r, const struct value *a, const struct args *all)
{
	struct str s = *to_str(r, a[0]);

	(void)all;
	s.safe = false;
	return v_str(escape_html(r, &s));
}

static bool unreserved(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c && strchr("_.-~", c));
}

/* For a URL; query: a space is a plus, and a slash is quoted. */
static void put_quoted(struct run *r, struct buf *b, struct value v, bool query)
{
	const struct str *s = to_str(r, v);
	char text[8];

	job_charge(&r->job, s->n / 4);
	for (size_t i = 0; i < s->n; i++) {
		char c = s->p[i];

		if (unreserved(c) || (c == '/' && !query))
			buf_add(b, &c, 1);
		else if (c == ' ' && query)
			buf_add(b, "+", 1);
		else
			buf_add(b, text, (size_t)snprintf(text, sizeof text, "%%%02X", (unsigned char)c));
	}
}

static struct value f_urlencode(struct run *r, const struct value *a, const struct args *all)
{
	struct buf b = { .j = &r->job };
	struct cursor c;
	struct value pair;

	(void)all;
	if (a[0].type == V_STRING || !iterable(a[0])) {
		put_quoted(r, &b, a[0], false);
		return v_str(buf_take(&b));
	}
	cursor_start(r, &c, a[0].type == V_DICT ? v_list(items_of(r, (struct value){ .type = V_VIEW,
		     .view = &(struct view){ a[0].d, VIEW_ITEMS } })) : a[0]);
	for (bool more = false; cursor_next(r, &c, &pair); more = true) {
		struct list *l = items_of(r, pair);

		if (l->n != 2)
			run_fail(r, "urlencode: pairs are needed");
		buf_text(&b, more ? "&" : "");
		put_quoted(r, &b, l->v[0], true);
		buf_text(&b, "=");
		put_quoted(r, &b, l->v[1], true);
	}
	return v_str(buf_take(&b));
}

static struct value f_xmlattr(struct run *r, const struct value *a, const struct args *all)
{
	struct buf b = { .j = &r->job };
	bool space = bool_or(a[1], true);

	(void)all;
	if (a[0].type != V_DICT)
		run_fail(r, "'%s' object has no attribute 'items'", type_name(a[0]));
	for (size_t i = 0; i < a[0].d->n; i++) {
		const struct pair *p = &a[0].d->v[i];
		const struct str *key = to_str(r, p->key);

		if (p->value.type == V_NONE || p->value.type == V_UNDEFINED)
			continue;
		for (size_t k = 0; k < key->n; k++)
			if (strchr(" \t\n\r\f\v/>=", key->p[k]))
				run_fail(r, "Invalid character in attribute name: '%.*s'", (int)key->n, key->p);
		buf_text(&b, b.n || space ? " " : "");
		buf_str(&b, escape_html(r, to_str(r, p->key)));
		buf_text(&b, "=\"");
		buf_str(&b, escape_html(r, to_str(r, p->value)));
		buf_text(&b, "\"");
	}
	return v_str(buf_take(&b));
}

/* Tags and comments out, entities back, runs of whitespace to one space. */
static struct value f_striptags(struct run *r, const struct value *a, const struct args *all)
{
	struct str *s = to_str(r, a[0]);
	struct buf b = { .j = &r->job };
	static const struct { const char *entity, *text;
	} entities[] = {
		{ "&lt;", "<" },   { "&gt;", ">" },    { "&#39;", "'" },
		{ "&#34;", "\"" }, { "&quot;", "\"" }, { "&amp;", "&" },
	};
	size_t i = 0;

	(void)all;
	job_charge(&r->job, s->n / 4);
	while (i < s->n) {
		const char *p = s->p + i, *close = NULL;
		bool comment = s->n - i >= 4 && !memcmp(p, "<!--", 4);

		if (*p == '<')
			close = comment ? memmem(p + 4, s->n - i - 4, "-->", 3) : memchr(p, '>', s->n - i);
		if (close) {
			i = (size_t)(close - s->p) + (comment ? 3 : 1);
			continue;
		}
		buf_add(&b, p, 1);
		i++;
	}
	struct str *out = join_text(r, str_literal(&r->job, " "), split_space(r, buf_take(&b), -1), true);
	for (size_t k = 0; k < sizeof entities / sizeof *entities; k++)
		out = replace_text(r, out, str_literal(&r->job, entities[k].entity),
				   str_literal(&r->job, entities[k].text), -1);
	return v_str(out);
}

static bool word_char(uint32_t c)
{
	return c == '_' || uc_alpha(c) || uc_numeric(c);
}

static struct value f_wordcount(struct run *r, const struct value *a, const struct args *all)
{
	struct str *s = to_str(r, a[0]);
	bool inside = false;
	int64_t n = 0;
	size_t len;

	(void)all;
	job_charge(&r->job, s->n / 8);
	for (size_t i = 0; i < s->n; i += len) {
		bool now = word_char(utf8_get(s->p + i, s->n - i, &len));

		n += now && !inside;
		inside = now;
	}
	return v_int(n);
}

static struct value f_filesizeformat(struct run *r, const struct value *a, const struct args *all)
{
	bool binary = bool_or(a[1], false);
	double bytes = is_number(a[0]) ? number_double(a[0]) : 0, base = binary ? 1024 : 1000, unit = base;
	const char *prefix = "kMGTPEZY";
	char text[400];

	(void)all;
	if (a[0].type == V_STRING ? !number_float(a[0].s, &bytes) : !is_number(a[0]))
		run_fail(r, "filesizeformat: not a number");
	if (bytes == 1)
		return v_str(str_literal(&r->job, "1 Byte"));
	if (bytes < base) {
		snprintf(text, sizeof text, "%.0f Bytes", trunc(bytes));
		return v_str(str_copy(&r->job, text, strlen(text)));
	}
	while (prefix[1] && bytes >= unit * base) {
		unit *= base;
		prefix++;
	}
	snprintf(text, sizeof text, "%.1f %c%sB", bytes / unit, binary && *prefix == 'k' ? 'K' : *prefix,
		 binary ? "i" : "");
	return v_str(str_copy(&r->job, text, strlen(text)));
}

static struct value f_pprint(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_str(to_repr(r, a[0]));
}

const struct builtin text_filters[] = {
	{ "string", f_string, "object" },
	{ "trim", f_trim, "value chars?" },
	{ "upper", f_upper, "s" },
	{ "lower", f_lower, "s" },
	{ "capitalize", f_capitalize, "s" },
	{ "title", f_title, "s" },
	{ "center", f_center, "value width?" },
	{ "replace", f_replace, "s old new count?" },
	{ "indent", f_indent, "s width? first? blank?" },
	{ "truncate", f_truncate, "s length? killwords? end? leeway?" },
	{ "format", f_format, "value *" },
	{ "tojson", f_tojson, "x ensure_ascii? indent? separators? sort_keys?" },
	{ "safe", f_safe, "value" },
	{ "escape", f_escape, "s" },
	{ "e", f_escape, "s" },
	{ "forceescape", f_forceescape, "value" },
	{ "urlencode", f_urlencode, "value" },
	{ "xmlattr", f_xmlattr, "d autospace?" },
	{ "striptags", f_striptags, "value" },
	{ "wordcount", f_wordcount, "s" },
	{ "filesizeformat", f_filesizeformat, "value binary?" },
	{ "pprint", f_pprint, "value" },
	{ .name = NULL },
};
