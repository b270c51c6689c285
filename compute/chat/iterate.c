/* SPDX-License-Identifier: MIT */
/* Walking values, and str() and repr() of them. */
#include "run.h"
#include <errno.h>
#include <stdio.h>

bool iterable(struct value v)
{
	switch (v.type) {
	case V_UNDEFINED: case V_STRING: case V_LIST: case V_TUPLE: case V_DICT: case V_RANGE: case V_VIEW: case V_ITERATOR:
		return true;
	default:
		return false;
	}
}

bool has_length(struct value v)
{
	return (iterable(v) && v.type != V_ITERATOR) || v.type == V_LOOP;
}

int64_t length_of(struct run *r, struct value v)
{
	switch (v.type) {
	case V_UNDEFINED:
		return 0;
	case V_STRING:
		return (int64_t)str_chars(v.s);
	case V_LIST:
	case V_TUPLE:
		return (int64_t)v.l->n;
	case V_DICT:
		return (int64_t)v.d->n;
	case V_VIEW:
		return (int64_t)v.view->d->n;
	case V_RANGE:
		return (int64_t)v.range->n;
	case V_LOOP:
		return (int64_t)v.loop->items->n;
	default:
		run_fail(r, "object of type '%s' has no len()", type_name(v));
	}
}

void cursor_start(struct run *r, struct cursor *c, struct value v)
{
	if (!iterable(v))
		run_fail(r, "'%s' object is not iterable", type_name(v));
	*c = (struct cursor){ .of = v };
}

/* Entry i as the view shows it. */
static struct value view_item(struct run *r, const struct view *view, size_t i)
{
	const struct pair *p = &view->d->v[i];

	if (view->kind == VIEW_ITEMS)
		return pair_tuple(&r->job, p->key, p->value);
	return view->kind == VIEW_KEYS ? p->key : p->value;
}

static bool next_char(struct run *r, struct cursor *c, struct value *v)
{
	const struct str *s = c->of.s;
	size_t len;

	if (c->at >= s->n)
		return false;
	utf8_get(s->p + c->at, s->n - c->at, &len);
	*v = v_str(str_marked(str_part(&r->job, s, c->at, c->at + len), false));
	c->at += len;
	return true;
}

/* The first item of a lazy one is where its work is done. */
static bool next_of_iterator(struct run *r, struct iterator *it, struct value *v)
{
	if (!it->items) {
		run_enter(r);
		it->items = items_of(r, it->fn->fn(r, it->a, it->args));
		run_leave(r);
	}
	if (it->next >= it->items->n)
		return false;
	*v = it->items->v[it->next++];
	return true;
}

bool cursor_next(struct run *r, struct cursor *c, struct value *v)
{
	struct value of = c->of;

	job_charge(&r->job, 1);
	if (of.type == V_UNDEFINED)
		return false;
	if (of.type == V_STRING)
		return next_char(r, c, v);
	if (of.type == V_ITERATOR)
		return next_of_iterator(r, of.it, v);
	size_t i = c->at++;
	if (i >= (size_t)length_of(r, of))
		return false;
	if (of.type == V_RANGE)
		*v = v_int(of.range->start + (int64_t)i * of.range->step);
	else if (of.type == V_DICT)
		*v = of.d->v[i].key;
	else if (of.type == V_VIEW)
		*v = view_item(r, of.view, i);
	else
		*v = of.l->v[i];
	return true;
}

struct list *items_of(struct run *r, struct value v)
{
	struct cursor c;
	struct value item;

	if (v.type == V_LIST || v.type == V_TUPLE)
		return v.l;
	cursor_start(r, &c, v);
	struct list *l = list_new(&r->job, v.type == V_ITERATOR || v.type == V_STRING ? 0 : (size_t)length_of(r, v));
	while (cursor_next(r, &c, &item))
		list_push(&r->job, l, item);
	return l;
}

struct value v_iterator(struct run *r, const char *type, struct list *items)
{
	struct iterator *it = job_alloc(&r->job, sizeof *it);

	it->type = type;
	it->items = items;
	return (struct value){ .type = V_ITERATOR, .it = it };
}

/* ---- text ---- */

const char *type_name(struct value v)
{
	static const char *const names[] = {
#define T(name, python) [V_##name] = python,
		VALUE_TYPES(T)
#undef T
	};
	static const char *const views[] = { "dict_keys", "dict_values", "dict_items" };

	if (v.type == V_VIEW)
		return views[v.view->kind];
	if (v.type == V_ITERATOR)
		return v.it->type;
	if (v.type == V_STRING && v.s->safe)
		return "Markup";
	return names[v.type];
}

static void put_hex(struct buf *b, uint32_t c)
{
	char text[16];

	snprintf(text, sizeof text, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
	buf_text(b, text);
}

/* A character inside quotes, escaped where Python would. */
static void repr_char(struct buf *b, uint32_t c, char quote)
{
	static const char *const escapes[] = { ['\t'] = "\\t", ['\n'] = "\\n", ['\r'] = "\\r" };

	if (c == '\\' || c == (uint32_t)quote) {
		buf_add(b, "\\", 1);
		buf_char(b, c);
	} else if (c < sizeof escapes / sizeof *escapes && escapes[c]) {
		buf_text(b, escapes[c]);
	} else if (uc_printable(c)) {
		buf_char(b, c);
	} else {
		put_hex(b, c);
	}
}

static bool has(const struct str *s, char c)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->p[i] == c)
			return true;
	return false;
}

/* Quotes as Python chooses them: double only around a text with ' and without ". */
static void repr_string(struct buf *b, const struct str *s)
{
	char quote = has(s, '\'') && !has(s, '"') ? '"' : '\'';
	size_t len;

	job_charge(b->j, s->n / 8);
	buf_text(b, s->safe ? "Markup(" : "");
	buf_add(b, &quote, 1);
	for (size_t i = 0; i < s->n; i += len)
		repr_char(b, utf8_get(s->p + i, s->n - i, &len), quote);
	buf_add(b, &quote, 1);
	buf_text(b, s->safe ? ")" : "");
}

static void repr_list(struct run *r, struct buf *b, const struct list *l, const char *open, const char *close)
{
	buf_text(b, open);
	for (size_t i = 0; i < l->n; i++) {
		buf_text(b, i ? ", " : "");
		put_repr(r, b, l->v[i]);
	}
	buf_text(b, close);
}

static void repr_dict(struct run *r, struct buf *b, const struct dict *d)
{
	buf_text(b, "{");
	for (size_t i = 0; i < d->n; i++) {
		buf_text(b, i ? ", " : "");
		put_repr(r, b, d->v[i].key);
		buf_text(b, ": ");
		put_repr(r, b, d->v[i].value);
	}
	buf_text(b, "}");
}

static void repr_view(struct run *r, struct buf *b, struct value v)
{
	struct list *items = items_of(r, v);

	buf_text(b, type_name(v));
	repr_list(r, b, items, "([", "])");
}

static void repr_range(struct buf *b, const struct range *g)
{
	char text[96];

	if (g->step == 1)
		snprintf(text, sizeof text, "range(%lld, %lld)", (long long)g->start, (long long)g->stop);
	else
		snprintf(text, sizeof text, "range(%lld, %lld, %lld)", (long long)g->start, (long long)g->stop,
			 (long long)g->step);
	buf_text(b, text);
}

static void repr_namespace(struct run *r, struct buf *b, const struct dict *d)
{
	run_enter(r);
	buf_text(b, "<Namespace ");
	repr_dict(r, b, d);
	buf_text(b, ">");
	run_leave(r);
}

static void repr_number(struct buf *b, struct value v)
{
	char text[32];

	if (v.type == V_FLOAT)
		number_repr(text, v.f);
	else
		snprintf(text, sizeof text, "%lld", (long long)v.i);
	buf_text(b, text);
}

/* What has no text of its own; Python shows an address there. */
static void repr_object(struct run *r, struct buf *b, struct value v)
{
	buf_text(b, "<");
	buf_text(b, type_name(v));
	if (v.type == V_MACRO) {
		buf_text(b, " ");
		put_repr(r, b, v_str(&v.macro->def->name->s));
	} else if (v.type == V_LOOP) {
		buf_text(b, " ");
		repr_number(b, v_int((int64_t)v.loop->at + 1));
		buf_text(b, "/");
		repr_number(b, v_int((int64_t)v.loop->items->n));
	} else {
		buf_text(b, " object");
	}
	buf_text(b, ">");
}

void put_repr(struct run *r, struct buf *b, struct value v)
{
	job_charge(&r->job, 1);
	switch (v.type) {
	case V_UNDEFINED:
		buf_text(b, "Undefined");
		break;
	case V_NONE:
		buf_text(b, "None");
		break;
	case V_BOOL:
		buf_text(b, v.b ? "True" : "False");
		break;
	case V_INT:
	case V_FLOAT:
		repr_number(b, v);
		break;
	case V_STRING:
		repr_string(b, v.s);
		break;
	case V_LIST:
		repr_list(r, b, v.l, "[", "]");
		break;
	case V_TUPLE:
		repr_list(r, b, v.l, "(", v.l->n == 1 ? ",)" : ")");
		break;
	case V_DICT:
		repr_dict(r, b, v.d);
		break;
	case V_NAMESPACE:
		repr_namespace(r, b, v.d);
		break;
	case V_RANGE:
		repr_range(b, v.range);
		break;
	case V_VIEW:
		repr_view(r, b, v);
		break;
	default:
		repr_object(r, b, v);
	}
}

void put_str(struct run *r, struct buf *b, struct value v)
{
	if (v.type == V_STRING)
		buf_str(b, v.s);
	else if (v.type != V_UNDEFINED)
		put_repr(r, b, v);
}

struct str *to_str(struct run *r, struct value v)
{
	struct buf b = { .j = &r->job };

	if (v.type == V_STRING)
		return v.s;
	put_str(r, &b, v);
	return buf_take(&b);
}

struct str *to_repr(struct run *r, struct value v)
{
	struct buf b = { .j = &r->job };

	put_repr(r, &b, v);
	return buf_take(&b);
}
