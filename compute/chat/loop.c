/* SPDX-License-Identifier: MIT */
/* for loops, recursive ones too. */
#include "exec.h"

/* The items that pass the loop's test. */
static struct list *tested(struct run *r, const struct node *n, const struct list *items)
{
	struct list *l = list_new(&r->job, 0);
	struct scope *outer = r->scope, *s = scope_push(r, outer);

	for (size_t i = 0; i < items->n; i++) {
		s->n = 0;
		assign(r, n->a, items->v[i]);
		if (value_true(eval(r, n->c)))
			list_push(&r->job, l, items->v[i]);
	}
	r->scope = outer;
	return l;
}

static struct list *loop_items(struct run *r, const struct node *n, struct value v)
{
	struct list *items = items_of(r, v);
	return n->c ? tested(r, n, items) : items;
}

/* One item; its scope starts empty each time. */
static enum flow turn(struct run *r, struct loop *l, struct scope *s)
{
	job_charge(&r->job, 1);
	s->n = 0;
	assign(r, l->node->a, l->items->v[l->at]);
	scope_set(r, s, r->t->loop, (struct value){ .type = V_LOOP, .loop = l });
	return exec_body(r, &l->node->list);
}

static enum flow run_else(struct run *r, const struct node *n, struct scope *outer)
{
	scope_push(r, outer);
	enum flow flow = exec_body(r, &n->orelse);
	r->scope = outer;
	return flow;
}

/*
 * Runs the loop in the scope outer. As in Jinja, else also runs when no turn reached the end of the body, whether by
 * break or by continue.
 */
static enum flow run_loop(struct run *r, struct loop *l, struct scope *outer)
{
	struct scope *s = scope_push(r, outer);
	bool completed = false;

	for (; l->at < l->items->n; l->at++) {
		enum flow flow = turn(r, l, s);

		completed |= flow == FLOW_NEXT;
		if (flow == FLOW_BREAK)
			break;
	}
	r->scope = outer;
	return completed || !l->node->orelse.n ? FLOW_NEXT : run_else(r, l->node, outer);
}

static struct loop *loop_new(struct run *r, const struct node *n, struct value v, struct scope *scope)
{
	struct loop *l = job_alloc(&r->job, sizeof *l);

	l->node = n;
	l->scope = scope;
	l->items = loop_items(r, n, v);
	l->changed.type = V_ABSENT;
	return l;
}

enum flow exec_for(struct run *r, const struct node *n)
{
	struct value v = eval(r, n->b);

	r->here = n;
	return run_loop(r, loop_new(r, n, v, r->scope), r->scope);
}

struct value loop_recurse(struct run *r, struct loop *outer, struct value items)
{
	struct scope *scope = r->scope;
	struct capture c;

	if (!(outer->node->flags & NODE_RECURSIVE))
		run_fail(r, "The loop must have the 'recursive' marker to be called recursively.");
	run_enter(r);
	capture_start(r, &c);
	r->scope = outer->scope;
	struct loop *l = loop_new(r, outer->node, items, outer->scope);
	l->depth0 = outer->depth0 + 1;
	run_loop(r, l, outer->scope);
	r->scope = scope;
	run_leave(r);
	return capture_end(r, &c);
}
