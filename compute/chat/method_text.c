/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memmem */
/* Methods of strings that cut, pad and fill them in. */
#include "format.h"
#include "textops.h"
#include <string.h>

/* Whether the character is one of chars, or whitespace when that is NULL. */
static bool among(const struct str *chars, const char *p, size_t n)
{
	size_t len;

	if (!chars)
		return uc_space(utf8_get(p, n, &len));
	return memmem(chars->p, chars->n, p, n) != NULL;
}

struct str *strip_text(struct run *r, struct str *s, const struct str *chars, unsigned sides)
{
	size_t from = 0, to = s->n, len;

	while (sides & STRIP_LEFT && from < to) {
		utf8_get(s->p + from, to - from, &len);
		if (!among(chars, s->p + from, len))
			break;
		from += len;
	}
	while (sides & STRIP_RIGHT && from < to) {
		len = utf8_last(s->p + from, to - from);
		if (!among(chars, s->p + to - len, len))
			break;
		to -= len;
	}
	job_charge(&r->job, (s->n - (to - from)) / 8 * (chars ? 1 + chars->n / 64 : 1));
	return to - from == s->n ? s : str_part(&r->job, s, from, to);
}

static struct value strip(struct run *r, const struct value *a, const char *who, unsigned sides)
{
	const struct str *chars = given(a[1]) && a[1].type != V_NONE ? want_str(r, a[1], who) : NULL;

	return v_str(strip_text(r, a[0].s, chars, sides));
}

static struct value m_strip(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return strip(r, a, "strip", STRIP_LEFT | STRIP_RIGHT);
}

static struct value m_lstrip(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return strip(r, a, "lstrip", STRIP_LEFT);
}

static struct value m_rstrip(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return strip(r, a, "rstrip", STRIP_RIGHT);
}

static struct str *padded(struct run *r, struct str *s, int64_t left, int64_t right, const struct str *fill)
{
	struct buf b = { .j = &r->job };

	buf_repeat(&b, fill, left > 0 ? (uint64_t)left : 0);
	buf_str(&b, s);
	buf_repeat(&b, fill, right > 0 ? (uint64_t)right : 0);
	return str_marked(buf_take(&b), s->safe);
}

static struct str *fill_char(struct run *r, struct value v)
{
	struct str *fill = given(v) ? want_str(r, v, "fillchar") : str_literal(&r->job, " ");

	if (str_chars(fill) != 1)
		run_fail(r, "The fill character must be exactly one character long");
	return fill;
}

static int64_t missing_width(struct run *r, struct str *s, struct value width)
{
	int64_t w = want_int(r, width, 0), n = (int64_t)str_chars(s);

	return w > n ? w - n : 0;
}

/* The odd space goes where Python's own str.center puts it. */
static struct str *centered(struct run *r, struct str *s, struct value width, struct str *fill)
{
	int64_t pad = missing_width(r, s, width), w = (int64_t)str_chars(s) + pad;
	int64_t left = pad / 2 + (pad & w & 1);

	return padded(r, s, left, pad - left, fill);
}

struct str *center_text(struct run *r, struct str *s, int64_t width)
{
	return centered(r, s, v_int(width), str_literal(&r->job, " "));
}

static struct value m_center(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_str(centered(r, a[0].s, a[1], fill_char(r, a[2])));
}

static struct value m_ljust(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_str(padded(r, a[0].s, 0, missing_width(r, a[0].s, a[1]), fill_char(r, a[2])));
}

static struct value m_rjust(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_str(padded(r, a[0].s, missing_width(r, a[0].s, a[1]), 0, fill_char(r, a[2])));
}

static struct value m_zfill(struct run *r, const struct value *a, const struct args *all)
{
	struct str *s = a[0].s;
	size_t sign = s->n && (*s->p == '-' || *s->p == '+');
	struct buf b = { .j = &r->job };

	(void)all;
	buf_add(&b, s->p, sign);
	buf_repeat(&b, str_literal(&r->job, "0"), (uint64_t)missing_width(r, s, a[1]));
	buf_add(&b, s->p + sign, s->n - sign);
	return v_str(str_marked(buf_take(&b), s->safe));
}

static struct value m_expandtabs(struct run *r, const struct value *a, const struct args *all)
{
	int64_t size = want_int(r, a[1], 8), column = 0;
	struct buf b = { .j = &r->job };
	const struct str *s = a[0].s;
	size_t len;

	(void)all;
	job_charge(&r->job, s->n / 8);
	for (size_t i = 0; i < s->n; i += len) {
		uint32_t c = utf8_get(s->p + i, s->n - i, &len);
		int64_t pad = size > 0 ? size - column % size : 0;

		if (c == '\t')
			buf_repeat(&b, str_literal(&r->job, " "), (uint64_t)pad);
		else
			buf_add(&b, s->p + i, len);
		column = c == '\n' || c == '\r' ? 0 : column + (c == '\t' ? pad : 1);
	}
	return v_str(str_marked(buf_take(&b), s->safe));
}

static struct value m_format(struct run *r, const struct value *a, const struct args *all)
{
	struct args rest = { all->v + 1, all->n - 1, all->kw, all->nkw };

	return v_str(format_braces(r, a[0].s, &rest, NULL));
}

static struct value m_format_map(struct run *r, const struct value *a, const struct args *all)
{
	struct args none = { .n = 0 };

	(void)all;
	if (a[1].type != V_DICT)
		run_fail(r, "format_map() argument must be a mapping");
	return v_str(format_braces(r, a[0].s, &none, a[1].d));
}

struct str *escape_html(struct run *r, struct str *s)
{
	static const struct { char c; const char *text; } entities[] = {
		{ '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '\'', "&#39;" }, { '"', "&#34;" },
	};
	struct buf b = { .j = &r->job };

	if (s->safe)
		return s;
	job_charge(&r->job, s->n / 8);
	for (size_t i = 0; i < s->n; i++) {
		const char *text = NULL;

		for (size_t k = 0; k < sizeof entities / sizeof *entities; k++)
			if (s->p[i] == entities[k].c)
				text = entities[k].text;
		if (text)
			buf_text(&b, text);
		else
			buf_add(&b, s->p + i, 1);
	}
	return str_marked(buf_take(&b), true);
}

const struct builtin text_methods[] = {
	{ "strip", m_strip, "self chars?" },
	{ "lstrip", m_lstrip, "self chars?" },
	{ "rstrip", m_rstrip, "self chars?" },
	{ "center", m_center, "self width fillchar?" },
	{ "ljust", m_ljust, "self width fillchar?" },
	{ "rjust", m_rjust, "self width fillchar?" },
	{ "zfill", m_zfill, "self width" },
	{ "expandtabs", m_expandtabs, "self tabsize?" },
	{ "format", m_format, "self *" },
	{ "format_map", m_format_map, "self mapping" },
	{ .name = NULL },
};
