/* SPDX-License-Identifier: MIT */
/* Filters upon sequences as a whole, and upon numbers. */
#include "textops.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct value f_length(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_int(length_of(r, a[0]));
}

/* A list of its own: changing it changes no value of the template. */
static struct list *fresh_list(struct run *r, struct value v)
{
	struct list *items = items_of(r, v), *l;

	if (v.type != V_LIST && v.type != V_TUPLE)
		return items;
	job_charge(&r->job, items->n);
	l = list_new(&r->job, items->n);
	for (size_t i = 0; i < items->n; i++)
		list_push(&r->job, l, items->v[i]);
	return l;
}

static struct value f_list(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_list(fresh_list(r, a[0]));
}

static struct value f_first(struct run *r, const struct value *a, const struct args *all)
{
	struct cursor c;
	struct value v;

	(void)all;
	cursor_start(r, &c, a[0]);
	return cursor_next(r, &c, &v) ? v : undefined_hint(r, "No first item, sequence was empty.");
}

static struct value f_last(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	if (!iterable(a[0]) || a[0].type == V_ITERATOR)
		run_fail(r, "'%s' object is not reversible", type_name(a[0]));
	struct list *l = items_of(r, a[0]);
	return l->n ? l->v[l->n - 1] : undefined_hint(r, "No last item, sequence was empty.");
}

static void reverse(struct list *l)
{
	for (size_t i = 0, k = l->n; i + 1 < k; i++) {
		struct value v = l->v[i];

		l->v[i] = l->v[--k];
		l->v[k] = v;
	}
}

static struct value f_reverse(struct run *r, const struct value *a, const struct args *all)
{
	struct buf b = { .j = &r->job };

	(void)all;
	if (a[0].type == V_STRING) {
		const struct str *s = a[0].s;

		job_charge(&r->job, s->n / 8);
		for (size_t n = s->n, k; n; n -= k) {
			k = utf8_last(s->p, n);
			buf_add(&b, s->p + n - k, k);
		}
		return v_str(buf_take(&b));
	}
	if (!iterable(a[0]))
		run_fail(r, "argument must be iterable");
	struct list *l = fresh_list(r, a[0]);
	reverse(l);
	if (a[0].type == V_ITERATOR)
		return v_list(l);
	return v_iterator(r, a[0].type == V_LIST ? "list_reverseiterator" : "reversed", l);
}

/* What path leads to in each item, or the items. */
static struct value path_items(struct run *r, struct value v, struct value path)
{
	if (!given(path) || path.type == V_NONE)
		return v;
	struct list *items = items_of(r, v), *l = list_new(&r->job, items->n);
	for (size_t i = 0; i < items->n; i++)
		list_push(&r->job, l, get_path(r, items->v[i], path));
	return v_list(l);
}

static struct value f_join(struct run *r, const struct value *a, const struct args *all)
{
	struct str d = *str_or(r, a[1], "");

	(void)all;
	d.safe = false;
	return v_str(join_text(r, &d, items_of(r, path_items(r, a[0], a[2])), true));
}

static struct value f_sum(struct run *r, const struct value *a, const struct args *all)
{
	struct value sum = given(a[2]) ? a[2] : v_int(0), v;
	struct cursor c;

	(void)all;
	if (sum.type == V_STRING)
		run_fail(r, "sum() can't sum strings [use ''.join(seq) instead]");
	cursor_start(r, &c, path_items(r, a[0], a[1]));
	while (cursor_next(r, &c, &v))
		sum = arithmetic(r, OP_ADD, sum, v);
	return sum;
}

static struct value f_batch(struct run *r, const struct value *a, const struct args *all)
{
	int64_t size = want_int(r, a[1], 0);
	struct list *out = list_new(&r->job, 0), *row = list_new(&r->job, 0);
	struct cursor c;
	struct value v;

	(void)all;
	cursor_start(r, &c, a[0]);
	while (cursor_next(r, &c, &v)) {
		if ((int64_t)row->n == size) {
			list_push(&r->job, out, v_list(row));
			row = list_new(&r->job, 0);
		}
		list_push(&r->job, row, v);
	}
	for (; row->n && given(a[2]) && a[2].type != V_NONE && (int64_t)row->n < size; job_charge(&r->job, 1))
		list_push(&r->job, row, a[2]);
	if (row->n)
		list_push(&r->job, out, v_list(row));
	return v_list(out);
}

static struct value f_slice(struct run *r, const struct value *a, const struct args *all)
{
	int64_t slices = want_int(r, a[1], 0), n, each, extra, at = 0;
	struct list *items = items_of(r, a[0]), *out = list_new(&r->job, 0);

	(void)all;
	if (!slices)
		run_fail(r, "integer division or modulo by zero");
	n = (int64_t)items->n;
	each = n / slices;
	extra = n % slices;
	for (int64_t i = 0; i < slices; i++) {
		struct list *row = list_new(&r->job, 0);

		job_charge(&r->job, 1);
		for (int64_t k = 0; k < each + (i < extra); k++)
			list_push(&r->job, row, items->v[at++]);
		if (given(a[2]) && a[2].type != V_NONE && i >= extra)
			list_push(&r->job, row, a[2]);
		list_push(&r->job, out, v_list(row));
	}
	return v_list(out);
}

static struct value f_items(struct run *r, const struct value *a, const struct args *all)
{
	struct view view = { NULL, VIEW_ITEMS };

	(void)all;
	if (a[0].type == V_UNDEFINED)
		return v_list(list_new(&r->job, 0));
	if (a[0].type != V_DICT)
		run_fail(r, "Can only get item pairs from a mapping.");
	view.d = a[0].d;
	return v_list(items_of(r, (struct value){ .type = V_VIEW, .view = &view }));
}

static struct value f_default(struct run *r, const struct value *a, const struct args *all)
{
	bool missing = a[0].type == V_UNDEFINED || (bool_or(a[2], false) && !value_true(a[0]));

	(void)all;
	if (!missing)
		return a[0];
	return given(a[1]) ? a[1] : v_str(str_literal(&r->job, ""));
}

static struct value f_attr(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	if (a[0].type == V_UNDEFINED)
		undefined_fail(r, a[0]);
	struct str *name = want_str(r, a[1], "attr");
	if (a[0].type != V_DICT || method_find(V_DICT, name) || method_mutates(V_DICT, name))
		return get_attribute(r, a[0], name);
	return undefined_of(r, a[0], a[1]);
}

/* ---- numbers ---- */

static struct value f_abs(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	if (a[0].type == V_FLOAT)
		return v_float(fabs(a[0].f));
	if (a[0].type == V_UNDEFINED)
		undefined_fail(r, a[0]);
	if (!is_number(a[0]))
		run_fail(r, "bad operand type for abs(): '%s'", type_name(a[0]));
	int64_t i = want_int(r, a[0], 0);
	return i < 0 ? arithmetic(r, OP_SUB, v_int(0), v_int(i)) : v_int(i);
}

/* f cut to an integer; false when it has no place in one. */
static bool whole(double f, int64_t *i)
{
	if (!(f > -0x1p63 && f < 0x1p63))
		return false;
	*i = (int64_t)f;
	return true;
}

static int64_t need_whole(struct run *r, double f)
{
	int64_t i;

	if (!whole(f, &i))
		run_fail(r, "integer out of range: %.17g", f);
	return i;
}

static struct value f_int(struct run *r, const struct value *a, const struct args *all)
{
	struct value other = given(a[1]) ? a[1] : v_int(0);
	int64_t i, base = want_int(r, a[2], 10);
	double f;

	(void)all;
	if (a[0].type == V_UNDEFINED)
		undefined_fail(r, a[0]);
	if (a[0].type == V_INT || a[0].type == V_BOOL)
		return v_int(want_int(r, a[0], 0));
	if (a[0].type == V_FLOAT && isinf(a[0].f))
		run_fail(r, "cannot convert float infinity to integer");
	if (a[0].type == V_FLOAT && isnan(a[0].f))
		return other;
	if (a[0].type == V_FLOAT)
		return v_int(need_whole(r, a[0].f));
	if (a[0].type != V_STRING)
		return other;
	if (base < 0 || base > 36 || base == 1)
		return other;
	if (number_int(a[0].s, (int)base, &i))
		return v_int(i);
	return number_float(a[0].s, &f) && isfinite(f) ? v_int(need_whole(r, f)) : other;
}

static struct value f_float(struct run *r, const struct value *a, const struct args *all)
{
	double f;

	(void)all;
	if (a[0].type == V_UNDEFINED)
		undefined_fail(r, a[0]);
	if (is_number(a[0]))
		return v_float(number_double(a[0]));
	if (a[0].type == V_STRING && number_float(a[0].s, &f))
		return v_float(f);
	return given(a[1]) ? a[1] : v_float(0);
}

/* To the nearest at that many decimals, halves to even as the decimal expansion of f has them. */
static double round_common(double f, int64_t precision)
{
	char text[800];

	if (!isfinite(f) || precision > 300)
		return f;
	if (precision >= 0) {
		snprintf(text, sizeof text, "%.*f", (int)precision, f);
		return strtod(text, NULL);
	}
	if (precision < -308)
		return copysign(0, f);
	double power = pow(10, (double)-precision);
	return nearbyint(f / power) * power;
}

static struct value round_int(struct run *r, int64_t i, int64_t precision)
{
	int64_t power = 1;

	if (precision >= 0)
		return v_int(i);
	if (precision < -18)
		return v_int(0);
	for (; precision < 0; precision++)
		power *= 10;
	int64_t rest = ((i % power) + power) % power, low;
	if (__builtin_sub_overflow(i, rest, &low))
		run_fail(r, "integer out of range");
	bool up = rest > power - rest || (rest == power - rest && (low / power) % 2);
	return arithmetic(r, OP_ADD, v_int(low), v_int(up ? power : 0));
}

static struct value f_round(struct run *r, const struct value *a, const struct args *all)
{
	bool to_int = a[1].type == V_NONE;
	int64_t precision = to_int ? 0 : want_int(r, a[1], 0), i;
	struct str *method = str_or(r, a[2], "common");
	bool ceil_it = str_is(method, "ceil");

	(void)all;
	if (!ceil_it && !str_is(method, "common") && !str_is(method, "floor"))
		run_fail(r, "method must be common, ceil or floor");
	if (a[0].type == V_UNDEFINED)
		undefined_fail(r, a[0]);
	if (!is_number(a[0]))
		run_fail(r, "type %s doesn't define __round__ method", type_name(a[0]));
	if (to_int && a[0].type == V_FLOAT && whole(round_common(a[0].f, 0), &i))
		return v_int(i);
	if (str_is(method, "common"))
		return a[0].type == V_FLOAT ? v_float(round_common(a[0].f, precision))
					    : round_int(r, want_int(r, a[0], 0), precision);
	double power = pow(10, (double)precision), f = number_double(a[0]) * power;
	return v_float((ceil_it ? ceil(f) : floor(f)) / power);
}

const struct builtin list_filters[] = {
	{ "length", f_length, "object" },
	{ "count", f_length, "object" },
	{ "list", f_list, "value" },
	{ "first", f_first, "seq" },
	{ "last", f_last, "seq" },
	{ "reverse", f_reverse, "value" },
	{ "join", f_join, "value d? attribute?" },
	{ "sum", f_sum, "iterable attribute? start?" },
	{ "batch", f_batch, "lazy:value linecount fill_with?" },
	{ "slice", f_slice, "lazy:value slices fill_with?" },
	{ "items", f_items, "lazy:value" },
	{ "default", f_default, "value default_value? boolean?" },
	{ "d", f_default, "value default_value? boolean?" },
	{ "attr", f_attr, "obj name" },
	{ .name = NULL },
};

const struct builtin number_filters[] = {
	{ "abs", f_abs, "x" },
	{ "int", f_int, "value default? base?" },
	{ "float", f_float, "value default?" },
	{ "round", f_round, "value precision? method?" },
	{ .name = NULL },
};
