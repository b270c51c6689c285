/* SPDX-License-Identifier: MIT */
/* Dicts keep the order of insertion, as Python's do: entries in an array, a hash table of indexes beside it. */
#include "dict.h"
#include "compare.h"
#include <errno.h>
#include <math.h>
#include <string.h>

enum { SMALL = 8 };

uint64_t bytes_hash(const char *p, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)p[i]) * 0x100000001b3u;
	return h ^ h >> 29;
}

static uint64_t mix(uint64_t h)
{
	h *= 0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

/* A whole float hashes as the integer it equals. */
static uint64_t float_hash(double f)
{
	uint64_t bits;

	if (f >= -0x1p63 && f < 0x1p63 && f == floor(f))
		return mix((uint64_t)(int64_t)f);
	memcpy(&bits, &f, sizeof bits);
	return mix(bits);
}

static bool tuple_hash(struct job *j, const struct list *l, uint64_t *hash)
{
	uint64_t item;

	job_charge(j, l->n);
	*hash = l->n;
	for (size_t i = 0; i < l->n; i++) {
		if (!value_hash(j, l->v[i], &item))
			return false;
		*hash = mix(*hash ^ item);
	}
	return true;
}

bool value_hash(struct job *j, struct value v, uint64_t *hash)
{
	switch (v.type) {
	case V_STRING:
		*hash = bytes_hash(v.s->p, v.s->n);
		return true;
	case V_INT:
	case V_BOOL:
		*hash = mix((uint64_t)(v.type == V_INT ? v.i : v.b));
		return true;
	case V_FLOAT:
		*hash = float_hash(v.f);
		return true;
	case V_TUPLE:
		return tuple_hash(j, v.l, hash);
	case V_LIST:
	case V_DICT:
		return false;
	default:
		*hash = mix(v.type);
		return true;
	}
}

struct dict *dict_new(struct job *j)
{
	return job_alloc(j, sizeof(struct dict));
}

/* There is always a free slot: a table is at most half full. */
static void index_add(struct dict *d, size_t pair)
{
	size_t i = d->v[pair].hash & (d->slots - 1);

	while (d->index[i])
		i = (i + 1) & (d->slots - 1);
	d->index[i] = (uint32_t)pair + 1;
}

static void dict_grow(struct job *j, struct dict *d)
{
	size_t cap = d->cap ? 2 * d->cap : SMALL;

	if (cap > UINT32_MAX / 4)
		job_fail(j, -E2BIG, 0, 0, "a dict of the template grows too big");
	d->v = job_grow(j, d->v, d->n, cap, sizeof *d->v);
	d->cap = cap;
	if (cap <= SMALL)
		return;
	d->slots = 2 * cap;
	d->index = job_array(j, d->slots, sizeof *d->index);
	for (size_t i = 0; i < d->n; i++)
		index_add(d, i);
}

static bool pair_is(struct job *j, const struct pair *p, struct value key, uint64_t hash)
{
	return p->hash == hash && value_equal(j, p->key, key);
}

static struct pair *dict_pair(struct job *j, const struct dict *d, struct value key, uint64_t hash)
{
	if (!d->index) {
		for (size_t i = 0; i < d->n; i++)
			if (pair_is(j, &d->v[i], key, hash))
				return &d->v[i];
		return NULL;
	}
	for (size_t i = hash & (d->slots - 1); d->index[i]; i = (i + 1) & (d->slots - 1))
		if (pair_is(j, &d->v[d->index[i] - 1], key, hash))
			return &d->v[d->index[i] - 1];
	return NULL;
}

void dict_put(struct job *j, struct dict *d, struct value key, struct value v)
{
	uint64_t hash = 0;

	value_hash(j, key, &hash);
	struct pair *p = dict_pair(j, d, key, hash);
	nest(j, &d->depth, v);
	if (p) {
		p->value = v;
		return;
	}
	if (d->n == d->cap)
		dict_grow(j, d);
	d->v[d->n] = (struct pair){ key, v, hash };
	if (d->index)
		index_add(d, d->n);
	d->n++;
}

const struct value *dict_get(struct job *j, const struct dict *d, struct value key)
{
	uint64_t hash;

	if (!value_hash(j, key, &hash))
		return NULL;
	struct pair *p = dict_pair(j, d, key, hash);
	return p ? &p->value : NULL;
}

const struct value *dict_find(struct job *j, const struct dict *d, const struct str *key, uint64_t hash)
{
	struct str s = *key;
	struct pair *p = dict_pair(j, d, v_str(&s), hash);

	return p ? &p->value : NULL;
}
