/* SPDX-License-Identifier: MIT */
/* Statements, scopes and macros. */
#ifndef EXEC_H
#define EXEC_H
#include "run.h"

enum flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE };

enum flow exec_body(struct run *r, const struct nodes *body);

struct scope *scope_push(struct run *r, struct scope *outer);
void scope_set(struct run *r, struct scope *s, const struct name *name, struct value v);
/* A variable of a scope around this one, of the context, or a global function; else undefined. */
struct value scope_get(struct run *r, const struct name *name);

/* Output goes to b until capture_end(), which gives the text and the output back. */
struct capture {
	struct buf buf, *outer;
};
void capture_start(struct run *r, struct capture *c);
struct value capture_end(struct run *r, struct capture *c);

/* target = v */
void assign(struct run *r, const struct node *target, struct value v);
struct value macro_new(struct run *r, const struct node *def);
struct value macro_call(struct run *r, struct macro *m, const struct args *args);
/* Evaluates a call's arguments; caller (or ABSENT) is one keyword more. */
void eval_args(struct run *r, const struct nodes *list, const struct value *first, struct value caller,
	       struct args *out);
enum flow exec_for(struct run *r, const struct node *n);
#endif
