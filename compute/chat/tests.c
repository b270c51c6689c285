/* SPDX-License-Identifier: MIT */
/* Tests: what may stand behind "is". */
#include "textops.h"

static bool is_divisible(struct run *r, struct value v, int64_t by, int64_t rest)
{
	struct value m = arithmetic(r, OP_MOD, v, v_int(by));

	return value_equal(&r->job, m, v_int(rest));
}

static bool is_sequence(struct value v)
{
	return has_length(v) && v.type != V_VIEW && v.type != V_LOOP;
}

static bool is_callable(struct value v)
{
	switch (v.type) {
	case V_FUNCTION: case V_METHOD: case V_MACRO: case V_LOOP: case V_JOINER: case V_UNDEFINED:
		return true;
	default:
		return false;
	}
}

/* name, parameters, answer; a is what is tested and b the argument. */
#define TESTS(T) \
	T("defined", defined, "value", a.type != V_UNDEFINED) \
	T("undefined", undefined, "value", a.type == V_UNDEFINED) \
	T("none", none, "value", a.type == V_NONE) \
	T("boolean", boolean, "value", a.type == V_BOOL) \
	T("true", true, "value", a.type == V_BOOL && a.b) \
	T("false", false, "value", a.type == V_BOOL && !a.b) \
	T("integer", integer, "value", a.type == V_INT) \
	T("float", float, "value", a.type == V_FLOAT) \
	T("number", number, "value", is_number(a)) \
	T("string", string, "value", a.type == V_STRING) \
	T("mapping", mapping, "value", a.type == V_DICT) \
	T("sequence", sequence, "value", is_sequence(a)) \
	T("iterable", iterable, "value", iterable(a)) \
	T("callable", callable, "value", is_callable(a)) \
	T("escaped", escaped, "value", a.type == V_STRING && a.s->safe) \
	T("lower", lower, "value", is_lower_text(to_str(r, a))) \
	T("upper", upper, "value", is_upper_text(to_str(r, a))) \
	T("odd", odd, "value", is_divisible(r, a, 2, 1)) \
	T("even", even, "value", is_divisible(r, a, 2, 0)) \
	T("divisibleby", divisibleby, "value num", value_equal(&r->job, arithmetic(r, OP_MOD, a, b), v_int(0))) \
	T("filter", filter, "value", a.type == V_STRING && filter_find(a.s)) \
	T("test", test, "value", a.type == V_STRING && test_find(a.s)) \
	T("sameas", sameas, "value other", value_same(a, b)) \
	T("in", in, "value seq", contains(r, a, b)) \
	T("eq", eq, "a b", compare(r, OP_EQ, a, b)) \
	T("equalto", equalto, "a b", compare(r, OP_EQ, a, b)) \
	T("==", eq_sign, "a b", compare(r, OP_EQ, a, b)) \
	T("ne", ne, "a b", compare(r, OP_NE, a, b)) \
	T("!=", ne_sign, "a b", compare(r, OP_NE, a, b)) \
	T("lt", lt, "a b", compare(r, OP_LT, a, b)) \
	T("lessthan", lessthan, "a b", compare(r, OP_LT, a, b)) \
	T("<", lt_sign, "a b", compare(r, OP_LT, a, b)) \
	T("le", le, "a b", compare(r, OP_LE, a, b)) \
	T("<=", le_sign, "a b", compare(r, OP_LE, a, b)) \
	T("gt", gt, "a b", compare(r, OP_GT, a, b)) \
	T("greaterthan", greaterthan, "a b", compare(r, OP_GT, a, b)) \
	T(">", gt_sign, "a b", compare(r, OP_GT, a, b)) \
	T("ge", ge, "a b", compare(r, OP_GE, a, b)) \
	T(">=", ge_sign, "a b", compare(r, OP_GE, a, b))
#define T(name, id, params, answer) \
	static struct value t_##id(struct run *r, const struct value *v, const struct args *all) \
	{ \
		const struct value a = v[0], b = all->n > 1 ? v[1] : v_none(); \
		(void)r; \
		(void)b; \
		return v_bool(answer); \
	}
TESTS(T)
#undef T

static const struct builtin tests[] = {
#define T(name, id, params, answer) { name, t_##id, params },
	TESTS(T)
#undef T
};

const struct builtin *test_find(const struct str *name)
{
	for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
		if (str_is(name, tests[i].name))
			return &tests[i];
	return NULL;
}
