/* SPDX-License-Identifier: MIT */
/*
 * Header, metadata and tensor table of one file. Each row is judged as it is read, before there is memory for the next:
 * a table of millions that is wrong in its second row costs two rows.
 */
#include "error.h"
#include "identify.h"
#include "model.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>


/*
 * Keys, and tensors, of one file. A row of 24 bytes costs 150 of memory in a mount, and 2 us; the largest models, with
 * a tensor for each expert, have 70,000.
 */
#define MOST_ROWS (1u << 19)

struct parser {
	struct cursor c;
	struct file *f;
	struct gguf_error *e;
	uint64_t key_claim, tensor_claim; /* how many the header announces */
};

enum { WHO = QUOTED + 40 };

/* "key 'NAME'", or "key number N" where the name (of size UINT64_MAX then) could not be read. Returns out. */
static const char *who(char out[WHO], const struct parser *p, const char *kind, size_t number, uint64_t name_at,
		       uint64_t name_size)
{
	char quoted[QUOTED];
	struct gguf_error text;

	if (name_size == UINT64_MAX)
		gguf_fail(&text, 0, 0, "%s number %zu", kind, number);
	else
		gguf_fail(&text, 0, 0, "%s '%s'", kind,
			  gguf_quote(quoted, sizeof quoted, (const char *)p->c.base + name_at, name_size));
	return memcpy(out, text.text, strlen(text.text) + 1);
}

/* The sentence for what the cursor met: kind is "key" or "tensor"; the name is known or not, as above. */
static int cursor_report(const struct parser *p, const char *kind, size_t number, uint64_t name_at, uint64_t name_size)
{
	const struct cursor *c = &p->c;
	char name[WHO];

	who(name, p, kind, number, name_at, name_size);
	if (c->err == -EINVAL)
		return gguf_fail(p->e, c->err, c->pos,
				 "%s: %s at byte %" PRIu64 " needs %" PRIu64 " bytes, the file has %" PRIu64 " left",
				 name, c->what, c->pos, c->need, cursor_left(c));
	if (c->err == -EFBIG)
		return gguf_fail(p->e, c->err, c->pos, "%s: %s at byte %" PRIu64 " has %" PRIu64
				 " bytes, expected a header of 2^27 at most", name, c->what, c->pos, c->need);
	return gguf_fail(p->e, c->err, c->pos, "%s: %s at byte %" PRIu64 " cannot be read: %s", name, c->what, c->pos,
			 strerror(-c->err));
}

static int not_gguf(struct parser *p)
{
	return gguf_fail(p->e, -EINVAL, 0, "not a GGUF file but %s; expected the magic GGUF at byte 0",
			 gguf_identify(p->c.base, p->c.have, p->c.size));
}

static int read_version(struct parser *p)
{
	struct gguf_shard *about = &p->f->about;
	uint64_t version;

	cursor_need(&p->c, p->c.size < 4096 ? p->c.size : 4096, "magic");
	if (p->c.err)
		return gguf_fail(p->e, p->c.err, 0, "cannot be read: %s", strerror(-p->c.err));
	if (p->c.size < 8 || memcmp(p->c.base, "GGUF", 4))
		return not_gguf(p);
	p->c.pos = 4;
	version = cursor_number(&p->c, 4, "version");
	if (version && !(version & 0xffff)) {
		p->c.big_endian = true;
		version = __builtin_bswap32((uint32_t)version);
	}
	if (version < 1 || version > 3)
		return gguf_fail(p->e, -EPROTONOSUPPORT, 4, "version at byte 4 is %" PRIu64 ", expected 1, 2 or 3",
				 version);
	about->version = (uint32_t)version;
	about->big_endian = p->c.big_endian;
	p->c.narrow = version == 1;
	return 0;
}

static int check_claim(const struct parser *p, const char *what, uint64_t claim, uint64_t least, uint64_t at)
{
	if (claim > cursor_left(&p->c) / least)
		return gguf_fail(p->e, -EINVAL, at,
				 "%s at byte %" PRIu64 " is %" PRIu64 ", the file has room for %" PRIu64 " at most",
				 what, at, claim, cursor_left(&p->c) / least);
	if (claim > MOST_ROWS)
		return gguf_fail(p->e, -EFBIG, at, "%s at byte %" PRIu64 " is %" PRIu64 ", expected %u at most", what,
				 at, claim, MOST_ROWS);
	return 0;
}

static int read_counts(struct parser *p)
{
	unsigned width = p->c.narrow ? 4 : 8;
	int err;

	p->tensor_claim = cursor_length(&p->c, "tensor count");
	p->key_claim = cursor_length(&p->c, "key count");
	if (p->c.err == -EINVAL)
		return gguf_fail(p->e, p->c.err, p->c.pos,
				 "the file ends within its header, at byte %" PRIu64 " of at least %d", p->c.size,
				 8 + 2 * (int)width);
	if (p->c.err)
		return gguf_fail(p->e, p->c.err, p->c.pos, "header cannot be read: %s", strerror(-p->c.err));
	err = check_claim(p, "tensor count", p->tensor_claim, width + 4 + 4 + 8, 8);
	return err ? err : check_claim(p, "key count", p->key_claim, width + 1 + 4 + 1, 8 + width);
}

/* The header may have moved as it grew: names that point into it go along. */
static void follow_header(struct parser *p)
{
	struct file *f = p->f;
	uintptr_t by = (uintptr_t)p->c.base - (uintptr_t)f->header;

	f->header = p->c.base;
	f->about.header_size = p->c.pos;
	for (size_t i = 0; by && i < f->key_count; i++)
		f->keys[i].name.p = (const char *)((uintptr_t)f->keys[i].name.p + by);
	for (size_t i = 0; by && i < f->tensor_count; i++)
		f->tensors[i].name.p = (const char *)((uintptr_t)f->tensors[i].name.p + by);
}

/* Makes room for one more item, up to claim of them. */
static void *grow_table(void *table, size_t count, size_t *room, uint64_t claim, size_t item)
{
	size_t more = *room + *room / 2 + 64;
	void *p;

	if (count < *room)
		return table;
	if (more > claim)
		more = claim;
	p = reallocarray(table, more, item);
	if (p)
		*room = more;
	return p;
}

static int read_key(struct parser *p, struct gguf_key *k)
{
	size_t number = p->f->key_count;
	char quoted[QUOTED];
	uint64_t name_at, type_at, n = cursor_string(&p->c, &name_at, "name");
	uint32_t type;

	if (p->c.err)
		return cursor_report(p, "key", number, 0, UINT64_MAX);
	if (!n)
		return gguf_fail(p->e, -EINVAL, name_at, "key number %zu: empty name at byte %" PRIu64, number,
				 name_at);
	type_at = p->c.pos;
	type = (uint32_t)cursor_number(&p->c, 4, "type");
	*k = (struct gguf_key){ .name.n = n, .type = type, .count = 1, .offset = p->c.pos };
	if (p->c.err)
		return cursor_report(p, "key", number, name_at, n);
	if (type == GGUF_ARRAY && cursor_need(&p->c, 4, "type of the items")) {
		k->item = (enum gguf_value_type)cursor_number(&p->c, 4, "type of the items");
		k->count = cursor_length(&p->c, "count of the items");
		p->c.pos = k->offset;
	}
	value_skip(&p->c, type, 0);
	k->name.p = (const char *)p->c.base + name_at;
	if (!p->c.err)
		return 0;
	if (p->c.err != -EDOM)
		return cursor_report(p, "key", number, name_at, n);
	gguf_quote(quoted, sizeof quoted, (const char *)p->c.base + name_at, n);
	if (!value_width(type, false))
		return gguf_fail(p->e, -EINVAL, type_at,
				 "key '%s': value type at byte %" PRIu64 " is %u, expected 0 to %d", quoted, type_at,
				 type, GGUF_VALUE_TYPES - 1);
	return gguf_fail(p->e, -EINVAL, p->c.pos, "key '%s': %s at byte %" PRIu64, quoted, p->c.what, p->c.pos);
}

static int no_memory(struct parser *p, const char *what, uint64_t count)
{
	return gguf_fail(p->e, -ENOMEM, p->c.pos, "out of memory for %" PRIu64 " %s", count, what);
}

/* The key behind those that count was read: it counts too, when its name is new. */
static int add_key(struct parser *p)
{
	struct file *f = p->f;
	const struct gguf_key *k = &f->keys[f->key_count];
	size_t twins[2];
	char quoted[QUOTED];

	follow_header(p);
	if (!names_add(&f->key_names, f->keys, f->key_count, twins)) {
		f->key_count++;
		return 0;
	}
	return gguf_fail(p->e, -EINVAL, k->offset, "key '%s': number %zu, its value at byte %" PRIu64
			 ", has the name of number %zu; expected each once",
			 gguf_quote(quoted, sizeof quoted, k->name.p, k->name.n), twins[1], k->offset, twins[0]);
}

static int read_keys(struct parser *p)
{
	struct file *f = p->f;
	size_t room = 0;
	int err = 0;

	if (names_new(&f->key_names, sizeof *f->keys, p->key_claim))
		return no_memory(p, "keys", p->key_claim);
	while (!err && f->key_count < p->key_claim) {
		struct gguf_key *keys = grow_table(f->keys, f->key_count, &room, p->key_claim, sizeof *keys);

		if (!keys)
			return no_memory(p, "keys", p->key_claim);
		f->keys = keys;
		err = read_key(p, &keys[f->key_count]);
		if (!err)
			err = add_key(p);
	}
	return err;
}

/* The values of a tensor, or false when their number passes 63 bits. */
static bool count_values(const struct gguf_tensor *t, uint64_t *values)
{
	uint64_t n = 1;

	for (unsigned i = 0; i < t->dims; i++)
		if (t->extent[i] == 0) {
			*values = 0;
			return true;
		}
	for (unsigned i = 0; i < t->dims; i++)
		if (__builtin_mul_overflow(n, t->extent[i], &n) || n > INT64_MAX)
			return false;
	*values = n;
	return true;
}

static int check_shape(const struct parser *p, struct gguf_tensor *t, uint64_t at)
{
	const uint64_t *ne = t->extent;
	size_t block = gguf_type_values(t->type);
	char quoted[QUOTED];

	for (unsigned i = 0; i < t->dims; i++)
		if (ne[i] > INT64_MAX)
			return gguf_fail(p->e, -EINVAL, at, "tensor '%s': extent %u at byte %" PRIu64 " is %" PRId64
					 ", expected 0 or more", name_of(t, quoted), i, at, (int64_t)ne[i]);
	if (t->type > INT32_MAX)
		return gguf_fail(p->e, -EINVAL, p->c.pos - 12,
				 "tensor '%s': type at byte %" PRIu64 " is %d, expected 0 or more", name_of(t, quoted),
				 p->c.pos - 12, (int32_t)t->type);
	if (!count_values(t, &t->values))
		return gguf_fail(p->e, -EOVERFLOW, at,
				 "tensor '%s': %" PRIu64 " x %" PRIu64 " x %" PRIu64 " x %" PRIu64
				 " values at byte %" PRIu64 " are more than 63 bits count",
				 name_of(t, quoted), ne[0], ne[1], ne[2], ne[3], at);
	if (block && ne[0] % block)
		return gguf_fail(p->e, -EINVAL, at,
				 "tensor '%s': row of %" PRIu64 " values at byte %" PRIu64
				 ", expected whole blocks of %zu for type %s",
				 name_of(t, quoted), ne[0], at, block, gguf_type_name(t->type));
	if (!gguf_extent_size(t->type, ne, &t->size))
		return gguf_fail(p->e, -EOVERFLOW, at, "tensor '%s': its bytes are more than 63 bits count",
				 name_of(t, quoted));
	return 0;
}

static int read_tensor(struct parser *p, struct gguf_tensor *t)
{
	size_t number = p->f->tensor_count;
	char quoted[QUOTED];
	uint64_t shape_at, name_at, n = cursor_string(&p->c, &name_at, "name");

	if (p->c.err)
		return cursor_report(p, "tensor", number, 0, UINT64_MAX);
	shape_at = p->c.pos + 4;
	*t = (struct gguf_tensor){ .name.n = n, .extent = { 1, 1, 1, 1 } };
	t->dims = (uint32_t)cursor_number(&p->c, 4, "number of dimensions");
	if (!p->c.err && t->dims > 4) {
		gguf_quote(quoted, sizeof quoted, (const char *)p->c.base + name_at, n);
		return gguf_fail(p->e, -EINVAL, shape_at - 4,
				 "tensor '%s': %u dimensions at byte %" PRIu64 ", expected 0 to 4", quoted, t->dims,
				 shape_at - 4);
	}
	for (unsigned i = 0; i < t->dims; i++)
		t->extent[i] = cursor_length(&p->c, "extent");
	t->type = (uint32_t)cursor_number(&p->c, 4, "type");
	t->offset = cursor_number(&p->c, 8, "offset");
	if (p->c.err)
		return cursor_report(p, "tensor", number, name_at, n);
	t->name.p = (const char *)p->c.base + name_at;
	return check_shape(p, t, shape_at);
}

/* As add_key; its place is judged by the tensor before it. */
static int add_tensor(struct parser *p)
{
	struct file *f = p->f;
	size_t twins[2];
	int err;

	follow_header(p);
	err = place_tensor(f, f->tensor_count, p->e);
	if (err)
		return err;
	if (names_add(&f->tensor_names, f->tensors, f->tensor_count, twins))
		return fail_twins(f, f->tensors, twins, p->e);
	f->tensor_count++;
	return 0;
}

static int read_tensors(struct parser *p)
{
	struct file *f = p->f;
	size_t room = 0;
	int err = 0;

	if (names_new(&f->tensor_names, sizeof *f->tensors, p->tensor_claim))
		return no_memory(p, "tensors", p->tensor_claim);
	while (!err && f->tensor_count < p->tensor_claim) {
		struct gguf_tensor *t = grow_table(f->tensors, f->tensor_count, &room, p->tensor_claim, sizeof *t);

		if (!t)
			return no_memory(p, "tensors", p->tensor_claim);
		f->tensors = t;
		err = read_tensor(p, &t[f->tensor_count]);
		if (!err)
			err = add_tensor(p);
	}
	return err;
}

/* The header is whole: gives back what was read beyond it. */
static void settle(struct parser *p)
{
	struct file *f = p->f;
	uint8_t *smaller = p->c.owned ? realloc(p->c.owned, p->c.pos) : NULL;

	if (smaller)
		p->c.base = p->c.owned = smaller;
	follow_header(p);
	f->owned = p->c.owned;
	p->c.owned = NULL;
	f->about.tensors = f->tensor_count;
}

static int read_alignment(struct parser *p)
{
	static const char name[] = "general.alignment";
	struct file *f = p->f;
	ssize_t i = names_find(&f->key_names, name, sizeof name - 1);
	struct cursor c;
	const struct gguf_key *k;

	f->about.alignment = 32;
	if (i < 0)
		return 0;
	k = &f->keys[i];
	if (k->type != GGUF_U32)
		return gguf_fail(p->e, -EINVAL, k->offset, "key '%s': type %s, expected u32", name,
				 gguf_value_type_name(k->type));
	c = file_cursor(f, k->offset);
	f->about.alignment = cursor_number(&c, 4, name);
	if (!f->about.alignment || f->about.alignment & (f->about.alignment - 1))
		return gguf_fail(p->e, -EINVAL, k->offset,
				 "key '%s': %" PRIu64 " at byte %" PRIu64 ", expected a power of two", name,
				 f->about.alignment, k->offset);
	return 0;
}

static int read_tables(struct parser *p)
{
	int err = read_version(p);

	if (!err)
		err = read_counts(p);
	if (!err)
		err = read_keys(p);
	if (!err)
		err = read_alignment(p);
	if (!err)
		err = read_tensors(p);
	if (!err)
		settle(p);
	return err;
}

int file_parse(struct file *f, unsigned lenience, struct gguf_error *e)
{
	struct parser p = { .f = f, .e = e };
	int err;

	cursor_init(&p.c, &f->input);
	f->about.size = f->input.size;
	f->about.fd = f->input.fd;
	f->about.path = f->path;
	err = read_tables(&p);
	free(p.c.owned);
	return err ? err : place_data(f, lenience, e);
}

void file_free(struct file *f)
{
	input_close(&f->input);
	names_free(&f->key_names);
	names_free(&f->tensor_names);
	free(f->keys);
	free(f->tensors);
	free(f->owned);
	free(f->path);
}
