/* SPDX-License-Identifier: MIT */
/* Filters that choose, order and group items, and the table of all filters. */
#include "textops.h"
#include <string.h>

/* ---- map, select, reject ---- */

/* Arguments after the first n, with a place for the item before them. */
static struct args rest_of(struct run *r, const struct args *all, size_t n, struct value **item)
{
	size_t rest = all->n > n ? all->n - n : 0;

	*item = job_array(&r->job, rest + 1, sizeof **item);
	for (size_t i = 0; i < rest; i++)
		(*item)[1 + i] = all->v[n + i];
	return (struct args){ *item, rest + 1, all->kw, all->nkw };
}

static struct value keyword(const struct args *all, const char *name)
{
	for (size_t i = 0; i < all->nkw; i++)
		if (str_is(all->kw[i].name, name))
			return all->kw[i].value;
	return (struct value){ .type = V_ABSENT };
}

static struct value map_attribute(struct run *r, const struct args *all)
{
	struct value path = keyword(all, "attribute"), other = keyword(all, "default");
	struct list *out = list_new(&r->job, 0);
	struct cursor c;
	struct value v;

	if (all->nkw > 1u + given(other))
		run_fail(r, "map: unexpected keyword argument");
	cursor_start(r, &c, all->v[0]);
	while (cursor_next(r, &c, &v)) {
		v = get_path(r, v, path);
		list_push(&r->job, out, v.type == V_UNDEFINED && given(other) && other.type != V_NONE ? other : v);
	}
	return v_list(out);
}

static struct value f_map(struct run *r, const struct value *a, const struct args *all)
{
	struct list *out = list_new(&r->job, 0);
	struct cursor c;
	struct value v, *item;

	if (!value_true(a[0]))
		return v_list(out);
	if (all->n < 2 && given(keyword(all, "attribute")))
		return map_attribute(r, all);
	if (all->n < 2)
		run_fail(r, "map requires a filter argument");
	struct str *name = want_str(r, all->v[1], "map");
	const struct builtin *filter = filter_find(name);
	struct args args = rest_of(r, all, 2, &item);
	if (!filter)
		run_fail(r, "No filter named '%.*s'.", (int)name->n, name->p);
	cursor_start(r, &c, a[0]);
	while (cursor_next(r, &c, &v)) {
		*item = v;
		list_push(&r->job, out, builtin_call(r, filter, &args));
	}
	return v_list(out);
}

/* The items of a[0] whose attribute (at: its place in the arguments, or 0) passes the test that follows, or not. */
static struct value pick(struct run *r, const struct args *all, size_t at, bool wanted)
{
	struct list *out = list_new(&r->job, 0);
	const struct builtin *test = NULL;
	struct cursor c;
	struct value v, *item;

	if (!value_true(all->v[0]))
		return v_list(out);
	if (at && all->n < 2)
		run_fail(r, "Missing parameter for attribute name");
	if (all->n > at + 1) {
		struct str *name = want_str(r, all->v[at + 1], "select");

		test = test_find(name);
		if (!test)
			run_fail(r, "No test named '%.*s'.", (int)name->n, name->p);
	}
	struct args args = rest_of(r, all, at + 2, &item);
	cursor_start(r, &c, all->v[0]);
	while (cursor_next(r, &c, &v)) {
		*item = at ? get_path(r, v, all->v[1]) : v;
		if (value_true(test ? builtin_call(r, test, &args) : *item) == wanted)
			list_push(&r->job, out, v);
	}
	return v_list(out);
}

static struct value f_select(struct run *r, const struct value *a, const struct args *all)
{
	(void)a;
	return pick(r, all, 0, true);
}

static struct value f_reject(struct run *r, const struct value *a, const struct args *all)
{
	(void)a;
	return pick(r, all, 0, false);
}

static struct value f_selectattr(struct run *r, const struct value *a, const struct args *all)
{
	(void)a;
	return pick(r, all, 1, true);
}

static struct value f_rejectattr(struct run *r, const struct value *a, const struct args *all)
{
	(void)a;
	return pick(r, all, 1, false);
}

/* ---- order ---- */

struct keyed {
	struct value key, value;
};

/* Texts in lower case, unless case counts. */
static struct value fold(struct run *r, struct value v, bool case_sensitive)
{
	return v.type == V_STRING && !case_sensitive ? v_str(lower_text(r, v.s)) : v;
}

/* The key of an item by its path, which may be left out. */
static struct value item_key(struct run *r, struct value v, struct value path, bool case_sensitive)
{
	bool none = !given(path) || path.type == V_NONE;

	return fold(r, none ? v : get_path(r, v, path), case_sensitive);
}

/* The keys of an item by paths with commas between them, as a list. */
static struct value sort_key(struct run *r, struct value v, struct value path, bool case_sensitive)
{
	struct list *keys = list_new(&r->job, 1);

	if (!given(path) || path.type != V_STRING) {
		list_push(&r->job, keys, item_key(r, v, path, case_sensitive));
		return v_list(keys);
	}
	for (size_t from = 0, to; from <= path.s->n; from = to + 1) {
		for (to = from; to < path.s->n && path.s->p[to] != ','; to++)
			;
		struct value part = v_str(str_new(&r->job, path.s->p + from, to - from));
		list_push(&r->job, keys, fold(r, get_path(r, v, part), case_sensitive));
	}
	return v_list(keys);
}

/* Stable; with reverse, equal ones keep their order too. */
static void merge_sort(struct run *r, struct keyed *v, struct keyed *spare, size_t n, bool reverse)
{
	size_t half = n / 2, i = 0, k = half, out = 0;

	if (n < 2)
		return;
	merge_sort(r, v, spare, half, reverse);
	merge_sort(r, v + half, spare, n - half, reverse);
	job_charge(&r->job, n);
	while (i < half || k < n) {
		bool second = i == half;

		if (i < half && k < n)
			second =
				reverse ? compare(r, OP_LT, v[i].key, v[k].key) : compare(r, OP_LT, v[k].key, v[i].key);
		spare[out++] = v[second ? k++ : i++];
	}
	memcpy(v, spare, n * sizeof *v);
}

static struct list *sorted(struct run *r, struct keyed *v, size_t n, bool reverse)
{
	struct list *l = list_new(&r->job, n);

	merge_sort(r, v, job_array(&r->job, n, sizeof *v), n, reverse);
	for (size_t i = 0; i < n; i++)
		list_push(&r->job, l, v[i].value);
	return l;
}

static struct keyed *keyed_items(struct run *r, const struct list *items, struct value path, bool case_sensitive)
{
	struct keyed *v = job_array(&r->job, items->n, sizeof *v);

	for (size_t i = 0; i < items->n; i++)
		v[i] = (struct keyed){ sort_key(r, items->v[i], path, case_sensitive), items->v[i] };
	return v;
}

static struct value f_sort(struct run *r, const struct value *a, const struct args *all)
{
	struct list *items = items_of(r, a[0]);
	struct keyed *v = keyed_items(r, items, a[3], bool_or(a[2], false));

	(void)all;
	return v_list(sorted(r, v, items->n, flag_or(r, a[1], false)));
}

static struct value f_dictsort(struct run *r, const struct value *a, const struct args *all)
{
	bool case_sensitive = bool_or(a[1], false);
	struct str *by = str_or(r, a[2], "key");

	(void)all;
	if (!str_is(by, "key") && !str_is(by, "value"))
		run_fail(r, "You can only sort by either \"key\" or \"value\"");
	if (a[0].type == V_UNDEFINED)
		undefined_fail(r, a[0]);
	if (a[0].type != V_DICT)
		run_fail(r, "'%s' object has no attribute 'items'", type_name(a[0]));
	const struct dict *d = a[0].d;
	struct keyed *v = job_array(&r->job, d->n, sizeof *v);
	for (size_t i = 0; i < d->n; i++) {
		v[i].key = fold(r, str_is(by, "key") ? d->v[i].key : d->v[i].value, case_sensitive);
		v[i].value = pair_tuple(&r->job, d->v[i].key, d->v[i].value);
	}
	return v_list(sorted(r, v, d->n, flag_or(r, a[3], false)));
}

/* The first of the items whose key no other one beats. */
static struct value extreme(struct run *r, const struct value *a, enum operation better)
{
	struct list *items = items_of(r, a[0]);
	bool case_sensitive = bool_or(a[1], false);
	struct value best, key, k;

	if (!items->n)
		return undefined_hint(r, "No aggregated item, sequence was empty.");
	best = items->v[0];
	key = item_key(r, best, a[2], case_sensitive);
	for (size_t i = 1; i < items->n; i++) {
		k = item_key(r, items->v[i], a[2], case_sensitive);
		if (compare(r, better, k, key)) {
			key = k;
			best = items->v[i];
		}
	}
	return best;
}

static struct value f_min(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return extreme(r, a, OP_LT);
}

static struct value f_max(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return extreme(r, a, OP_GT);
}

static struct value f_unique(struct run *r, const struct value *a, const struct args *all)
{
	struct dict *seen = dict_new(&r->job);
	struct list *out = list_new(&r->job, 0);
	struct cursor c;
	struct value v;
	uint64_t hash;

	(void)all;
	cursor_start(r, &c, a[0]);
	while (cursor_next(r, &c, &v)) {
		struct value key = item_key(r, v, a[2], bool_or(a[1], false));

		if (!value_hash(&r->job, key, &hash))
			run_fail(r, "unhashable type: '%s'", type_name(key));
		if (dict_get(&r->job, seen, key))
			continue;
		dict_put(&r->job, seen, key, v_none());
		list_push(&r->job, out, v);
	}
	return v_list(out);
}

static struct value group(struct run *r, struct value key, struct list *items)
{
	struct value v = pair_tuple(&r->job, key, v_list(items));

	v.l->grouped = true;
	return v;
}

static struct value or_default(struct value v, struct value other)
{
	return v.type == V_UNDEFINED && given(other) && other.type != V_NONE ? other : v;
}

static struct value f_groupby(struct run *r, const struct value *a, const struct args *all)
{
	bool case_sensitive = bool_or(a[3], false);
	struct list *items = items_of(r, a[0]), *out = list_new(&r->job, 0), *members = NULL;
	struct keyed *v = job_array(&r->job, items->n, sizeof *v);

	(void)all;
	for (size_t i = 0; i < items->n; i++) {
		v[i].value = items->v[i];
		v[i].key = fold(r, or_default(get_path(r, items->v[i], a[1]), a[2]), case_sensitive);
	}
	merge_sort(r, v, job_array(&r->job, items->n, sizeof *v), items->n, false);
	for (size_t i = 0; i < items->n; i++) {
		if (!i || !value_equal(&r->job, v[i].key, v[i - 1].key)) {
			struct value key = or_default(get_path(r, v[i].value, a[1]), a[2]);

			members = list_new(&r->job, 0);
			list_push(&r->job, out, group(r, case_sensitive ? v[i].key : key, members));
		}
		list_push(&r->job, members, v[i].value);
	}
	return v_list(out);
}

const struct builtin pick_filters[] = {
	{ "map", f_map, "lazy:value *" },
	{ "select", f_select, "lazy:value *" },
	{ "reject", f_reject, "lazy:value *" },
	{ "selectattr", f_selectattr, "lazy:value *" },
	{ "rejectattr", f_rejectattr, "lazy:value *" },
	{ "sort", f_sort, "value reverse? case_sensitive? attribute?" },
	{ "dictsort", f_dictsort, "value case_sensitive? by? reverse?" },
	{ "min", f_min, "value case_sensitive? attribute?" },
	{ "max", f_max, "value case_sensitive? attribute?" },
	{ "unique", f_unique, "lazy:value case_sensitive? attribute?" },
	{ "groupby", f_groupby, "value attribute default? case_sensitive?" },
	{ .name = NULL },
};

const struct builtin *filter_find(const struct str *name)
{
	static const struct builtin *const tables[] = { text_filters, list_filters, pick_filters, number_filters };

	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (const struct builtin *b = tables[i]; b->name; b++)
			if (str_is(name, b->name))
				return b;
	return NULL;
}
