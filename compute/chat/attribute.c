/* SPDX-License-Identifier: MIT */
/* x.name, x[key], x[a:b:c]: in the order Jinja looks, and as its sandbox allows. */
#include "run.h"
#include <errno.h>

/* What loop knows by counting. */
static struct value loop_attribute(const struct loop *l, const struct str *name, bool *found)
{
	int64_t at = (int64_t)l->at, n = (int64_t)l->items->n;
	const struct { const char *name; struct value value; } rows[] = {
		{ "index", v_int(at + 1) }, { "index0", v_int(at) }, { "first", v_bool(!at) }, { "last", v_bool(at + 1 >= n) },
		{ "length", v_int(n) }, { "revindex", v_int(n - at) }, { "revindex0", v_int(n - at - 1) },
		{ "depth", v_int(l->depth0 + 1) }, { "depth0", v_int(l->depth0) },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (str_is(name, rows[i].name)) {
			*found = true;
			return rows[i].value;
		}
	return v_none();
}

static struct value loop_neighbour(struct run *r, const struct loop *l, const struct str *name, bool *found)
{
	bool previous = str_is(name, "previtem");

	if (!previous && !str_is(name, "nextitem"))
		return v_none();
	*found = true;
	if (previous)
		return l->at ? l->items->v[l->at - 1] : undefined_hint(r, "there is no previous item");
	return l->at + 1 < l->items->n ? l->items->v[l->at + 1] : undefined_hint(r, "there is no next item");
}

static struct value macro_attribute(struct run *r, const struct macro *m, const struct str *name, bool *found)
{
	const struct node *def = m->def;

	*found = true;
	if (str_is(name, "name"))
		return v_str(&m->def->name->s);
	if (str_is(name, "catch_kwargs"))
		return v_bool(def->flags & NODE_KWARGS);
	if (str_is(name, "catch_varargs"))
		return v_bool(def->flags & NODE_VARARGS);
	if (str_is(name, "caller"))
		return v_bool(def->flags & NODE_CALLER);
	if (str_is(name, "arguments")) {
		struct list *l = list_new(&r->job, def->params.n);

		for (size_t i = 0; i < def->params.n; i++)
			list_push(&r->job, l, v_str(&def->params.v[i]->name->s));
		return v_tuple(l);
	}
	*found = false;
	return v_none();
}

/* What the sandbox keeps: undefined, with the sandbox's words. */
static struct value unsafe(struct run *r, struct value object, const struct str *name)
{
	struct buf b = { .j = &r->job };
	struct value v = undefined_hint(r, "");

	buf_text(&b, "access to attribute '");
	buf_str(&b, name);
	buf_text(&b, "' of '");
	buf_text(&b, type_name(object));
	buf_text(&b, "' object is unsafe.");
	v.u->hint = buf_take(&b);
	return v;
}

/* What Python's getattr() would give, without items. */
static struct value attribute(struct run *r, struct value object, struct str *name, bool *found)
{
	const struct builtin *method;
	struct value v = v_none();

	*found = false;
	if (object.type == V_LOOP)
		v = loop_attribute(object.loop, name, found);
	if (object.type == V_LOOP && !*found)
		v = loop_neighbour(r, object.loop, name, found);
	if (object.type == V_MACRO)
		v = macro_attribute(r, object.macro, name, found);
	if (object.type == V_CYCLER && (*found = str_is(name, "current")))
		v = object.cycler->items->v[object.cycler->next];
	if (object.type == V_TUPLE && object.l->grouped && (*found = str_is(name, "grouper") || str_is(name, "list")))
		v = object.l->v[str_is(name, "list")];
	if (*found)
		return v;
	method = method_find(object.type, name);
	*found = method || method_mutates(object.type, name) || (name->n > 4 && name->p[0] == '_' && name->p[1] == '_');
	if (!method)
		return *found ? unsafe(r, object, name) : v;
	struct method *m = job_alloc(&r->job, sizeof *m);
	*m = (struct method){ object, method };
	return (struct value){ .type = V_METHOD, .method = m };
}

/* Python's object[key] where it would not raise LookupError or TypeError. */
static struct value item(struct run *r, struct value object, struct value key, bool *found)
{
	int64_t i, n;

	*found = false;
	if (object.type == V_DICT || object.type == V_NAMESPACE) {
		const struct value *v = dict_get(&r->job, object.d, key);

		*found = v != NULL;
		return v ? *v : v_none();
	}
	if ((key.type != V_INT && key.type != V_BOOL) || !has_length(object) || object.type == V_UNDEFINED ||
	    object.type == V_VIEW)
		return v_none();
	i = key.type == V_INT ? key.i : key.b;
	n = length_of(r, object);
	i += i < 0 ? n : 0;
	if (i < 0 || i >= n)
		return v_none();
	*found = true;
	if (object.type == V_RANGE)
		return v_int(object.range->start + i * object.range->step);
	if (object.type != V_STRING)
		return object.l->v[i];
	size_t from = str_offset(object.s, (size_t)i), len;
	job_charge(&r->job, str_chars(object.s) == object.s->n ? 0 : from / 8);
	utf8_get(object.s->p + from, object.s->n - from, &len);
	return v_str(str_part(&r->job, object.s, from, from + len));
}

struct value get_attribute(struct run *r, struct value object, struct str *name)
{
	bool found = false;
	struct value v = v_none();

	if (object.type == V_UNDEFINED)
		undefined_fail(r, object);
	if (object.type != V_NAMESPACE)
		v = attribute(r, object, name, &found);
	if (!found)
		v = item(r, object, v_str(name), &found);
	return found ? v : undefined_of(r, object, v_str(name));
}

struct value get_item(struct run *r, struct value object, struct value key)
{
	bool found = false;
	struct value v;

	if (object.type == V_UNDEFINED)
		undefined_fail(r, object);
	v = item(r, object, key, &found);
	if (!found && key.type == V_STRING && object.type != V_NAMESPACE)
		v = attribute(r, object, key.s, &found);
	return found ? v : undefined_of(r, object, key);
}

struct value get_path(struct run *r, struct value object, struct value path)
{
	if (path.type != V_STRING)
		return get_item(r, object, path);
	for (size_t from = 0, to; from <= path.s->n; from = to + 1) {
		int64_t i;

		for (to = from; to < path.s->n && path.s->p[to] != '.'; to++)
			;
		struct str *part = str_new(&r->job, path.s->p + from, to - from);
		bool number = part->n && part->p[0] >= '0' && part->p[0] <= '9' && number_int(part, 10, &i);
		object = get_item(r, object, number ? v_int(i) : v_str(part));
	}
	return object;
}

/* ---- slices ---- */

struct slice {
	int64_t start, stop, step, n; /* n: how many */
};

/* An index from the end counts back from n; then into low .. high. */
static int64_t clamp(int64_t i, int64_t n, int64_t low, int64_t high)
{
	i += i < 0 ? n : 0;
	return i < low ? low : i > high ? high : i;
}

/* False for None: that end is open. */
static bool index_of(struct run *r, struct value v, int64_t *i)
{
	if (v.type == V_NONE)
		return false;
	if (v.type != V_INT && v.type != V_BOOL)
		run_fail(r, "slice indices must be integers or None or have an __index__ method");
	*i = v.type == V_INT ? v.i : v.b;
	return true;
}

static struct slice slice_of(struct run *r, const struct value part[3], int64_t n)
{
	struct slice s = { .step = 1 };
	int64_t i;

	if (index_of(r, part[2], &s.step) && !s.step)
		run_fail(r, "slice step cannot be zero");
	if (s.step == INT64_MIN)
		s.step++;
	bool back = s.step < 0;
	int64_t low = back ? -1 : 0, high = back ? n - 1 : n;
	s.start = index_of(r, part[0], &i) ? clamp(i, n, low, high) : back ? high : low;
	s.stop = index_of(r, part[1], &i) ? clamp(i, n, low, high) : back ? low : high;
	int64_t span = back ? s.start - s.stop : s.stop - s.start, step = back ? -s.step : s.step;
	s.n = span > 0 ? (span - 1) / step + 1 : 0;
	return s;
}

/* In steps of one the slice shares the text; otherwise it is put together character by character. */
static struct value slice_string(struct run *r, struct str *s, const struct slice *sl)
{
	struct buf b = { .j = &r->job };

	job_charge(&r->job, s->n / 64);
	if (sl->step == 1) {
		size_t from = str_offset(s, (size_t)sl->start), to = str_offset(s, (size_t)(sl->start + sl->n));

		return v_str(str_part(&r->job, s, from, to));
	}
	bool ascii = str_chars(s) == s->n;
	size_t *at = ascii ? NULL : job_array(&r->job, s->chars, sizeof *at), len;
	for (size_t i = 0, k = 0; !ascii && i < s->n; i += len, k++) {
		utf8_get(s->p + i, s->n - i, &len);
		at[k] = i;
	}
	job_charge(&r->job, (uint64_t)sl->n);
	for (int64_t k = 0; k < sl->n; k++) {
		size_t i = (size_t)(sl->start + k * sl->step), from = ascii ? i : at[i];

		utf8_get(s->p + from, s->n - from, &len);
		buf_add(&b, s->p + from, len);
	}
	return v_str(buf_take(&b));
}

static struct value slice_list(struct run *r, struct value object, const struct slice *sl)
{
	struct list *l = list_new(&r->job, (size_t)sl->n);

	job_charge(&r->job, (uint64_t)sl->n);
	for (int64_t k = 0; k < sl->n; k++)
		list_push(&r->job, l, object.l->v[sl->start + k * sl->step]);
	return object.type == V_LIST ? v_list(l) : v_tuple(l);
}

static struct value slice_range(struct run *r, const struct range *range, const struct slice *sl)
{
	struct range *s = job_alloc(&r->job, sizeof *s);

	s->start = range->start + sl->start * range->step;
	s->stop = range->start + sl->stop * range->step;
	s->step = range->step * sl->step;
	s->n = (uint64_t)sl->n;
	return (struct value){ .type = V_RANGE, .range = s };
}

struct value get_slice(struct run *r, struct value object, const struct value part[3])
{
	struct slice s;

	switch (object.type) {
	case V_STRING:
		s = slice_of(r, part, (int64_t)str_chars(object.s));
		return slice_string(r, object.s, &s);
	case V_LIST:
	case V_TUPLE:
		s = slice_of(r, part, (int64_t)object.l->n);
		return slice_list(r, object, &s);
	case V_RANGE:
		s = slice_of(r, part, (int64_t)object.range->n);
		return slice_range(r, object.range, &s);
	case V_DICT:
		run_fail(r, "unhashable type: 'slice'");
	case V_UNDEFINED:
		undefined_fail(r, object);
	default:
		run_fail(r, "'%s' object is not subscriptable", type_name(object));
	}
}
