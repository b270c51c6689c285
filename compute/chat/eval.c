/* SPDX-License-Identifier: MIT */
/* Expressions to values. */
#include "exec.h"
#include <errno.h>

typedef struct value eval_fn(struct run *r, const struct node *n);

void run_fail(struct run *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	job_vfail(&r->job, -EINVAL, r->here ? r->here->at : 0, r->here ? r->here->line : 0, fmt, ap);
}

void run_enter(struct run *r)
{
	job_charge(&r->job, 1);
	if (++r->job.depth > r->job.depth_limit)
		job_fail(&r->job, -E2BIG, r->here->at, r->here->line, "the template nests its calls too deeply");
}

void run_leave(struct run *r)
{
	r->job.depth--;
}

/* An undefined value; whoever uses it fails with that text. */
struct value undefined_hint(struct run *r, const char *hint)
{
	struct undefined *u = job_alloc(&r->job, sizeof *u);

	u->hint = str_literal(&r->job, hint);
	return (struct value){ .type = V_UNDEFINED, .u = u };
}

struct value undefined_of(struct run *r, struct value object, struct value name)
{
	struct undefined *u = job_alloc(&r->job, sizeof *u);

	u->object = object;
	u->name = name;
	return (struct value){ .type = V_UNDEFINED, .u = u };
}

struct value undefined_name(struct run *r, const struct str *name)
{
	return undefined_of(r, (struct value){ .type = V_ABSENT }, v_str(str_new(&r->job, name->p, name->n)));
}

/* The class as Jinja's messages have it. */
static const char *object_text(struct value v)
{
	return v.type == V_NONE ? "None" : type_name(v);
}

/* The message that Jinja gives for the use of v. */
void undefined_fail(struct run *r, struct value v)
{
	const struct undefined *u = v.u;
	const char *object = v.u->object.type == V_NONE ? "" : " object";

	if (u->hint)
		run_fail(r, "%.*s", (int)u->hint->n, u->hint->p);
	struct str *name = to_repr(r, u->name);
	if (!given(u->object))
		run_fail(r, "%.*s is undefined", (int)name->n, name->p);
	if (u->name.type == V_STRING)
		run_fail(r, "'%s%s' has no attribute %.*s", object_text(u->object), object, (int)name->n, name->p);
	run_fail(r, "%s%s has no element %.*s", object_text(u->object), object, (int)name->n, name->p);
}

static struct value eval_const(struct run *r, const struct node *n)
{
	(void)r;
	return n->value;
}

static struct value eval_name(struct run *r, const struct node *n)
{
	return scope_get(r, n->name);
}

/* The values of a row of expressions, in order. */
static struct list *eval_items(struct run *r, const struct nodes *items)
{
	struct list *l = list_new(&r->job, items->n);

	for (size_t i = 0; i < items->n; i++)
		list_push(&r->job, l, eval(r, items->v[i]));
	return l;
}

static struct value eval_list(struct run *r, const struct node *n)
{
	return v_list(eval_items(r, &n->list));
}

static struct value eval_tuple(struct run *r, const struct node *n)
{
	return v_tuple(eval_items(r, &n->list));
}

static struct value eval_dict(struct run *r, const struct node *n)
{
	struct dict *d = dict_new(&r->job);
	uint64_t hash;

	for (size_t i = 0; i < n->list.n; i += 2) {
		struct value key = eval(r, n->list.v[i]), v = eval(r, n->list.v[i + 1]);

		if (!value_hash(&r->job, key, &hash))
			run_fail(r, "unhashable type: '%s'", type_name(key));
		dict_put(&r->job, d, key, v);
	}
	return v_dict(d);
}

static struct value eval_attr(struct run *r, const struct node *n)
{
	struct value object = eval(r, n->a);

	r->here = n;
	return get_attribute(r, object, &n->name->s);
}

/* A part of a slice that may be left out. */
static struct value eval_optional(struct run *r, const struct node *n)
{
	return n ? eval(r, n) : v_none();
}

static struct value eval_item(struct run *r, const struct node *n)
{
	struct value object = eval(r, n->a);

	if (n->b->kind == N_SLICE) {
		struct value part[3];

		part[0] = eval_optional(r, n->b->a);
		part[1] = eval_optional(r, n->b->b);
		part[2] = eval_optional(r, n->b->c);
		r->here = n;
		return get_slice(r, object, part);
	}
	struct value key = eval(r, n->b);
	r->here = n;
	return get_item(r, object, key);
}

static struct value eval_slice(struct run *r, const struct node *n)
{
	r->here = n;
	run_fail(r, "slices in more than one dimension are not supported");
}

static struct value eval_call(struct run *r, const struct node *n)
{
	struct value callee = eval(r, n->a);
	struct args args;

	eval_args(r, &n->list, NULL, (struct value){ .type = V_ABSENT }, &args);
	r->here = n;
	return call_value(r, callee, &args);
}

/* A filter or test upon its operand: that is its first argument. A name not found is told here, when it is needed. */
static struct value eval_builtin(struct run *r, const struct node *n, const char *what)
{
	struct value operand = eval(r, n->a);
	struct args args;

	if (!n->builtin) {
		r->here = n;
		run_fail(r, "No %s named '%.*s'.", what, (int)n->name->s.n, n->name->s.p);
	}
	eval_args(r, &n->list, &operand, (struct value){ .type = V_ABSENT }, &args);
	r->here = n;
	return builtin_call(r, n->builtin, &args);
}

static struct value eval_filter(struct run *r, const struct node *n)
{
	return eval_builtin(r, n, "filter");
}

static struct value eval_test(struct run *r, const struct node *n)
{
	return eval_builtin(r, n, "test");
}

static struct value eval_input(struct run *r, const struct node *n)
{
	(void)n;
	return r->input;
}

static struct value eval_not(struct run *r, const struct node *n)
{
	return v_bool(!value_true(eval(r, n->a)));
}

static struct value eval_sign(struct run *r, const struct node *n)
{
	struct value v = eval(r, n->a);

	r->here = n;
	if (v.type == V_UNDEFINED)
		undefined_fail(r, v);
	if (!is_number(v))
		run_fail(r, "bad operand type for unary %s: '%s'", n->kind == N_NEG ? "-" : "+", type_name(v));
	if (v.type == V_FLOAT)
		return v_float(n->kind == N_NEG ? -v.f : v.f);
	if (n->kind == N_NEG)
		return arithmetic(r, OP_SUB, v_int(0), v);
	return v_int(v.type == V_INT ? v.i : v.b);
}

static struct value eval_and(struct run *r, const struct node *n)
{
	struct value v = eval(r, n->a);

	return value_true(v) ? eval(r, n->b) : v;
}

static struct value eval_or(struct run *r, const struct node *n)
{
	struct value v = eval(r, n->a);

	return value_true(v) ? v : eval(r, n->b);
}

static struct value eval_cond(struct run *r, const struct node *n)
{
	if (value_true(eval(r, n->b)))
		return eval(r, n->a);
	if (n->c)
		return eval(r, n->c);
	return undefined_hint(r, "the inline if-expression evaluated to false and no else section was defined.");
}

/* One append after another: a long row costs what its text is long. */
static struct value eval_concat(struct run *r, const struct node *n)
{
	struct str *s = str_literal(&r->job, "");

	for (size_t i = 0; i < n->list.n; i++) {
		struct str *item = to_str(r, eval(r, n->list.v[i]));

		s = i ? str_concat(&r->job, s, item) : item;
	}
	return v_str(s);
}

/* a < b < c evaluates b once, and c only when a < b. */
static struct value eval_compare(struct run *r, const struct node *n)
{
	struct value left = eval(r, n->a);

	for (size_t i = 0; i < n->list.n; i++) {
		const struct node *operand = n->list.v[i];
		struct value right = eval(r, operand->a);

		r->here = operand;
		if (!compare(r, operand->op, left, right))
			return v_bool(false);
		left = right;
	}
	return v_bool(true);
}

static struct value eval_arith(struct run *r, const struct node *n)
{
	struct value a = eval(r, n->a), b = eval(r, n->b);

	r->here = n;
	return arithmetic(r, n->op, a, b);
}

static eval_fn *const evals[] = {
	[N_CONST] = eval_const, [N_NAME] = eval_name, [N_LIST] = eval_list, [N_TUPLE] = eval_tuple,
	[N_DICT] = eval_dict, [N_ATTR] = eval_attr, [N_ITEM] = eval_item, [N_SLICE] = eval_slice,
	[N_CALL] = eval_call, [N_FILTER] = eval_filter, [N_TEST] = eval_test, [N_INPUT] = eval_input,
	[N_NOT] = eval_not, [N_NEG] = eval_sign, [N_POS] = eval_sign, [N_AND] = eval_and, [N_OR] = eval_or,
	[N_COND] = eval_cond, [N_CONCAT] = eval_concat, [N_COMPARE] = eval_compare, [N_ARITH] = eval_arith,
};

struct value eval(struct run *r, const struct node *n)
{
	struct value v;

	r->here = n;
	run_enter(r);
	v = evals[n->kind](r, n);
	run_leave(r);
	return v;
}
