/* SPDX-License-Identifier: MIT */
/* Equality and order as Python has them: numbers across types, sequences item by item, anything else by identity. */
#include "compare.h"
#include "dict.h"
#include "number.h"
#include <math.h>
#include <string.h>

bool value_true(struct value v)
{
	switch (v.type) {
	case V_ABSENT:
	case V_UNDEFINED:
	case V_NONE:
		return false;
	case V_BOOL:
		return v.b;
	case V_INT:
		return v.i != 0;
	case V_FLOAT:
		return v.f != 0;
	case V_STRING:
		return v.s->n != 0;
	case V_LIST:
	case V_TUPLE:
		return v.l->n != 0;
	case V_DICT:
		return v.d->n != 0;
	case V_RANGE:
		return v.range->n != 0;
	case V_VIEW:
		return v.view->d->n != 0;
	default:
		return true;
	}
}

static bool lists_equal(struct job *j, const struct list *a, const struct list *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (!value_equal(j, a->v[i], b->v[i]))
			return false;
	return true;
}

static bool dicts_equal(struct job *j, const struct dict *a, const struct dict *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		const struct value *v = dict_get(j, b, a->v[i].key);

		if (!v || !value_equal(j, a->v[i].value, *v))
			return false;
	}
	return true;
}

static bool ranges_equal(const struct range *a, const struct range *b)
{
	return a->n == b->n && (!a->n || (a->start == b->start && (a->n == 1 || a->step == b->step)));
}

bool value_same(struct value a, struct value b)
{
	if (a.type != b.type)
		return false;
	switch (a.type) {
	case V_ABSENT:
	case V_NONE:
		return true;
	case V_BOOL:
		return a.b == b.b;
	case V_INT:
		return a.i == b.i;
	case V_FLOAT:
		return a.f == b.f;
	case V_STRING:
		return a.s == b.s || str_same(a.s, b.s);
	default:
		return a.l == b.l;
	}
}

bool value_equal(struct job *j, struct value a, struct value b)
{
	job_charge(j, 1);
	if (is_number(a) && is_number(b))
		return !isnan(number_double(a)) && !isnan(number_double(b)) && !number_order(a, b);
	if (a.type != b.type)
		return false;
	switch (a.type) {
	case V_UNDEFINED:
		return true;
	case V_STRING:
		return str_same(a.s, b.s);
	case V_LIST:
	case V_TUPLE:
		return lists_equal(j, a.l, b.l);
	case V_DICT:
		return dicts_equal(j, a.d, b.d);
	case V_RANGE:
		return ranges_equal(a.range, b.range);
	default:
		return value_same(a, b);
	}
}

/* Whether a sign of a comparison satisfies op. */
static bool satisfies(int sign, const char *op)
{
	if (!sign)
		return op[1] == '=';
	return *op == '<' ? sign < 0 : sign > 0;
}

static int order_strings(const struct str *a, const struct str *b)
{
	size_t n = a->n < b->n ? a->n : b->n;
	int sign = n ? memcmp(a->p, b->p, n) : 0;

	return sign ? sign : (a->n > b->n) - (a->n < b->n);
}

/* The first items that differ decide; then the shorter list comes first. */
static bool lists_ordered(struct job *j, struct value *a, struct value *b, const char *op, bool *able)
{
	const struct list *l = a->l, *m = b->l;

	for (size_t i = 0; i < l->n && i < m->n; i++)
		if (!value_equal(j, l->v[i], m->v[i])) {
			*a = l->v[i];
			*b = m->v[i];
			return value_ordered(j, a, b, op, able);
		}
	return satisfies((l->n > m->n) - (l->n < m->n), op);
}

bool value_ordered(struct job *j, struct value *a, struct value *b, const char *op, bool *able)
{
	job_charge(j, 1);
	if (is_number(*a) && is_number(*b))
		return !isnan(number_double(*a)) && !isnan(number_double(*b)) && satisfies(number_order(*a, *b), op);
	if (a->type == V_STRING && b->type == V_STRING)
		return satisfies(order_strings(a->s, b->s), op);
	if (a->type == b->type && (a->type == V_LIST || a->type == V_TUPLE))
		return lists_ordered(j, a, b, op, able);
	*able = false;
	return false;
}
