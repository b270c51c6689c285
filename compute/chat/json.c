/* SPDX-License-Identifier: MIT */
/* JSON into values and back, with the spacing of Python's json.dumps as Jinja's tojson calls it. */
#include "json.h"
#include "textops.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct value list_of_json(struct job *j, const json_t *json)
{
	size_t n = json_array_size(json);
	struct list *l = list_new(j, n);

	for (size_t i = 0; i < n; i++)
		list_push(j, l, value_of_json(j, json_array_get(json, i)));
	return v_list(l);
}

static struct value dict_of_json(struct job *j, const json_t *json)
{
	struct dict *d = dict_new(j);
	json_t *object = (json_t *)json; /* iterating does not change it */

	for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i)) {
		const char *key = json_object_iter_key(i);

		dict_put(j, d, v_str(str_literal(j, key)), value_of_json(j, json_object_iter_value(i)));
	}
	return v_dict(d);
}

struct value value_of_json(struct job *j, const json_t *json)
{
	struct value v = v_none();

	if (++j->depth > j->depth_limit)
		job_fail(j, -E2BIG, 0, 0, "the context is nested too deeply");
	switch (json_typeof(json)) {
	case JSON_OBJECT:
		v = dict_of_json(j, json);
		break;
	case JSON_ARRAY:
		v = list_of_json(j, json);
		break;
	case JSON_STRING:
		v = v_str(str_new(j, json_string_value(json), json_string_length(json)));
		break;
	case JSON_INTEGER:
		v = v_int(json_integer_value(json));
		break;
	case JSON_REAL:
		v = v_float(json_real_value(json));
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		v = v_bool(json_is_true(json));
		break;
	case JSON_NULL:
		break;
	}
	j->depth--;
	return v;
}

struct writer {
	struct run *r;
	struct buf b;
	const struct json_style *style;
	unsigned level;
};

/* As UTF-16, the way JSON writes characters past the first plane. */
static void put_escape(struct buf *b, uint32_t c)
{
	char text[16];

	if (c >= 0x10000)
		snprintf(text, sizeof text, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + (c & 0x3ff));
	else
		snprintf(text, sizeof text, "\\u%04x", c);
	buf_text(b, text);
}

static void put_char(struct writer *w, uint32_t c)
{
	static const char *const short_forms[0x20] = {
		['\b'] = "\\b", ['\f'] = "\\f", ['\n'] = "\\n", ['\r'] = "\\r", ['\t'] = "\\t",
	};

	if (c == '"' || c == '\\') {
		buf_add(&w->b, "\\", 1);
		buf_char(&w->b, c);
	} else if (c < 0x20 && short_forms[c]) {
		buf_text(&w->b, short_forms[c]);
	} else if (c < 0x20 || (c > 0x7e && w->style->ascii)) {
		put_escape(&w->b, c);
	} else {
		buf_char(&w->b, c);
	}
}

static void put_string(struct writer *w, const struct str *s)
{
	size_t len;

	job_charge(&w->r->job, s->n / 8);
	buf_add(&w->b, "\"", 1);
	for (size_t i = 0; i < s->n; i += len)
		put_char(w, utf8_get(s->p + i, s->n - i, &len));
	buf_add(&w->b, "\"", 1);
}

static void put_number(struct writer *w, struct value v)
{
	if (v.type == V_FLOAT && !isfinite(v.f))
		buf_text(&w->b, isnan(v.f) ? "NaN" : v.f < 0 ? "-Infinity" : "Infinity");
	else
		put_repr(w->r, &w->b, v);
}

static void put_word(struct writer *w, struct value v)
{
	buf_text(&w->b, v.type == V_NONE ? "null" : v.b ? "true" : "false");
}

/* With an indent, each item starts a line. */
static void new_line(struct writer *w)
{
	if (!w->style->indent)
		return;
	buf_text(&w->b, "\n");
	buf_repeat(&w->b, w->style->indent, w->level);
}

static void put_value(struct writer *w, struct value v);

static void put_list(struct writer *w, const struct list *l)
{
	buf_text(&w->b, "[");
	w->level++;
	for (size_t i = 0; i < l->n; i++) {
		if (i)
			buf_str(&w->b, w->style->item);
		new_line(w);
		put_value(w, l->v[i]);
	}
	w->level--;
	if (l->n)
		new_line(w);
	buf_text(&w->b, "]");
}

/* Keys are texts in JSON: others become what they look like as values. */
static void put_key(struct writer *w, struct value key)
{
	struct buf text = { .j = &w->r->job };
	struct writer inner = { w->r, text, w->style, 0 };

	switch (key.type) {
	case V_STRING:
		put_string(w, key.s);
		return;
	case V_INT:
	case V_FLOAT:
		put_number(&inner, key);
		break;
	case V_BOOL:
	case V_NONE:
		put_word(&inner, key);
		break;
	default:
		run_fail(w->r, "keys must be str, int, float, bool or None, not %s", type_name(key));
	}
	put_string(w, buf_take(&inner.b));
}

/* The pairs in order of their keys. Insertion by halves: dicts to be sorted are small. */
static const struct pair **sorted(struct run *r, const struct dict *d)
{
	const struct pair **p = job_array(&r->job, d->n, sizeof *p);

	for (size_t i = 0; i < d->n; i++) {
		size_t low = 0, high = i;

		while (low < high) {
			size_t mid = (low + high) / 2;

			if (compare(r, OP_LT, d->v[i].key, p[mid]->key))
				high = mid;
			else
				low = mid + 1;
		}
		job_charge(&r->job, (i - low) / 16);
		memmove(p + low + 1, p + low, (i - low) * sizeof *p);
		p[low] = &d->v[i];
	}
	return p;
}

static void put_dict(struct writer *w, const struct dict *d)
{
	const struct pair **order = w->style->sort ? sorted(w->r, d) : NULL;

	buf_text(&w->b, "{");
	w->level++;
	for (size_t i = 0; i < d->n; i++) {
		const struct pair *p = order ? order[i] : &d->v[i];

		if (i)
			buf_str(&w->b, w->style->item);
		new_line(w);
		put_key(w, p->key);
		buf_str(&w->b, w->style->key);
		put_value(w, p->value);
	}
	w->level--;
	if (d->n)
		new_line(w);
	buf_text(&w->b, "}");
}

static void put_value(struct writer *w, struct value v)
{
	job_charge(&w->r->job, 1);
	switch (v.type) {
	case V_NONE:
	case V_BOOL:
		put_word(w, v);
		break;
	case V_INT:
	case V_FLOAT:
		put_number(w, v);
		break;
	case V_STRING:
		put_string(w, v.s);
		break;
	case V_LIST:
	case V_TUPLE:
		put_list(w, v.l);
		break;
	case V_DICT:
		put_dict(w, v.d);
		break;
	default:
		run_fail(w->r, "Object of type %s is not JSON serializable", type_name(v));
	}
}

struct str *to_json(struct run *r, struct value v, const struct json_style *style)
{
	struct writer w = { .r = r, .b = { .j = &r->job }, .style = style };

	put_value(&w, v);
	return buf_take(&w.b);
}
