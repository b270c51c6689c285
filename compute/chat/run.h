/* SPDX-License-Identifier: MIT */
/* A template being rendered. Shared by the evaluator and by what is built in. */
#ifndef RUN_H
#define RUN_H
#include "compare.h"
#include "dict.h"
#include "node.h"
#include "number.h"

struct variable {
	const struct name *name;
	struct value value;
};
struct scope {
	struct scope *outer;
	struct variable *v;
	size_t n, cap;
};

struct macro {
	const struct node *def;
	struct scope *scope; /* where it was defined */
};

struct loop {
	struct list *items;     /* all of them */
	size_t at;              /* index0 */
	unsigned depth0;
	const struct node *node;
	struct scope *scope;    /* around the loop */
	struct value changed;   /* last arguments of changed(), ABSENT before */
};

struct run {
	struct job job;
	const struct template *t;
	const struct node *here;      /* what is being done, for messages */
	struct scope *scope;
	const struct dict *context;
	struct buf *out;
	struct value input;           /* of the innermost filter block */
	int64_t now;
};

/* Fails at the statement or expression that is being done. */
__attribute__((format(printf, 2, 3), noreturn))
void run_fail(struct run *r, const char *fmt, ...);
/* One level of recursion more; bounded. */
void run_enter(struct run *r);
void run_leave(struct run *r);

/* ---- undefined ---- */

struct value undefined_hint(struct run *r, const char *hint);
/* A variable, or an attribute or item of object. */
struct value undefined_name(struct run *r, const struct str *name);
struct value undefined_of(struct run *r, struct value object, struct value name);
__attribute__((noreturn)) void undefined_fail(struct run *r, struct value v);

/* ---- evaluation ---- */

struct value eval(struct run *r, const struct node *n);
struct value call_value(struct run *r, struct value callee, const struct args *args);
/* loop(items): the body of a recursive loop once more. */
struct value loop_recurse(struct run *r, struct loop *l, struct value items);
struct value arithmetic(struct run *r, enum operation op, struct value a, struct value b);
bool compare(struct run *r, enum operation op, struct value a, struct value b);
bool contains(struct run *r, struct value needle, struct value hay);
const char *operation_text(enum operation op);

/* ---- attributes and items ---- */

struct value get_attribute(struct run *r, struct value object, struct str *name);
struct value get_item(struct run *r, struct value object, struct value key);
struct value get_slice(struct run *r, struct value object, const struct value part[3]);
/* A path like "function.name" or an integer. */
struct value get_path(struct run *r, struct value object, struct value path);

/* ---- iteration ---- */

struct cursor {
	struct value of;
	struct list *items;
	size_t at;
};
bool iterable(struct value v);
void cursor_start(struct run *r, struct cursor *c, struct value v);
bool cursor_next(struct run *r, struct cursor *c, struct value *v);
/* All the items, in a list that may be v's own. */
struct list *items_of(struct run *r, struct value v);
/* len(v) */
int64_t length_of(struct run *r, struct value v);
bool has_length(struct value v);
struct value v_iterator(struct run *r, const char *type, struct list *items);

/* ---- text ---- */

const char *type_name(struct value v);
/* str(v), repr(v) */
struct str *to_str(struct run *r, struct value v);
struct str *to_repr(struct run *r, struct value v);
void put_str(struct run *r, struct buf *b, struct value v);
void put_repr(struct run *r, struct buf *b, struct value v);

/* ---- arguments of what is built in ---- */

int64_t want_int(struct run *r, struct value v, int64_t unless_given);
struct str *want_str(struct run *r, struct value v, const char *who);
/* str(v) of an argument, or the literal when it was not given. */
struct str *str_or(struct run *r, struct value v, const char *unless_given);
bool bool_or(struct value v, bool unless_given);
/* The same where Python wants an integer. */
bool flag_or(struct run *r, struct value v, bool unless_given);
#endif
