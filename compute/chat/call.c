/* SPDX-License-Identifier: MIT */
/* Calls: arguments, macros, built-in functions. */
#include "exec.h"
#include <string.h>

static const struct value absent = { .type = V_ABSENT };

struct values {
	struct value *v;
	size_t n, cap;
};
struct keywords {
	struct keyword *v;
	size_t n, cap;
};

static void add_value(struct run *r, struct values *l, struct value v)
{
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 4;
		l->v = job_grow(&r->job, l->v, l->n, l->cap, sizeof *l->v);
	}
	l->v[l->n++] = v;
}

static void add_keyword(struct run *r, struct keywords *l, struct str *name, struct value v)
{
	for (size_t i = 0; i < l->n; i++)
		if (str_same(l->v[i].name, name))
			run_fail(r, "got multiple values for keyword argument '%.*s'", (int)name->n, name->p);
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 4;
		l->v = job_grow(&r->job, l->v, l->n, l->cap, sizeof *l->v);
	}
	l->v[l->n++] = (struct keyword){ name, v };
}

/* *v */
static void spread(struct run *r, struct values *l, struct value v)
{
	struct cursor c;
	struct value item;

	if (!iterable(v))
		run_fail(r, "argument after * must be an iterable, not %s", type_name(v));
	cursor_start(r, &c, v);
	while (cursor_next(r, &c, &item))
		add_value(r, l, item);
}

/* **v */
static void spread_keywords(struct run *r, struct keywords *l, struct value v)
{
	if (v.type != V_DICT)
		run_fail(r, "argument after ** must be a mapping, not %s", type_name(v));
	for (size_t i = 0; i < v.d->n; i++) {
		if (v.d->v[i].key.type != V_STRING)
			run_fail(r, "keywords must be strings");
		job_charge(&r->job, 1 + l->n / 16);
		add_keyword(r, l, v.d->v[i].key.s, v.d->v[i].value);
	}
}

void eval_args(struct run *r, const struct nodes *list, const struct value *first, struct value caller,
	       struct args *out)
{
	struct values pos = { .n = 0 };
	struct keywords kw = { .n = 0 };

	if (first)
		add_value(r, &pos, *first);
	for (size_t i = 0; i < list->n; i++) {
		const struct node *n = list->v[i];
		bool plain = n->kind != N_KEYWORD && n->kind != N_SPREAD && n->kind != N_SPREADKW;
		struct value v = eval(r, plain ? n : n->a);

		if (plain)
			add_value(r, &pos, v);
		else if (n->kind == N_KEYWORD)
			add_keyword(r, &kw, n->value.s, v);
		else if (n->kind == N_SPREAD)
			spread(r, &pos, v);
		else
			spread_keywords(r, &kw, v);
	}
	if (given(caller))
		add_keyword(r, &kw, str_literal(&r->job, "caller"), caller);
	*out = (struct args){ pos.v, pos.n, kw.v, kw.n };
}

/* ---- macros ---- */

struct value macro_new(struct run *r, const struct node *def)
{
	struct macro *m = job_alloc(&r->job, sizeof *m);

	m->def = def;
	m->scope = r->scope;
	return (struct value){ .type = V_MACRO, .macro = m };
}

static ssize_t parameter_index(const struct node *def, const struct str *name)
{
	for (size_t i = 0; i < def->params.n; i++)
		if (str_same(&def->params.v[i]->name->s, name))
			return (ssize_t)i;
	return -1;
}

__attribute__((noreturn))
static void refuse_keyword(struct run *r, const struct node *def, const struct str *name)
{
	const struct str *macro = &def->name->s;

	if (str_is(name, "caller"))
		run_fail(r,
			 "macro '%.*s' was invoked with two values for the special caller argument or does not call "
			 "caller()",
			 (int)macro->n, macro->p);
	run_fail(r, "macro '%.*s' takes no keyword argument '%.*s'", (int)macro->n, macro->p, (int)name->n, name->p);
}

/* Keywords that are no parameter: the caller, then kwargs. */
static void extra_keywords(struct run *r, const struct node *def, const struct args *args, struct value *caller)
{
	struct dict *kwargs = def->flags & NODE_KWARGS ? dict_new(&r->job) : NULL;

	*caller = absent;
	for (size_t i = 0; i < args->nkw; i++) {
		const struct keyword *k = &args->kw[i];
		ssize_t at = parameter_index(def, k->name);

		if (at >= 0 && (size_t)at >= args->n)
			continue;
		if (def->flags & NODE_CALLER && str_is(k->name, "caller"))
			*caller = k->value;
		else if (kwargs)
			dict_put(&r->job, kwargs, v_str(k->name), k->value);
		else
			refuse_keyword(r, def, k->name);
	}
	if (kwargs)
		scope_set(r, r->scope, r->t->kwargs, v_dict(kwargs));
}

/* Arguments past the parameters: varargs, where the body speaks of it. */
static void extra_positional(struct run *r, const struct node *def, const struct args *args)
{
	size_t n = def->params.n;

	if (def->flags & NODE_VARARGS) {
		struct list *l = list_new(&r->job, 0);

		for (size_t i = n; i < args->n; i++)
			list_push(&r->job, l, args->v[i]);
		scope_set(r, r->scope, r->t->varargs, v_tuple(l));
	} else if (args->n > n) {
		run_fail(r, "macro '%.*s' takes not more than %zu argument(s)", (int)def->name->s.n, def->name->s.p, n);
	}
}

static struct value keyword_value(const struct args *args, const struct str *name)
{
	for (size_t i = 0; i < args->nkw; i++)
		if (str_same(args->kw[i].name, name))
			return args->kw[i].value;
	return absent;
}

/* The default, which sees the parameters before it; without one, an undefined value that says which. */
static struct value missing_parameter(struct run *r, const struct node *def, size_t i)
{
	size_t first_default = def->params.n - def->defaults.n;
	struct str *name = to_repr(r, v_str(&def->params.v[i]->name->s));
	struct buf b = { .j = &r->job };

	if (i >= first_default)
		return eval(r, def->defaults.v[i - first_default]);
	buf_text(&b, "parameter ");
	buf_str(&b, name);
	buf_text(&b, " was not provided");
	struct value v = undefined_hint(r, "");
	v.u->hint = buf_take(&b);
	return v;
}

static void bind_parameters(struct run *r, const struct node *def, const struct args *args)
{
	struct value caller;

	extra_positional(r, def, args);
	extra_keywords(r, def, args, &caller);
	for (size_t i = 0; i < def->params.n; i++) {
		const struct name *name = def->params.v[i]->name;
		struct value v = i < args->n ? args->v[i] : keyword_value(args, &name->s);

		scope_set(r, r->scope, name, given(v) ? v : missing_parameter(r, def, i));
	}
	if (def->flags & NODE_CALLER)
		scope_set(r, r->scope, r->t->caller, given(caller) ? caller : undefined_hint(r, "No caller defined"));
}

struct value macro_call(struct run *r, struct macro *m, const struct args *args)
{
	struct scope *scope = r->scope;
	struct capture c;

	run_enter(r);
	capture_start(r, &c);
	scope_push(r, m->scope);
	bind_parameters(r, m->def, args);
	exec_body(r, &m->def->list);
	r->scope = scope;
	run_leave(r);
	return capture_end(r, &c);
}

/* ---- built-in functions ---- */

#define LAZY "lazy:"

struct parameter {
	const char *name;
	size_t n;
	bool optional;
};

/* Splits a builtin's params. True when it takes any further arguments. */
static bool split_parameters(const char *text, struct parameter *p, size_t *n)
{
	*n = 0;
	while (*text) {
		size_t len = strcspn(text, " ");

		if (*text == '*')
			return true;
		bool optional = text[len - 1] == '?';
		p[(*n)++] = (struct parameter){ text, len - optional, optional };
		text += len + (text[len] == ' ');
	}
	return false;
}

static struct value keyword_for(const struct args *args, const struct parameter *p, size_t *used)
{
	for (size_t i = 0; i < args->nkw; i++)
		if (args->kw[i].name->n == p->n && !memcmp(args->kw[i].name->p, p->name, p->n)) {
			++*used;
			return args->kw[i].value;
		}
	return absent;
}

/* The iterator of a lazy function: the call with its arguments, to be made when somebody walks it. */
static struct value postponed(struct run *r, const struct builtin *b, const struct value *a, const struct args *args)
{
	struct value v = v_iterator(r, "generator", NULL);
	struct args *kept = job_alloc(&r->job, sizeof *kept);

	*kept = *args;
	kept->v = job_grow(&r->job, args->v, args->n, args->n, sizeof *args->v);
	v.it->fn = b;
	v.it->a = job_grow(&r->job, a, MAX_PARAMS, MAX_PARAMS, sizeof *a);
	v.it->args = kept;
	return v;
}

struct value builtin_call(struct run *r, const struct builtin *b, const struct args *args)
{
	struct parameter p[MAX_PARAMS];
	struct value a[MAX_PARAMS] = { { .type = V_ABSENT } };
	size_t n, used = 0;
	bool lazy = !strncmp(b->params, LAZY, strlen(LAZY));
	bool any = split_parameters(b->params + (lazy ? strlen(LAZY) : 0), p, &n);

	for (size_t i = 0; i < n; i++) {
		a[i] = i < args->n ? args->v[i] : keyword_for(args, &p[i], &used);
		if (!given(a[i]) && !p[i].optional)
			run_fail(r, "%s() missing required argument '%.*s'", b->name, (int)p[i].n, p[i].name);
	}
	if (!any && args->n > n)
		run_fail(r, "%s() takes at most %zu argument(s), %zu given", b->name, n, args->n);
	if (!any && args->nkw > used)
		run_fail(r, "%s() got an unexpected keyword argument", b->name);
	return lazy ? postponed(r, b, a, args) : b->fn(r, a, args);
}

/* The value that the method belongs to is its first argument. */
static struct value method_call(struct run *r, const struct method *m, const struct args *args)
{
	struct args all = *args;
	struct value *v = job_array(&r->job, args->n + 1, sizeof *v);

	v[0] = m->self;
	if (args->n)
		memcpy(v + 1, args->v, args->n * sizeof *v);
	all.v = v;
	all.n++;
	return builtin_call(r, m->fn, &all);
}

/* Nothing the first time, the separator from then on. */
static struct value joiner_call(struct joiner *j)
{
	static struct str empty = { .p = "", .chars = 0 };

	if (j->used)
		return v_str(j->text);
	j->used = true;
	return v_str(&empty);
}

struct value call_value(struct run *r, struct value callee, const struct args *args)
{
	switch (callee.type) {
	case V_FUNCTION:
		return builtin_call(r, callee.fn, args);
	case V_METHOD:
		return method_call(r, callee.method, args);
	case V_MACRO:
		return macro_call(r, callee.macro, args);
	case V_LOOP:
		if (args->n != 1 || args->nkw)
			run_fail(r, "loop() takes one argument: what to walk");
		return loop_recurse(r, callee.loop, args->v[0]);
	case V_JOINER:
		return joiner_call(callee.joiner);
	case V_UNDEFINED:
		undefined_fail(r, callee);
	default:
		run_fail(r, "'%s' object is not callable", type_name(callee));
	}
}
