/* SPDX-License-Identifier: MIT */
/* Making values. All of their memory is the job's. */
#include "value.h"
#include <errno.h>
#include <string.h>

struct str *str_new(struct job *j, const char *p, size_t n)
{
	struct str *s = job_alloc(j, sizeof *s);

	*s = (struct str){ .p = p, .n = n, .chars = SIZE_MAX };
	return s;
}

struct str *str_copy(struct job *j, const char *p, size_t n)
{
	char *q = job_alloc(j, n);

	if (n)
		memcpy(q, p, n);
	return str_new(j, q, n);
}

struct str *str_literal(struct job *j, const char *text)
{
	return str_new(j, text, strlen(text));
}

struct str *str_part(struct job *j, const struct str *s, size_t from, size_t to)
{
	struct str *t = str_new(j, s->p + from, to - from);

	t->safe = s->safe;
	if (to == s->n)
		t->buf = s->buf;
	return t;
}

static struct strbuf *strbuf_new(struct job *j, size_t used)
{
	size_t cap = used < 64 ? used : 2 * used;
	struct strbuf *b = job_alloc(j, sizeof *b + cap);

	b->used = used;
	b->cap = cap;
	return b;
}

struct str *str_concat(struct job *j, const struct str *a, const struct str *b)
{
	struct strbuf *buf = a->buf;
	struct str *s;

	job_charge(j, 1 + b->n / 64);
	if (buf && a->p + a->n == buf->bytes + buf->used && buf->cap - buf->used >= b->n) {
		memcpy(buf->bytes + buf->used, b->p, b->n);
		buf->used += b->n;
		s = str_new(j, a->p, a->n + b->n);
	} else {
		job_charge(j, a->n / 64);
		buf = strbuf_new(j, a->n + b->n);
		memcpy(buf->bytes, a->p, a->n);
		memcpy(buf->bytes + a->n, b->p, b->n);
		s = str_new(j, buf->bytes, a->n + b->n);
	}
	s->buf = buf;
	return s;
}

size_t str_chars(struct str *s)
{
	if (s->chars == SIZE_MAX)
		s->chars = utf8_count(s->p, s->n);
	return s->chars;
}

size_t str_offset(struct str *s, size_t i)
{
	if (str_chars(s) == s->n)
		return i;
	return utf8_skip(s->p, s->n, i);
}

bool str_is(const struct str *s, const char *text)
{
	return s->n == strlen(text) && !memcmp(s->p, text, s->n);
}

bool str_same(const struct str *a, const struct str *b)
{
	return a->n == b->n && !memcmp(a->p, b->p, a->n);
}

enum { MAX_NESTED = 500 };

void nest(struct job *j, unsigned *depth, struct value v)
{
	unsigned inner = 1;

	if (v.type == V_LIST || v.type == V_TUPLE)
		inner += v.l->depth;
	else if (v.type == V_DICT)
		inner += v.d->depth;
	else if (v.type == V_VIEW)
		inner += v.view->d->depth + 1;
	if (inner > MAX_NESTED)
		job_fail(j, -E2BIG, 0, 0, "values are nested too deeply");
	if (inner > *depth)
		*depth = inner;
}

struct list *list_new(struct job *j, size_t cap)
{
	struct list *l = job_alloc(j, sizeof *l);

	l->v = job_array(j, cap, sizeof *l->v);
	l->cap = cap;
	return l;
}

void list_push(struct job *j, struct list *l, struct value v)
{
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 4;
		l->v = job_grow(j, l->v, l->n, l->cap, sizeof *l->v);
	}
	nest(j, &l->depth, v);
	l->v[l->n++] = v;
}

struct value pair_tuple(struct job *j, struct value a, struct value b)
{
	struct list *l = list_new(j, 2);

	list_push(j, l, a);
	list_push(j, l, b);
	return v_tuple(l);
}

static char *buf_room(struct buf *b, size_t n)
{
	if (b->cap - b->n < n) {
		size_t cap = b->cap ? b->cap : 64;

		while (cap - b->n < n)
			if (__builtin_mul_overflow(cap, (size_t)2, &cap))
				job_fail(b->j, -E2BIG, 0, 0, "a text of the template grows too long");
		b->p = job_grow(b->j, b->p, b->n, cap, 1);
		b->cap = cap;
	}
	return b->p + b->n;
}

void buf_add(struct buf *b, const char *p, size_t n)
{
	if (!n)
		return;
	job_charge(b->j, n / 64);
	memcpy(buf_room(b, n), p, n);
	b->n += n;
}

void buf_str(struct buf *b, const struct str *s)
{
	buf_add(b, s->p, s->n);
}

void buf_text(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_repeat(struct buf *b, const struct str *s, uint64_t times)
{
	size_t n;

	if (__builtin_mul_overflow(times, s->n, &n) || n > b->j->limit)
		job_fail(b->j, -E2BIG, 0, 0, "a text of the template grows too long");
	if (!n)
		return;
	job_charge(b->j, n / 64 + times / 8);
	char *p = buf_room(b, n);
	for (uint64_t i = 0; i < times; i++)
		memcpy(p + i * s->n, s->p, s->n);
	b->n += n;
}

void buf_char(struct buf *b, uint32_t c)
{
	char text[4];

	buf_add(b, text, utf8_put(text, c));
}

struct str *buf_take(struct buf *b)
{
	return str_new(b->j, b->p ? b->p : "", b->n);
}
