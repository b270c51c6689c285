/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memmem */
/* Arithmetic, comparison and membership, as Python does them. */
#include "format.h"
#include "textops.h"
#include <math.h>
#include <string.h>

static const char *const texts[OPERATIONS] = {
#define A(name, text) [OP_##name] = text,
	COMPARISONS(A) ARITHMETIC(A)
#undef A
};

const char *operation_text(enum operation op)
{
	return texts[op];
}

static bool is_integer(struct value v)
{
	return v.type == V_INT || v.type == V_BOOL;
}

static int64_t integer(struct value v)
{
	return v.type == V_INT ? v.i : v.b;
}

/* Rounds down, and the remainder has the sign of the divisor: unlike C. */
static int64_t floor_div(int64_t a, int64_t b)
{
	int64_t q = a / b;

	return q - (a % b && (a < 0) != (b < 0));
}

/* False when the power has more than 64 bits. */
static bool int_power(int64_t base, int64_t exponent, int64_t *out)
{
	*out = 1;
	for (; exponent; exponent >>= 1) {
		if (exponent & 1 && __builtin_mul_overflow(*out, base, out))
			return false;
		if (exponent > 1 && __builtin_mul_overflow(base, base, &base))
			return false;
	}
	return true;
}

static void need_divisor(struct run *r, bool zero, enum operation op)
{
	if (zero)
		run_fail(r, op == OP_DIV ? "division by zero" : "integer division or modulo by zero");
}

static struct value int_arithmetic(struct run *r, enum operation op, int64_t a, int64_t b)
{
	int64_t v = 0;
	bool fits = true;

	switch (op) {
	case OP_ADD:
		fits = !__builtin_add_overflow(a, b, &v);
		break;
	case OP_SUB:
		fits = !__builtin_sub_overflow(a, b, &v);
		break;
	case OP_MUL:
		fits = !__builtin_mul_overflow(a, b, &v);
		break;
	case OP_DIV:
		need_divisor(r, !b, op);
		return v_float((double)((long double)a / (long double)b));
	case OP_FLOORDIV:
	case OP_MOD:
		need_divisor(r, !b, op);
		if (b == -1)
			fits = op == OP_MOD || !__builtin_sub_overflow(0, a, &v);
		else
			v = op == OP_MOD ? a - floor_div(a, b) * b : floor_div(a, b);
		break;
	default:
		if (b < 0 && !a)
			run_fail(r, "0.0 cannot be raised to a negative power");
		if (b < 0)
			return v_float(pow((double)a, (double)b));
		fits = int_power(a, b, &v);
	}
	if (!fits)
		run_fail(r, "integer out of range: %lld %s %lld", (long long)a, texts[op], (long long)b);
	return v_int(v);
}

static double float_mod(double a, double b)
{
	double m = fmod(a, b);

	if (m && (b < 0) != (m < 0))
		m += b;
	return m ? m : copysign(0, b);
}

/* The quotient of what is left without the remainder, so that a == q * b + m holds as well as it can. */
static double float_floor_div(double a, double b)
{
	double q = (a - float_mod(a, b)) / b, whole = floor(q);

	return q ? (q - whole > 0.5 ? whole + 1 : whole) : copysign(0, a / b);
}

static struct value float_arithmetic(struct run *r, enum operation op, double a, double b)
{
	switch (op) {
	case OP_ADD:
		return v_float(a + b);
	case OP_SUB:
		return v_float(a - b);
	case OP_MUL:
		return v_float(a * b);
	case OP_POW:
		if (!a && b < 0)
			run_fail(r, "0.0 cannot be raised to a negative power");
		if (a < 0 && isfinite(b) && b != floor(b))
			run_fail(r, "complex numbers are not supported");
		return v_float(pow(a, b));
	default:
		if (!b)
			run_fail(r, op == OP_MOD ? "float modulo" : op == OP_DIV ? "float division by zero"
				    : "float floor division by zero");
		return v_float(op == OP_DIV ? a / b : op == OP_MOD ? float_mod(a, b) : float_floor_div(a, b));
	}
}

/* What is added to a safe text is escaped, and the sum is safe. */
static struct str *add_strings(struct run *r, struct str *a, struct str *b)
{
	bool safe = a->safe || b->safe;
	struct str *s = safe ? str_concat(&r->job, escape_html(r, a), escape_html(r, b)) : str_concat(&r->job, a, b);

	s->safe = safe;
	return s;
}

static struct list *joined(struct run *r, const struct list *a, const struct list *b)
{
	struct list *l = list_new(&r->job, a->n + b->n);

	job_charge(&r->job, a->n + b->n);
	for (size_t i = 0; i < a->n + b->n; i++)
		list_push(&r->job, l, i < a->n ? a->v[i] : b->v[i - a->n]);
	return l;
}

/* A text, list or tuple so many times. */
static struct value repeat(struct run *r, struct value a, int64_t times)
{
	uint64_t n = times > 0 ? (uint64_t)times : 0;

	if (a.type == V_STRING) {
		struct buf b = { .j = &r->job };

		buf_repeat(&b, a.s, n);
		return v_str(str_marked(buf_take(&b), a.s->safe));
	}
	struct list *l = list_new(&r->job, 0);
	for (uint64_t i = 0; i < n && a.l->n; i++) {
		job_charge(&r->job, a.l->n);
		for (size_t k = 0; k < a.l->n; k++)
			list_push(&r->job, l, a.l->v[k]);
	}
	a.l = l;
	return a;
}

static bool repeats(struct value v)
{
	return v.type == V_STRING || v.type == V_LIST || v.type == V_TUPLE;
}

__attribute__((noreturn))
static void refuse(struct run *r, enum operation op, struct value a, struct value b)
{
	if (op == OP_ADD && repeats(a))
		run_fail(r, "can only concatenate %s (not \"%s\") to %s", type_name(a), type_name(b), type_name(a));
	if (op == OP_MUL && (repeats(a) || repeats(b)))
		run_fail(r, "can't multiply sequence by non-int of type '%s'", type_name(repeats(a) ? b : a));
	run_fail(r, "unsupported operand type(s) for %s: '%s' and '%s'", op == OP_POW ? "** or pow()" : texts[op],
		 type_name(a), type_name(b));
}

struct value arithmetic(struct run *r, enum operation op, struct value a, struct value b)
{
	if (is_integer(a) && is_integer(b))
		return int_arithmetic(r, op, integer(a), integer(b));
	if (is_number(a) && is_number(b))
		return float_arithmetic(r, op, number_double(a), number_double(b));
	if (op == OP_MOD && a.type == V_STRING)
		return v_str(format_percent(r, a.s, b));
	if (a.type == V_UNDEFINED || b.type == V_UNDEFINED)
		undefined_fail(r, a.type == V_UNDEFINED ? a : b);
	if (op == OP_ADD && a.type == V_STRING && b.type == V_STRING)
		return v_str(add_strings(r, a.s, b.s));
	if (op == OP_ADD && a.type == b.type && (a.type == V_LIST || a.type == V_TUPLE)) {
		a.l = joined(r, a.l, b.l);
		return a;
	}
	if (op == OP_MUL && repeats(a) && is_integer(b))
		return repeat(r, a, integer(b));
	if (op == OP_MUL && repeats(b) && is_integer(a))
		return repeat(r, b, integer(a));
	refuse(r, op, a, b);
}

bool contains(struct run *r, struct value needle, struct value hay)
{
	struct cursor c;
	struct value v;

	if (hay.type == V_STRING) {
		if (needle.type != V_STRING)
			run_fail(r, "'in <string>' requires string as left operand, not %s", type_name(needle));
		job_charge(&r->job, 1 + hay.s->n / 64);
		return memmem(hay.s->p, hay.s->n, needle.s->p, needle.s->n) || !needle.s->n;
	}
	if (hay.type == V_DICT || (hay.type == V_VIEW && hay.view->kind == VIEW_KEYS)) {
		uint64_t hash;

		if (!value_hash(&r->job, needle, &hash))
			run_fail(r, "unhashable type: '%s'", type_name(needle));
		return dict_get(&r->job, hay.type == V_DICT ? hay.d : hay.view->d, needle);
	}
	if (!iterable(hay))
		run_fail(r, "argument of type '%s' is not iterable", type_name(hay));
	cursor_start(r, &c, hay);
	while (cursor_next(r, &c, &v))
		if (value_same(v, needle) || value_equal(&r->job, v, needle))
			return true;
	return false;
}

bool compare(struct run *r, enum operation op, struct value a, struct value b)
{
	bool able = true, yes;

	switch (op) {
	case OP_EQ:
		return value_equal(&r->job, a, b);
	case OP_NE:
		return !value_equal(&r->job, a, b);
	case OP_IN:
		return contains(r, a, b);
	case OP_NOTIN:
		return !contains(r, a, b);
	default:
		yes = value_ordered(&r->job, &a, &b, texts[op], &able);
	}
	if (able)
		return yes;
	if (a.type == V_UNDEFINED || b.type == V_UNDEFINED)
		undefined_fail(r, a.type == V_UNDEFINED ? a : b);
	run_fail(r, "'%s' not supported between instances of '%s' and '%s'", texts[op], type_name(a), type_name(b));
}
