/* SPDX-License-Identifier: MIT */
/*
 * Makes the header of a version 3 little-endian file: keys as bytes when they are added, the table when it is asked
 * for.
 */
#include "model.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PADDING (64u << 20)

struct buffer {
	uint8_t *p;
	size_t n, room;
	bool failed; /* out of memory: stays so */
};

/* What a name table reads: p is a place in keys or names until the header is made. */
struct named {
	struct gguf_bytes name;
	size_t at;
};

struct row {
	struct named name; /* first: names_build() reads it */
	uint32_t type, dims;
	uint64_t extent[4], size;
	uint64_t offset; /* from the start of the data */
};

struct gguf_writer {
	struct buffer keys, names, header;
	struct named *key_names;
	size_t key_count, key_room;
	struct row *rows;
	size_t row_count, row_room;
	uint64_t alignment;
	uint64_t table; /* bytes of the rows without their names */
	uint64_t end;   /* of the tensors, padded, from the start of the data */
};

int gguf_writer_new(struct gguf_writer **out)
{
	struct gguf_writer *w = calloc(1, sizeof *w);

	if (!w)
		return -ENOMEM;
	w->alignment = 32;
	*out = w;
	return 0;
}

void gguf_writer_free(struct gguf_writer *w)
{
	if (!w)
		return;
	free(w->keys.p);
	free(w->names.p);
	free(w->header.p);
	free(w->key_names);
	free(w->rows);
	free(w);
}

static void put(struct buffer *b, const void *p, size_t n)
{
	if (b->failed || !n)
		return;
	if (n > b->room - b->n) {
		size_t room = (b->n + n) + (b->n + n) / 2 + 256;
		uint8_t *q = realloc(b->p, room);

		if (!q) {
			b->failed = true;
			return;
		}
		b->p = q;
		b->room = room;
	}
	memcpy(b->p + b->n, p, n);
	b->n += n;
}

static void put_number(struct buffer *b, uint64_t v, unsigned width)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < width; i++)
		bytes[i] = (uint8_t)(v >> 8 * i);
	put(b, bytes, width);
}

static void put_string(struct buffer *b, const char *p, size_t n)
{
	put_number(b, n, 8);
	put(b, p, n);
}

static void put_zeros(struct buffer *b, size_t n)
{
	static const uint8_t zeros[4096];

	for (; n > sizeof zeros; n -= sizeof zeros)
		put(b, zeros, sizeof zeros);
	put(b, zeros, n);
}

/* Room for one more item of a table. */
static int reserve(void *table, size_t count, size_t *room, size_t item)
{
	void *p, *old;

	if (count < *room)
		return 0;
	memcpy(&old, table, sizeof old);
	p = reallocarray(old, *room + *room / 2 + 16, item);
	if (!p)
		return -ENOMEM;
	*room += *room / 2 + 16;
	memcpy(table, &p, sizeof p);
	return 0;
}

/* ---- keys ---- */

static uint64_t pad(const struct gguf_writer *w, uint64_t n)
{
	return (n + w->alignment - 1) & ~(w->alignment - 1);
}

static void lay_out(struct gguf_writer *w)
{
	w->end = 0;
	for (size_t i = 0; i < w->row_count; i++) {
		w->rows[i].offset = w->end;
		w->end = pad(w, w->end + w->rows[i].size);
	}
}

/* The alignment is a key like others, but the writer obeys it. */
static int obey(struct gguf_writer *w, const struct gguf_value *v)
{
	if (v->type != GGUF_U32 || !v->u || v->u & (v->u - 1))
		return -EINVAL;
	w->alignment = v->u;
	lay_out(w);
	return 0;
}

/* A key's name and type; its value follows in w->keys. */
static int begin_key(struct gguf_writer *w, const char *name, size_t n, uint32_t type, const struct gguf_value *v)
{
	static const char alignment[] = "general.alignment";
	int err = reserve(&w->key_names, w->key_count, &w->key_room, sizeof *w->key_names);

	if (err || !n)
		return err ? err : -EINVAL;
	if (n == sizeof alignment - 1 && !memcmp(name, alignment, n)) {
		err = v ? obey(w, v) : -EINVAL;
		if (err)
			return err;
	}
	w->key_names[w->key_count++] = (struct named){ .name.n = n, .at = w->keys.n + 8 };
	put_string(&w->keys, name, n);
	put_number(&w->keys, type, 4);
	return 0;
}

static int finish_key(const struct gguf_writer *w)
{
	return w->keys.failed ? -ENOMEM : 0;
}

static bool fits(const struct gguf_value *v)
{
	unsigned bits = 8 * value_width(v->type, false);

	switch (v->type) {
	case GGUF_U8: case GGUF_U16: case GGUF_U32:
		return v->u >> bits == 0;
	case GGUF_I8: case GGUF_I16: case GGUF_I32:
		return v->i >= -(INT64_C(1) << (bits - 1)) && v->i < INT64_C(1) << (bits - 1);
	case GGUF_BOOL:
		return v->u <= 1;
	case GGUF_F32:
		return isnan(v->f) || isinf(v->f) || !isinf((float)v->f);
	default:
		return v->type < GGUF_VALUE_TYPES && v->type != GGUF_ARRAY;
	}
}

static void put_value(struct buffer *b, const struct gguf_value *v)
{
	unsigned width = value_width(v->type, false);
	float single;
	uint32_t low;
	uint64_t bits;

	if (v->type == GGUF_STRING) {
		put_string(b, v->s.p, v->s.n);
	} else if (v->type == GGUF_F32) {
		single = (float)v->f;
		memcpy(&low, &single, sizeof low);
		put_number(b, low, width);
	} else if (v->type == GGUF_F64) {
		memcpy(&bits, &v->f, sizeof bits);
		put_number(b, bits, width);
	} else {
		put_number(b, v->u, width);
	}
}

int gguf_writer_key(struct gguf_writer *w, const char *name, size_t n, const struct gguf_value *v)
{
	int err;

	if (v->type == GGUF_ARRAY || v->type >= GGUF_VALUE_TYPES)
		return -EINVAL;
	if (!fits(v))
		return -ERANGE;
	err = begin_key(w, name, n, v->type, v);
	if (err)
		return err;
	put_value(&w->keys, v);
	return finish_key(w);
}

int gguf_writer_array(struct gguf_writer *w, const char *name, size_t n, enum gguf_value_type item,
		      const struct gguf_value *items, uint64_t count)
{
	int err;

	if (item == GGUF_ARRAY || item >= GGUF_VALUE_TYPES)
		return -EINVAL;
	for (uint64_t i = 0; i < count; i++)
		if (items[i].type != item || !fits(&items[i]))
			return items[i].type != item ? -EINVAL : -ERANGE;
	err = begin_key(w, name, n, GGUF_ARRAY, NULL);
	if (err)
		return err;
	put_number(&w->keys, item, 4);
	put_number(&w->keys, count, 8);
	for (uint64_t i = 0; i < count; i++)
		put_value(&w->keys, &items[i]);
	return finish_key(w);
}

/* The value of that type at c, in version 3's form. */
static void translate(struct buffer *b, struct cursor *c, uint32_t type)
{
	uint64_t at, count;
	unsigned width = value_width(type, c->narrow);
	uint32_t item;

	if (type == GGUF_STRING) {
		count = cursor_string(c, &at, "string");
		put_string(b, (const char *)c->base + at, count);
	} else if (type == GGUF_ARRAY) {
		item = (uint32_t)cursor_number(c, 4, "type of the items");
		count = cursor_length(c, "count of the items");
		put_number(b, item, 4);
		put_number(b, count, 8);
		for (; count && !c->err; count--)
			translate(b, c, item);
	} else {
		put_number(b, cursor_number(c, width, "value"), width);
	}
}

int gguf_writer_copy_key(struct gguf_writer *w, const struct gguf *g, size_t i)
{
	const struct gguf_key *k = gguf_key(g, i);
	struct gguf_value v;
	struct cursor c;
	int err;

	if (!k)
		return -ERANGE;
	err = gguf_value(g, i, &v);
	if (!err)
		err = begin_key(w, k->name.p, k->name.n, k->type, &v);
	if (err)
		return err;
	c = file_cursor(&g->files[0], k->offset);
	if (c.big_endian || c.narrow) {
		translate(&w->keys, &c, k->type);
		return finish_key(w);
	}
	value_skip(&c, k->type, 0);
	put(&w->keys, c.base + k->offset, (size_t)(c.pos - k->offset));
	return finish_key(w);
}

/* ---- tensors ---- */

static int add_row(struct gguf_writer *w, const char *name, size_t n, const struct row *like)
{
	struct row *r;
	uint64_t end;
	int err = reserve(&w->rows, w->row_count, &w->row_room, sizeof *w->rows);

	if (err)
		return err;
	if (__builtin_add_overflow(w->end, like->size, &end) || end > INT64_MAX - w->alignment)
		return -EOVERFLOW;
	r = &w->rows[w->row_count];
	*r = *like;
	r->name = (struct named){ .name.n = n, .at = w->names.n };
	r->offset = w->end;
	put(&w->names, name, n);
	if (w->names.failed)
		return -ENOMEM;
	w->end = pad(w, end);
	w->table += 8 + 4 + 8 * r->dims + 4 + 8;
	w->row_count++;
	return 0;
}

int gguf_writer_tensor(struct gguf_writer *w, const char *name, size_t n, uint32_t type, uint32_t dims,
		       const uint64_t *extent)
{
	struct row r = { .type = type, .dims = dims, .extent = { 1, 1, 1, 1 } };

	if (dims > 4 || !gguf_type_values(type))
		return -EINVAL;
	for (uint32_t i = 0; i < dims; i++)
		r.extent[i] = extent[i];
	if (r.extent[0] % gguf_type_values(type))
		return -EINVAL;
	if (!gguf_extent_size(type, r.extent, &r.size))
		return -EOVERFLOW;
	return add_row(w, name, n, &r);
}

int gguf_writer_copy_tensor(struct gguf_writer *w, const struct gguf *g, size_t i)
{
	const struct gguf_tensor *t = gguf_tensor(g, i);
	struct row r;

	if (!t)
		return -ERANGE;
	r = (struct row){ .type = t->type, .dims = t->dims, .size = t->size };
	memcpy(r.extent, t->extent, sizeof r.extent);
	return add_row(w, t->name.p, t->name.n, &r);
}

/* ---- the header ---- */

static uint64_t header_size(const struct gguf_writer *w)
{
	return 4 + 4 + 8 + 8 + w->keys.n + w->names.n + w->table;
}

static uint64_t data_start(const struct gguf_writer *w)
{
	uint64_t n = header_size(w);

	return w->row_count ? pad(w, n) : n;
}

static void put_row(struct buffer *b, const struct row *r)
{
	put_string(b, r->name.name.p, r->name.name.n);
	put_number(b, r->dims, 4);
	for (uint32_t i = 0; i < r->dims; i++)
		put_number(b, r->extent[i], 8);
	put_number(b, r->type, 4);
	put_number(b, r->offset, 8);
}

/* Names have stopped moving: points to them, and looks for twins. */
static int check_names(struct gguf_writer *w)
{
	struct names names;
	size_t twins[2];
	int err;

	for (size_t i = 0; i < w->key_count; i++)
		w->key_names[i].name.p = (const char *)w->keys.p + w->key_names[i].at;
	err = names_build(&names, w->key_names, sizeof *w->key_names, w->key_count, twins);
	names_free(&names);
	if (err)
		return err;
	for (size_t i = 0; i < w->row_count; i++)
		w->rows[i].name.name.p = w->names.p ? (const char *)w->names.p + w->rows[i].name.at : "";
	err = names_build(&names, w->rows, sizeof *w->rows, w->row_count, twins);
	names_free(&names);
	return err;
}

int gguf_writer_header(struct gguf_writer *w, const void **bytes, size_t *size)
{
	struct buffer *b = &w->header;
	uint64_t data = data_start(w);
	int err = check_names(w);

	if (err)
		return err;
	if (data - header_size(w) > MOST_PADDING)
		return -EFBIG;
	b->n = 0;
	put(b, "GGUF", 4);
	put_number(b, 3, 4);
	put_number(b, w->row_count, 8);
	put_number(b, w->key_count, 8);
	put(b, w->keys.p, w->keys.n);
	for (size_t i = 0; i < w->row_count; i++)
		put_row(b, &w->rows[i]);
	put_zeros(b, (size_t)(data - b->n));
	if (b->failed)
		return -ENOMEM;
	*bytes = b->p;
	*size = b->n;
	return 0;
}

uint64_t gguf_writer_offset(const struct gguf_writer *w, size_t i)
{
	return data_start(w) + w->rows[i].offset;
}

uint64_t gguf_writer_size(const struct gguf_writer *w, size_t i)
{
	return w->rows[i].size;
}

uint64_t gguf_writer_file_size(const struct gguf_writer *w)
{
	return data_start(w) + w->end;
}
