/* SPDX-License-Identifier: MIT */
/* Statements. */
#include "exec.h"

typedef enum flow exec_fn(struct run *r, const struct node *n);

struct scope *scope_push(struct run *r, struct scope *outer)
{
	struct scope *s = job_alloc(&r->job, sizeof *s);

	s->outer = outer;
	return r->scope = s;
}

/* Where so many variables are looked through for one, that is work, too. */
enum { VARIABLES_A_STEP = 64 };

void scope_set(struct run *r, struct scope *s, const struct name *name, struct value v)
{
	job_charge(&r->job, s->n / VARIABLES_A_STEP);
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].name == name) {
			s->v[i].value = v;
			return;
		}
	if (s->n == s->cap) {
		s->cap = s->cap ? 2 * s->cap : 4;
		s->v = job_grow(&r->job, s->v, s->n, s->cap, sizeof *s->v);
	}
	s->v[s->n++] = (struct variable){ name, v };
}

struct value scope_get(struct run *r, const struct name *name)
{
	for (const struct scope *s = r->scope; s; s = s->outer) {
		job_charge(&r->job, s->n / VARIABLES_A_STEP);
		for (size_t i = 0; i < s->n; i++)
			if (s->v[i].name == name)
				return s->v[i].value;
	}
	const struct value *v = dict_find(&r->job, r->context, &name->s, name->hash);
	if (v)
		return *v;
	const struct builtin *b = global_find(&name->s);
	if (b)
		return (struct value){ .type = V_FUNCTION, .fn = b };
	return undefined_name(r, &name->s);
}

void capture_start(struct run *r, struct capture *c)
{
	*c = (struct capture){ .buf = { .j = &r->job }, .outer = r->out };
	r->out = &c->buf;
}

struct value capture_end(struct run *r, struct capture *c)
{
	r->out = c->outer;
	return v_str(buf_take(&c->buf));
}

/* a, b = v, with as many items as names. */
static void assign_tuple(struct run *r, const struct node *target, struct value v)
{
	size_t n = target->list.n;

	if (!iterable(v))
		run_fail(r, "cannot unpack non-iterable %s object", type_name(v));
	struct list *l = items_of(r, v);
	if (l->n > n)
		run_fail(r, "too many values to unpack (expected %zu)", n);
	if (l->n < n)
		run_fail(r, "not enough values to unpack (expected %zu, got %zu)", n, l->n);
	for (size_t i = 0; i < n; i++)
		assign(r, target->list.v[i], l->v[i]);
}

void assign(struct run *r, const struct node *target, struct value v)
{
	if (target->kind == N_NAME) {
		scope_set(r, r->scope, target->name, v);
	} else if (target->kind == N_TUPLE) {
		r->here = target;
		assign_tuple(r, target, v);
	} else {
		struct value ns = eval(r, target->a);

		if (ns.type != V_NAMESPACE)
			run_fail(r, "cannot assign attribute on non-namespace object");
		dict_put(&r->job, ns.d, v_str(&target->name->s), v);
	}
}

static enum flow exec_text(struct run *r, const struct node *n)
{
	buf_str(r->out, n->value.s);
	return FLOW_NEXT;
}

static enum flow exec_print(struct run *r, const struct node *n)
{
	put_str(r, r->out, eval(r, n->a));
	return FLOW_NEXT;
}

/* The arms are a row, not a nest, so any number of elif is fine. */
static enum flow exec_if(struct run *r, const struct node *n)
{
	for (; n; n = n->c)
		if (!n->a || value_true(eval(r, n->a)))
			return exec_body(r, &n->list);
	return FLOW_NEXT;
}

static enum flow exec_set(struct run *r, const struct node *n)
{
	assign(r, n->a, eval(r, n->b));
	return FLOW_NEXT;
}

/* The body's text in a scope of its own, through the filters of n->b. */
static enum flow filtered_body(struct run *r, const struct node *n, struct value *v)
{
	struct scope *outer = r->scope;
	struct value saved = r->input;
	struct capture c;

	capture_start(r, &c);
	scope_push(r, outer);
	enum flow flow = exec_body(r, &n->list);
	r->input = capture_end(r, &c);
	*v = eval(r, n->b);
	r->scope = outer;
	r->input = saved;
	return flow;
}

static enum flow exec_set_block(struct run *r, const struct node *n)
{
	struct value v;
	enum flow flow = filtered_body(r, n, &v);

	assign(r, n->a, v);
	return flow;
}

static enum flow exec_filtered(struct run *r, const struct node *n)
{
	struct value v;
	enum flow flow = filtered_body(r, n, &v);

	if (v.type != V_STRING)
		run_fail(r, "a filter block gives text: expected str instance, %s found", type_name(v));
	put_str(r, r->out, v);
	return flow;
}

static enum flow exec_macro(struct run *r, const struct node *n)
{
	scope_set(r, r->scope, n->name, macro_new(r, n));
	return FLOW_NEXT;
}

/* Calls with the body as one more argument, a macro by the name of caller. */
static enum flow exec_call_block(struct run *r, const struct node *n)
{
	struct value callee = eval(r, n->b->a);
	struct args args;

	eval_args(r, &n->b->list, NULL, macro_new(r, n->a), &args);
	r->here = n;
	put_str(r, r->out, call_value(r, callee, &args));
	return FLOW_NEXT;
}

/* The values are those outside, so all come before any name is set. */
static enum flow exec_with(struct run *r, const struct node *n)
{
	struct scope *outer = r->scope;
	struct list *values = list_new(&r->job, n->defaults.n);

	for (size_t i = 0; i < n->defaults.n; i++)
		list_push(&r->job, values, eval(r, n->defaults.v[i]));
	scope_push(r, outer);
	for (size_t i = 0; i < n->params.n; i++)
		assign(r, n->params.v[i], values->v[i]);
	enum flow flow = exec_body(r, &n->list);
	r->scope = outer;
	return flow;
}

static enum flow exec_scope(struct run *r, const struct node *n)
{
	struct scope *outer = r->scope;

	scope_push(r, outer);
	enum flow flow = exec_body(r, &n->list);
	r->scope = outer;
	return flow;
}

static enum flow exec_break(struct run *r, const struct node *n)
{
	(void)r;
	return n->kind == N_BREAK ? FLOW_BREAK : FLOW_CONTINUE;
}

static exec_fn *const execs[NODE_KINDS] = {
	[N_TEXT] = exec_text, [N_PRINT] = exec_print, [N_IF] = exec_if, [N_FOR] = exec_for, [N_SET] = exec_set,
	[N_SETBLOCK] = exec_set_block, [N_MACRO] = exec_macro, [N_CALLBLOCK] = exec_call_block,
	[N_FILTERED] = exec_filtered, [N_WITH] = exec_with, [N_SCOPE] = exec_scope,
	[N_BREAK] = exec_break, [N_CONTINUE] = exec_break,
};

enum flow exec_body(struct run *r, const struct nodes *body)
{
	enum flow flow = FLOW_NEXT;

	run_enter(r);
	for (size_t i = 0; i < body->n && flow == FLOW_NEXT; i++) {
		r->here = body->v[i];
		job_charge(&r->job, 1);
		flow = execs[r->here->kind](r, r->here);
	}
	run_leave(r);
	return flow;
}
