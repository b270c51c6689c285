/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memmem */
/* Methods of strings that look for something in them. */
#include "textops.h"
#include <string.h>

static struct str *arg_text(struct run *r, struct value v, const char *who)
{
	return want_str(r, v, who);
}

/* The characters from .. to of s by Python's rules for start and end, in bytes. False for an empty range past the end. */
static bool byte_range(struct run *r, struct str *s, struct value start, struct value end, size_t *from, size_t *to)
{
	int64_t n = (int64_t)str_chars(s);
	int64_t a = given(start) && start.type != V_NONE ? want_int(r, start, 0) : 0;
	int64_t b = given(end) && end.type != V_NONE ? want_int(r, end, 0) : n;

	a += a < 0 ? n : 0;
	b += b < 0 ? n : 0;
	a = a < 0 ? 0 : a;
	b = b < 0 ? 0 : b > n ? n : b;
	if (a > b || a > n)
		return false;
	*from = str_offset(s, (size_t)a);
	*to = str_offset(s, (size_t)b);
	return true;
}

static const char *find_last(const char *p, size_t n, const struct str *what)
{
	if (what->n > n)
		return NULL;
	for (const char *q = p + (n - what->n); q >= p; q--)
		if (!memcmp(q, what->p, what->n))
			return q;
	return NULL;
}

static const char *find_first(const char *p, size_t n, const struct str *what)
{
	return what->n ? memmem(p, n, what->p, what->n) : p;
}

static int64_t position(struct run *r, const struct value *a, const char *who, bool last)
{
	struct str *s = a[0].s, *what = arg_text(r, a[1], who);
	size_t from, to;

	job_charge(&r->job, s->n / (last ? 8 : 64));
	if (!byte_range(r, s, a[2], a[3], &from, &to))
		return -1;
	const char *p = last ? find_last(s->p + from, to - from, what) : find_first(s->p + from, to - from, what);
	return p ? (int64_t)utf8_count(s->p, (size_t)(p - s->p)) : -1;
}

static struct value m_find(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_int(position(r, a, "find", false));
}

static struct value m_rfind(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_int(position(r, a, "rfind", true));
}

static struct value found(struct run *r, int64_t at)
{
	if (at < 0)
		run_fail(r, "substring not found");
	return v_int(at);
}

static struct value m_index(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return found(r, position(r, a, "index", false));
}

static struct value m_rindex(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return found(r, position(r, a, "rindex", true));
}

static struct value m_count(struct run *r, const struct value *a, const struct args *all)
{
	struct str *s = a[0].s, *what = arg_text(r, a[1], "count");
	int64_t n = 0;
	size_t from, to;

	(void)all;
	job_charge(&r->job, s->n / 16);
	if (!byte_range(r, s, a[2], a[3], &from, &to))
		return v_int(0);
	if (!what->n)
		return v_int((int64_t)utf8_count(s->p + from, to - from) + 1);
	for (const char *p; (p = memmem(s->p + from, to - from, what->p, what->n)); n++)
		from = (size_t)(p - s->p) + what->n;
	return v_int(n);
}

/* Whether n bytes at p start (or end) with what. */
static bool affix(const char *p, size_t n, const struct str *what, bool end)
{
	return what->n <= n && !memcmp(end ? p + n - what->n : p, what->p, what->n);
}

static bool has_affix(struct run *r, const struct value *a, const char *who, bool end)
{
	size_t from, to;

	if (a[1].type != V_TUPLE)
		arg_text(r, a[1], who);
	if (!byte_range(r, a[0].s, a[2], a[3], &from, &to))
		return false;
	const char *p = a[0].s->p + from;
	if (a[1].type != V_TUPLE)
		return affix(p, to - from, arg_text(r, a[1], who), end);
	for (size_t i = 0; i < a[1].l->n; i++)
		if (affix(p, to - from, arg_text(r, a[1].l->v[i], who), end))
			return true;
	return false;
}

static struct value m_startswith(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_bool(has_affix(r, a, "startswith", false));
}

static struct value m_endswith(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_bool(has_affix(r, a, "endswith", true));
}

static struct value m_removeprefix(struct run *r, const struct value *a, const struct args *all)
{
	struct str *s = a[0].s, *what = arg_text(r, a[1], "removeprefix");

	(void)all;
	return v_str(affix(s->p, s->n, what, false) ? str_part(&r->job, s, what->n, s->n) : s);
}

static struct value m_removesuffix(struct run *r, const struct value *a, const struct args *all)
{
	struct str *s = a[0].s, *what = arg_text(r, a[1], "removesuffix");

	(void)all;
	return v_str(affix(s->p, s->n, what, true) ? str_part(&r->job, s, 0, s->n - what->n) : s);
}

/* Replacing the empty text puts new before every character and at the end. */
static void replace_empty(struct buf *b, const struct str *s, const struct str *new, int64_t count)
{
	size_t at = 0, len;

	for (; count && at < s->n; count--, at += len) {
		job_charge(b->j, 1);
		utf8_get(s->p + at, s->n - at, &len);
		buf_str(b, new);
		buf_add(b, s->p + at, len);
	}
	if (count)
		buf_str(b, new);
	buf_add(b, s->p + at, s->n - at);
}

struct str *replace_text(struct run *r, const struct str *s, const struct str *old, const struct str *new,
			 int64_t count)
{
	struct buf b = { .j = &r->job };
	const char *p = s->p, *end = p + s->n, *q;

	job_charge(&r->job, s->n / 16);
	if (!old->n) {
		replace_empty(&b, s, new, count);
		return buf_take(&b);
	}
	while (count && (q = memmem(p, (size_t)(end - p), old->p, old->n))) {
		job_charge(&r->job, 1);
		buf_add(&b, p, (size_t)(q - p));
		buf_str(&b, new);
		p = q + old->n;
		count--;
	}
	buf_add(&b, p, (size_t)(end - p));
	return buf_take(&b);
}

static struct value m_replace(struct run *r, const struct value *a, const struct args *all)
{
	struct str *old = arg_text(r, a[1], "replace"), *new = arg_text(r, a[2], "replace");

	(void)all;
	if (a[0].s->safe)
		new = escape_html(r, new);
	return v_str(str_marked(replace_text(r, a[0].s, old, new, want_int(r, a[3], -1)), a[0].s->safe));
}

static size_t space_at(const struct str *s, size_t i)
{
	size_t len;

	return uc_space(utf8_get(s->p + i, s->n - i, &len)) ? len : 0;
}

struct list *split_space(struct run *r, const struct str *s, int64_t limit)
{
	struct list *l = list_new(&r->job, 0);
	size_t i = 0, len, k;

	job_charge(&r->job, s->n / 8);
	for (;;) {
		while (i < s->n && (k = space_at(s, i)))
			i += k;
		if (i >= s->n)
			return l;
		size_t from = i;
		if (!limit--) {
			list_push(&r->job, l, v_str(str_part(&r->job, s, from, s->n)));
			return l;
		}
		for (; i < s->n && !space_at(s, i); i += len)
			utf8_get(s->p + i, s->n - i, &len);
		list_push(&r->job, l, v_str(str_part(&r->job, s, from, i)));
	}
}

/* limit: how many cuts, negative for all. */
static struct list *split_on(struct run *r, const struct str *s, const struct str *sep, int64_t limit)
{
	struct list *l = list_new(&r->job, 0);
	size_t from = 0;
	const char *p;

	job_charge(&r->job, s->n / 16);
	while (limit-- && (p = memmem(s->p + from, s->n - from, sep->p, sep->n))) {
		job_charge(&r->job, 1);
		list_push(&r->job, l, v_str(str_part(&r->job, s, from, (size_t)(p - s->p))));
		from = (size_t)(p - s->p) + sep->n;
	}
	list_push(&r->job, l, v_str(str_part(&r->job, s, from, s->n)));
	return l;
}

static void reverse(struct list *l)
{
	for (size_t i = 0, k = l->n; i + 1 < k; i++) {
		struct value v = l->v[i];

		l->v[i] = l->v[--k];
		l->v[k] = v;
	}
}

static struct list *rsplit_on(struct run *r, const struct str *s, const struct str *sep, int64_t limit)
{
	struct list *l = list_new(&r->job, 0);
	size_t to = s->n;
	const char *p;

	job_charge(&r->job, s->n / 8);
	while (limit-- && (p = find_last(s->p, to, sep))) {
		size_t at = (size_t)(p - s->p);

		job_charge(&r->job, 1);
		list_push(&r->job, l, v_str(str_part(&r->job, s, at + sep->n, to)));
		to = at;
	}
	list_push(&r->job, l, v_str(str_part(&r->job, s, 0, to)));
	reverse(l);
	return l;
}

static struct list *rsplit_space(struct run *r, struct str *s, int64_t limit)
{
	struct list *l = list_new(&r->job, 0);

	while ((s = strip_text(r, s, NULL, STRIP_RIGHT))->n) {
		size_t from = s->n, k, len;

		job_charge(&r->job, 1);
		if (!limit--) {
			list_push(&r->job, l, v_str(s));
			break;
		}
		for (; from; from -= k) {
			k = utf8_last(s->p, from);
			if (uc_space(utf8_get(s->p + from - k, k, &len)))
				break;
		}
		list_push(&r->job, l, v_str(str_part(&r->job, s, from, s->n)));
		s = str_part(&r->job, s, 0, from);
	}
	reverse(l);
	return l;
}

static const struct str *separator(struct run *r, struct value v, const char *who)
{
	if (!given(v) || v.type == V_NONE)
		return NULL;
	if (!arg_text(r, v, who)->n)
		run_fail(r, "empty separator");
	return v.s;
}

static struct value m_split(struct run *r, const struct value *a, const struct args *all)
{
	const struct str *sep = separator(r, a[1], "split");
	int64_t limit = want_int(r, a[2], -1);

	(void)all;
	return v_list(sep ? split_on(r, a[0].s, sep, limit) : split_space(r, a[0].s, limit));
}

static struct value m_rsplit(struct run *r, const struct value *a, const struct args *all)
{
	const struct str *sep = separator(r, a[1], "rsplit");
	int64_t limit = want_int(r, a[2], -1);

	(void)all;
	return v_list(sep ? rsplit_on(r, a[0].s, sep, limit) : rsplit_space(r, a[0].s, limit));
}

/* Length of the line end at i, 0 when there is none: Python counts more characters than newlines. */
static size_t line_end(const struct str *s, size_t i)
{
	size_t len;
	uint32_t c = utf8_get(s->p + i, s->n - i, &len);

	if (c == '\r' && i + 1 < s->n && s->p[i + 1] == '\n')
		return 2;
	return (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029 ? len
													       : 0;
}

struct list *split_lines(struct run *r, const struct str *s, bool keep_ends)
{
	struct list *l = list_new(&r->job, 0);
	size_t from = 0, len;

	job_charge(&r->job, s->n / 8);
	for (size_t i = 0; i < s->n; i += len) {
		size_t end = line_end(s, i);

		if (!end) {
			utf8_get(s->p + i, s->n - i, &len);
			continue;
		}
		list_push(&r->job, l, v_str(str_part(&r->job, s, from, i + (keep_ends ? end : 0))));
		len = end;
		from = i + end;
	}
	if (from < s->n)
		list_push(&r->job, l, v_str(str_part(&r->job, s, from, s->n)));
	return l;
}

static struct value m_splitlines(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_list(split_lines(r, a[0].s, flag_or(r, a[1], false)));
}

static struct value partition(struct run *r, const struct value *a, const char *who, bool last)
{
	struct str *s = a[0].s, *sep = arg_text(r, a[1], who), *empty = str_literal(&r->job, "");
	struct list *l = list_new(&r->job, 3);

	if (!sep->n)
		run_fail(r, "empty separator");
	job_charge(&r->job, s->n / 16);
	const char *p = last ? find_last(s->p, s->n, sep) : find_first(s->p, s->n, sep);
	size_t at = p ? (size_t)(p - s->p) : 0;
	list_push(&r->job, l, v_str(p ? str_part(&r->job, s, 0, at) : last ? empty : s));
	list_push(&r->job, l, v_str(p ? sep : empty));
	list_push(&r->job, l, v_str(p ? str_part(&r->job, s, at + sep->n, s->n) : last ? s : empty));
	return v_tuple(l);
}

static struct value m_partition(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return partition(r, a, "partition", false);
}

static struct value m_rpartition(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return partition(r, a, "rpartition", true);
}

struct str *join_text(struct run *r, const struct str *sep, const struct list *items, bool any)
{
	struct buf b = { .j = &r->job };

	for (size_t i = 0; i < items->n; i++) {
		job_charge(&r->job, 1);
		if (!any && items->v[i].type != V_STRING)
			run_fail(r, "sequence item %zu: expected str instance, %s found", i, type_name(items->v[i]));
		if (i)
			buf_str(&b, sep);
		if (sep->safe)
			buf_str(&b, escape_html(r, to_str(r, items->v[i])));
		else
			put_str(r, &b, items->v[i]);
	}
	return str_marked(buf_take(&b), sep->safe);
}

static struct value m_join(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	if (!iterable(a[1]))
		run_fail(r, "can only join an iterable");
	return v_str(join_text(r, a[0].s, items_of(r, a[1]), false));
}

const struct builtin find_methods[] = {
	{ "find", m_find, "self sub start? end?" },
	{ "rfind", m_rfind, "self sub start? end?" },
	{ "index", m_index, "self sub start? end?" },
	{ "rindex", m_rindex, "self sub start? end?" },
	{ "count", m_count, "self sub start? end?" },
	{ "startswith", m_startswith, "self prefix start? end?" },
	{ "endswith", m_endswith, "self suffix start? end?" },
	{ "removeprefix", m_removeprefix, "self prefix" },
	{ "removesuffix", m_removesuffix, "self suffix" },
	{ "replace", m_replace, "self old new count?" },
	{ "split", m_split, "self sep? maxsplit?" },
	{ "rsplit", m_rsplit, "self sep? maxsplit?" },
	{ "splitlines", m_splitlines, "self keepends?" },
	{ "partition", m_partition, "self sep" },
	{ "rpartition", m_rpartition, "self sep" },
	{ "join", m_join, "self iterable" },
	{ .name = NULL },
};
