/* SPDX-License-Identifier: MIT */
/* Global functions, and the methods of what is not text. */
#include "exec.h"
#include <errno.h>
#include <string.h>
#include <time.h>

enum { MAX_RANGE = 100000 }; /* as in Jinja's sandbox */

int64_t want_int(struct run *r, struct value v, int64_t unless_given)
{
	if (!given(v))
		return unless_given;
	if (v.type != V_INT && v.type != V_BOOL)
		run_fail(r, "'%s' object cannot be interpreted as an integer", type_name(v));
	return v.type == V_INT ? v.i : v.b;
}

struct str *want_str(struct run *r, struct value v, const char *who)
{
	if (v.type != V_STRING)
		run_fail(r, "%s() argument must be str, not %s", who, type_name(v));
	return v.s;
}

struct str *str_or(struct run *r, struct value v, const char *unless_given)
{
	return given(v) ? to_str(r, v) : str_literal(&r->job, unless_given);
}

bool bool_or(struct value v, bool unless_given)
{
	return given(v) ? value_true(v) : unless_given;
}

bool flag_or(struct run *r, struct value v, bool unless_given)
{
	return want_int(r, v, unless_given);
}

/* ---- functions ---- */

static struct value g_range(struct run *r, const struct value *a, const struct args *all)
{
	struct range *g = job_alloc(&r->job, sizeof *g);
	int64_t start = given(a[1]) ? want_int(r, a[0], 0) : 0, stop = want_int(r, a[given(a[1])], 0);

	(void)all;
	g->start = start;
	g->stop = stop;
	g->step = want_int(r, a[2], 1);
	if (!g->step)
		run_fail(r, "range() arg 3 must not be zero");
	bool back = g->step < 0;
	uint64_t span = back ? (uint64_t)start - (uint64_t)stop : (uint64_t)stop - (uint64_t)start;
	uint64_t step = back ? 0 - (uint64_t)g->step : (uint64_t)g->step;
	if (back ? start > stop : stop > start)
		g->n = (span - 1) / step + 1;
	if (g->n > MAX_RANGE)
		run_fail(r, "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).", MAX_RANGE);
	return (struct value){ .type = V_RANGE, .range = g };
}

/* Entries of a dict, or of a row of pairs. */
static void dict_update(struct run *r, struct dict *d, struct value from)
{
	struct cursor c;
	struct value v;
	uint64_t hash;

	if (from.type == V_DICT) {
		job_charge(&r->job, from.d->n);
		for (size_t i = 0; i < from.d->n; i++)
			dict_put(&r->job, d, from.d->v[i].key, from.d->v[i].value);
		return;
	}
	cursor_start(r, &c, from);
	while (cursor_next(r, &c, &v)) {
		struct list *pair = items_of(r, v);

		if (pair->n != 2 || !value_hash(&r->job, pair->v[0], &hash))
			run_fail(r, "dictionary update sequence needs pairs with a hashable first item");
		dict_put(&r->job, d, pair->v[0], pair->v[1]);
	}
}

static struct value g_dict(struct run *r, const struct value *a, const struct args *all)
{
	struct dict *d = dict_new(&r->job);

	(void)a;
	if (all->n > 1)
		run_fail(r, "dict expected at most 1 argument, got %zu", all->n);
	if (all->n)
		dict_update(r, d, all->v[0]);
	for (size_t i = 0; i < all->nkw; i++)
		dict_put(&r->job, d, v_str(all->kw[i].name), all->kw[i].value);
	return v_dict(d);
}

static struct value g_namespace(struct run *r, const struct value *a, const struct args *all)
{
	struct value v = g_dict(r, a, all);

	v.type = V_NAMESPACE;
	return v;
}

static struct list *copy_of(struct run *r, const struct value *v, size_t n)
{
	struct list *l = list_new(&r->job, n);

	for (size_t i = 0; i < n; i++)
		list_push(&r->job, l, v[i]);
	return l;
}

static struct value g_cycler(struct run *r, const struct value *a, const struct args *all)
{
	struct cycler *c = job_alloc(&r->job, sizeof *c);

	(void)a;
	if (!all->n)
		run_fail(r, "at least one item has to be provided");
	c->items = copy_of(r, all->v, all->n);
	return (struct value){ .type = V_CYCLER, .cycler = c };
}

static struct value g_joiner(struct run *r, const struct value *a, const struct args *all)
{
	struct joiner *j = job_alloc(&r->job, sizeof *j);

	(void)all;
	j->text = str_or(r, a[0], ", ");
	return (struct value){ .type = V_JOINER, .joiner = j };
}

static struct value g_raise_exception(struct run *r, const struct value *a, const struct args *all)
{
	struct str *s = to_str(r, a[0]);

	(void)all;
	run_fail(r, "%.*s", (int)(s->n < 400 ? s->n : 400), s->p);
}

static struct value g_strftime_now(struct run *r, const struct value *a, const struct args *all)
{
	struct str *format = want_str(r, a[0], "strftime_now");
	time_t now = (time_t)r->now;
	char f[256], text[1024];
	struct tm tm;

	(void)all;
	if (format->n >= sizeof f || memchr(format->p, 0, format->n) || !gmtime_r(&now, &tm))
		run_fail(r, "strftime_now: the format is too long");
	if (!format->n)
		return a[0];
	memcpy(f, format->p, format->n);
	f[format->n] = 0;
	_Pragma("GCC diagnostic push")
	_Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"")
	size_t n = strftime(text, sizeof text, f, &tm);
	_Pragma("GCC diagnostic pop")
	return v_str(str_copy(&r->job, text, n));
}

static const struct builtin globals[] = {
	{ "range", g_range, "start stop? step?" },
	{ "dict", g_dict, "*" },
	{ "namespace", g_namespace, "*" },
	{ "cycler", g_cycler, "*" },
	{ "joiner", g_joiner, "sep?" },
	{ "raise_exception", g_raise_exception, "message" },
	{ "strftime_now", g_strftime_now, "format" },
};

const struct builtin *global_find(const struct str *name)
{
	for (size_t i = 0; i < sizeof globals / sizeof *globals; i++)
		if (str_is(name, globals[i].name))
			return &globals[i];
	return NULL;
}

/* ---- methods ---- */

static struct value dict_get_method(struct run *r, const struct value *a, const struct args *all)
{
	uint64_t hash;

	(void)all;
	if (!value_hash(&r->job, a[1], &hash))
		run_fail(r, "unhashable type: '%s'", type_name(a[1]));
	const struct value *v = dict_get(&r->job, a[0].d, a[1]);
	return v ? *v : given(a[2]) ? a[2] : v_none();
}

static struct value view(struct run *r, struct dict *d, enum view_kind kind)
{
	struct view *v = job_alloc(&r->job, sizeof *v);

	*v = (struct view){ d, kind };
	return (struct value){ .type = V_VIEW, .view = v };
}

static struct value dict_keys(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return view(r, a[0].d, VIEW_KEYS);
}

static struct value dict_values(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return view(r, a[0].d, VIEW_VALUES);
}

static struct value dict_items(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return view(r, a[0].d, VIEW_ITEMS);
}

static struct value copy_method(struct run *r, const struct value *a, const struct args *all)
{
	struct value v = a[0];

	(void)all;
	job_charge(&r->job, (uint64_t)length_of(r, v));
	if (v.type == V_DICT) {
		v.d = dict_new(&r->job);
		dict_update(r, v.d, a[0]);
	} else {
		v.l = copy_of(r, a[0].l->v, a[0].l->n);
	}
	return v;
}

static struct value list_count(struct run *r, const struct value *a, const struct args *all)
{
	int64_t n = 0;

	(void)all;
	for (size_t i = 0; i < a[0].l->n; i++)
		n += value_equal(&r->job, a[0].l->v[i], a[1]);
	return v_int(n);
}

static struct value list_index(struct run *r, const struct value *a, const struct args *all)
{
	int64_t n = (int64_t)a[0].l->n, from = want_int(r, a[2], 0), to = want_int(r, a[3], n);

	(void)all;
	from += from < 0 ? n : 0;
	to += to < 0 ? n : 0;
	for (int64_t i = from < 0 ? 0 : from; i < to && i < n; i++)
		if (value_equal(&r->job, a[0].l->v[i], a[1]))
			return v_int(i);
	struct str *s = to_repr(r, a[1]);
	run_fail(r, "%.*s is not in %s", (int)s->n, s->p, type_name(a[0]));
}

static struct value loop_cycle(struct run *r, const struct value *a, const struct args *all)
{
	if (all->n < 2)
		run_fail(r, "no items for cycling given");
	return all->v[1 + a[0].loop->at % (all->n - 1)];
}

static struct value loop_changed(struct run *r, const struct value *a, const struct args *all)
{
	struct value v = v_tuple(copy_of(r, all->v + 1, all->n - 1));
	struct loop *l = a[0].loop;

	if (given(l->changed) && value_equal(&r->job, l->changed, v))
		return v_bool(false);
	l->changed = v;
	return v_bool(true);
}

static struct value cycler_next(struct run *r, const struct value *a, const struct args *all)
{
	struct cycler *c = a[0].cycler;
	size_t at = c->next;

	(void)r;
	(void)all;
	c->next = (at + 1) % c->items->n;
	return c->items->v[at];
}

static struct value cycler_reset(struct run *r, const struct value *a, const struct args *all)
{
	(void)r;
	(void)all;
	a[0].cycler->next = 0;
	return v_none();
}

static struct value float_is_integer(struct run *r, const struct value *a, const struct args *all)
{
	(void)r;
	(void)all;
	return v_bool(a[0].f - a[0].f == 0 && __builtin_floor(a[0].f) == a[0].f);
}

static struct value int_bit_length(struct run *r, const struct value *a, const struct args *all)
{
	uint64_t u = a[0].i < 0 ? 0 - (uint64_t)a[0].i : (uint64_t)a[0].i;

	(void)r;
	(void)all;
	return v_int(u ? 64 - __builtin_clzll(u) : 0);
}

static const struct builtin dict_methods[] = {
	{ "get", dict_get_method, "self key default?" },
	{ "items", dict_items, "self" },
	{ "keys", dict_keys, "self" },
	{ "values", dict_values, "self" },
	{ "copy", copy_method, "self" },
	{ .name = NULL },
};
static const struct builtin list_methods[] = {
	{ "copy", copy_method, "self" },
	{ .name = NULL },
};
static const struct builtin tuple_methods[] = {
	{ "count", list_count, "self value" },
	{ "index", list_index, "self value start? stop?" },
	{ .name = NULL },
};
static const struct builtin loop_methods[] = {
	{ "cycle", loop_cycle, "self *" },
	{ "changed", loop_changed, "self *" },
	{ .name = NULL },
};
static const struct builtin cycler_methods[] = {
	{ "next", cycler_next, "self" },
	{ "reset", cycler_reset, "self" },
	{ .name = NULL },
};
static const struct builtin float_methods[] = {
	{ "is_integer", float_is_integer, "self" },
	{ .name = NULL },
};
static const struct builtin int_methods[] = {
	{ "bit_length", int_bit_length, "self" },
	{ .name = NULL },
};

static const struct { enum value_type type; const struct builtin *methods; } method_tables[] = {
	{ V_STRING, text_methods }, { V_STRING, find_methods }, { V_STRING, case_methods }, { V_DICT, dict_methods },
	{ V_LIST, list_methods }, { V_LIST, tuple_methods }, { V_TUPLE, tuple_methods }, { V_LOOP, loop_methods },
	{ V_CYCLER, cycler_methods }, { V_FLOAT, float_methods }, { V_INT, int_methods },
};

const struct builtin *method_find(enum value_type type, const struct str *name)
{
	for (size_t i = 0; i < sizeof method_tables / sizeof *method_tables; i++)
		for (const struct builtin *b = method_tables[i].methods; method_tables[i].type == type && b->name; b++)
			if (str_is(name, b->name))
				return b;
	return NULL;
}

bool method_mutates(enum value_type type, const struct str *name)
{
	static const struct { enum value_type type; const char *name; } rows[] = {
		{ V_DICT, "clear" }, { V_DICT, "pop" }, { V_DICT, "popitem" }, { V_DICT, "setdefault" }, { V_DICT, "update" },
		{ V_LIST, "append" }, { V_LIST, "clear" }, { V_LIST, "extend" }, { V_LIST, "insert" }, { V_LIST, "pop" },
		{ V_LIST, "remove" }, { V_LIST, "reverse" }, { V_LIST, "sort" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].type == type && str_is(name, rows[i].name))
			return true;
	return false;
}
