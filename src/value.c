/* SPDX-License-Identifier: MIT */
#include "model.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ITEMS (1ull << 30) /* of an array: ggml's limit */

/* One line per value type: name, bytes, bytes in version 1 (of strings and arrays: at least). */
static const struct {
	const char *name;
	uint8_t width, narrow;
} kinds[GGUF_VALUE_TYPES] = {
	[GGUF_U8] = { "u8", 1, 1 },	     [GGUF_I8] = { "i8", 1, 1 },   [GGUF_U16] = { "u16", 2, 2 },
	[GGUF_I16] = { "i16", 2, 2 },	     [GGUF_U32] = { "u32", 4, 4 }, [GGUF_I32] = { "i32", 4, 4 },
	[GGUF_F32] = { "f32", 4, 4 },	     [GGUF_BOOL] = { "bool", 1, 1 },
	[GGUF_STRING] = { "string", 8, 4 },  [GGUF_ARRAY] = { "array", 12, 8 },
	[GGUF_U64] = { "u64", 8, 8 },	     [GGUF_I64] = { "i64", 8, 8 }, [GGUF_F64] = { "f64", 8, 8 },
};

const char *gguf_value_type_name(uint32_t type)
{
	return type < GGUF_VALUE_TYPES ? kinds[type].name : NULL;
}

unsigned value_width(uint32_t type, bool narrow)
{
	return type >= GGUF_VALUE_TYPES ? 0 : narrow ? kinds[type].narrow : kinds[type].width;
}

static void refuse(struct cursor *c, const char *why, uint64_t at)
{
	if (c->err)
		return;
	c->err = -EDOM;
	c->what = why;
	c->pos = at;
}

/* Type and count of an array's items, with c at the first. Says no to counts that the file cannot hold. */
static bool array_head(struct cursor *c, uint32_t *item, uint64_t *count)
{
	uint64_t at = c->pos;
	unsigned width;

	*item = (uint32_t)cursor_number(c, 4, "type of the items");
	*count = cursor_length(c, "count of the items");
	width = value_width(*item, c->narrow);
	if (!c->err && !width)
		refuse(c, "unknown type of the items", at);
	if (*count > MOST_ITEMS)
		refuse(c, "more than 2^30 items", at + 4);
	return !c->err && cursor_need(c, *count * width, "array");
}

/* Moves past count strings or arrays. */
static void skip_items(struct cursor *c, uint32_t item, uint64_t count, unsigned depth)
{
	while (count && !c->err) {
		if (item == GGUF_STRING)
			count -= cursor_strings(c, count, NULL);
		if (!count)
			break;
		value_skip(c, item, depth);
		count--;
	}
}

void value_skip(struct cursor *c, uint32_t type, unsigned depth)
{
	uint64_t at = c->pos, count;
	uint32_t item;

	if (type == GGUF_STRING) {
		cursor_string(c, &at, "string");
	} else if (type != GGUF_ARRAY) {
		if (value_width(type, c->narrow))
			cursor_skip(c, value_width(type, c->narrow), "value");
		else
			refuse(c, "unknown value type", at);
	} else if (depth == GGUF_DEPTH) {
		refuse(c, "arrays are nested deeper than 8 levels", at);
	} else if (array_head(c, &item, &count)) {
		if (item == GGUF_STRING || item == GGUF_ARRAY)
			skip_items(c, item, count, depth + 1);
		else
			cursor_skip(c, count * value_width(item, c->narrow), "array");
	}
}

struct cursor file_cursor(const struct file *f, uint64_t at)
{
	struct cursor c;

	cursor_over(&c, f->header, f->about.header_size, f->about.big_endian, f->about.version == 1);
	if (at > c.size)
		at = c.size;
	c.pos = at;
	return c;
}

static double float_of(uint64_t bits, unsigned width)
{
	uint32_t low = (uint32_t)bits;
	double d;
	float s;

	if (width == 4) {
		memcpy(&s, &low, sizeof s);
		return (double)s;
	}
	memcpy(&d, &bits, sizeof d);
	return d;
}

/* The value of that type at c, which moves past it; of an array past its head. */
static void take(struct cursor *c, enum gguf_value_type type, struct gguf_value *v)
{
	unsigned width = value_width(type, c->narrow);
	uint64_t at;
	uint32_t item;

	v->type = type;
	if (type == GGUF_STRING) {
		v->s.n = cursor_string(c, &at, "string");
		v->s.p = (const char *)c->base + at;
	} else if (type == GGUF_ARRAY) {
		if (array_head(c, &item, &v->a.count))
			v->a.item = (enum gguf_value_type)item;
		v->a.at = c->pos;
	} else if (type == GGUF_F32 || type == GGUF_F64) {
		v->f = float_of(cursor_number(c, width, "value"), width);
	} else if (type == GGUF_I8 || type == GGUF_I16 || type == GGUF_I32 || type == GGUF_I64) {
		uint64_t u = cursor_number(c, width, "value") << (64 - 8 * width);

		v->i = (int64_t)u >> (64 - 8 * width);
	} else {
		v->u = cursor_number(c, width, "value");
		if (type == GGUF_BOOL)
			v->u = v->u != 0;
	}
}

int gguf_value(const struct gguf *g, size_t i, struct gguf_value *v)
{
	const struct file *f = &g->files[0];
	struct cursor c;

	if (i >= f->key_count)
		return -ERANGE;
	c = file_cursor(f, f->keys[i].offset);
	take(&c, f->keys[i].type, v);
	return c.err;
}

/* The first of n strings, as far as nothing is wrong with them; returns how many. */
static size_t take_strings(struct cursor *c, size_t n, struct gguf_value *v)
{
	enum { SOME = 64 };
	uint64_t at[SOME];
	size_t done = 0, got, more;

	do {
		more = n - done < SOME ? n - done : SOME;
		got = (size_t)cursor_strings(c, more, at);
		for (size_t i = 0; i < got; i++) {
			uint64_t end = i + 1 < got ? at[i + 1] : c->pos;

			v[done + i].type = GGUF_STRING;
			v[done + i].s = (struct gguf_bytes){ (const char *)c->base + at[i] + 8, end - at[i] - 8 };
		}
		done += got;
	} while (got == SOME);
	return done;
}

static int items_at(struct cursor *c, enum gguf_value_type item, size_t n, struct gguf_value *v)
{
	for (size_t k = item == GGUF_STRING ? take_strings(c, n, v) : 0; k < n && !c->err; k++) {
		uint64_t at = c->pos;

		take(c, item, &v[k]);
		if (item != GGUF_ARRAY || k + 1 == n)
			continue;
		c->pos = at;
		value_skip(c, item, 1);
	}
	return c->err;
}

/* Items have one width: arithmetic finds them. */
static bool is_fixed(enum gguf_value_type item)
{
	return item != GGUF_STRING && item != GGUF_ARRAY;
}

enum { STRIDE = 32 }; /* each so many items have an entry in the index */

/* Where items 0, STRIDE, 2 STRIDE ... of key i start. Threads may make it at once: the first one stays. */
static const uint64_t *index_of(const struct gguf *g, size_t i, struct cursor *c)
{
	const struct gguf_key *k = &g->files[0].keys[i];
	uint64_t *none = NULL, *index = atomic_load(&g->indexes[i]);

	if (index)
		return index;
	index = malloc((k->count / STRIDE + 1) * sizeof *index);
	if (!index)
		return NULL;
	for (uint64_t n = 0; n < k->count; n += STRIDE) {
		index[n / STRIDE] = c->pos;
		skip_items(c, k->item, k->count - n < STRIDE ? k->count - n : STRIDE, 1);
	}
	if (atomic_compare_exchange_strong(&g->indexes[i], &none, index))
		return index;
	free(index);
	return none;
}

int gguf_items(const struct gguf *g, size_t i, uint64_t first, size_t n, struct gguf_value *v)
{
	const struct file *f = &g->files[0];
	const struct gguf_key *k = &f->keys[i];
	struct cursor c;
	const uint64_t *index;

	if (i >= f->key_count || k->type != GGUF_ARRAY)
		return -EINVAL;
	if (first > k->count || n > k->count - first)
		return -ERANGE;
	if (!n)
		return 0;
	c = file_cursor(f, k->offset + value_width(GGUF_ARRAY, f->about.version == 1));
	if (is_fixed(k->item)) {
		c.pos += first * value_width(k->item, c.narrow);
		return items_at(&c, k->item, n, v);
	}
	index = index_of(g, i, &c);
	if (!index)
		return -ENOMEM;
	c.pos = index[first / STRIDE];
	skip_items(&c, k->item, first % STRIDE, 1);
	return items_at(&c, k->item, n, v);
}

int gguf_array_item(const struct gguf *g, const struct gguf_array *a, uint64_t k, struct gguf_value *v)
{
	struct cursor c = file_cursor(&g->files[0], a->at);

	if (k >= a->count)
		return -ERANGE;
	if (is_fixed(a->item))
		c.pos += k * value_width(a->item, c.narrow);
	else
		for (; k && !c.err; k--)
			value_skip(&c, a->item, 1);
	return items_at(&c, a->item, 1, v);
}

int gguf_array_next(const struct gguf *g, struct gguf_array *a, struct gguf_value *v)
{
	struct cursor c = file_cursor(&g->files[0], a->at);
	int err;

	if (!a->count)
		return -ERANGE;
	err = items_at(&c, a->item, 1, v);
	if (a->item == GGUF_ARRAY) {
		c.pos = a->at;
		value_skip(&c, a->item, 1);
	}
	if (err || c.err)
		return err ? err : c.err;
	a->at = c.pos;
	a->count--;
	return 0;
}
