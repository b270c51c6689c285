/* SPDX-License-Identifier: MIT */
/* The table, and the bytes that belong to no tensor: padding, and what follows the last one. */
#include "check.h"
#include "quote.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { GGML_NAME = 63 };

static bool is_utf8(const char *p, size_t n)
{
	unsigned point;

	for (size_t len; n; p += len, n -= len) {
		len = gguf_utf8(p, n, &point);
		if (!len)
			return false;
	}
	return true;
}

static void check_tensor(struct report *r, const struct gguf_tensor *t)
{
	char where[WHERE];

	where_tensor(where, t);
	if (t->name.n > GGML_NAME)
		check_say(r, WARNING, where, t->offset, "the name has %zu bytes, ggml takes %d", t->name.n, GGML_NAME);
	if (!t->name.n)
		check_say(r, WARNING, where, t->offset, "the name is empty");
	if (!is_utf8(t->name.p, t->name.n))
		check_say(r, WARNING, where, t->offset, "the name is no UTF-8");
	if (!gguf_type_values(t->type))
		check_say(r, WARNING, where, t->offset,
			  "type %" PRIu32 " is not known here: its bytes cannot be judged", t->type);
	else if (!t->size)
		check_say(r, NOTE, where, t->offset, "it has no values");
}

/* The first byte of [from, to) that is not zero, or to. */
static int first_used(const struct gguf *g, size_t shard, uint64_t from, uint64_t to, uint64_t *at)
{
	static const uint8_t zeros[4096];
	uint8_t buf[4096];

	for (; from < to; from += sizeof buf) {
		size_t n = to - from < sizeof buf ? (size_t)(to - from) : sizeof buf;
		int err = gguf_shard_read(g, shard, buf, n, from);

		if (err)
			return err;
		if (!memcmp(buf, zeros, n))
			continue;
		for (*at = from; !buf[*at - from]; ++*at)
			;
		return 0;
	}
	*at = to;
	return 0;
}

static void check_padding(struct report *r, const struct gguf *g, size_t shard, uint64_t from, uint64_t to,
			  const char *where)
{
	uint64_t at;
	int err;

	if (to > g->files[shard].about.size)
		to = g->files[shard].about.size;
	if (from >= to)
		return;
	err = first_used(g, shard, from, to, &at);
	if (err)
		check_say(r, ERROR, where, from, "the padding behind it cannot be read: %s", strerror(-err));
	else if (at < to)
		check_say(r, WARNING, where, at, "the padding behind it is not zero");
}

static void check_rest(struct report *r, const struct gguf *g, size_t shard, uint64_t end)
{
	const struct gguf_shard *s = &g->files[shard].about;
	char magic[4] = "";

	if (end >= s->size)
		return;
	if (s->size - end >= 4)
		gguf_shard_read(g, shard, magic, 4, end);
	if (!memcmp(magic, "GGUF", 4))
		check_say(r, ERROR, "file", end,
			  "another GGUF file starts here: shards that were concatenated have to be split again, "
			  "or joined by their tensors");
	else
		check_say(r, WARNING, "file", end, "%" PRIu64 " bytes follow the last tensor", s->size - end);
}

static uint64_t pad(uint64_t n, uint64_t alignment)
{
	return (n + alignment - 1) & ~(alignment - 1);
}

/* The tensors of one shard follow each other in the table of all. Returns the number of the next shard's first. */
static size_t check_shard(struct report *r, const struct gguf *g, size_t shard, size_t first)
{
	const struct gguf_shard *s = &g->files[shard].about;
	uint64_t end = s->header_size;
	size_t i = first;
	char where[WHERE];

	if (s->tensors)
		check_padding(r, g, shard, s->header_size, s->data, "header");
	for (; i < g->tensor_count && g->tensors[i].shard == shard; i++) {
		const struct gguf_tensor *t = &g->tensors[i];

		check_tensor(r, t);
		end = pad(t->offset + t->size, s->alignment);
		check_padding(r, g, shard, t->offset + t->size, end, where_tensor(where, t));
	}
	if (s->alignment % 8)
		check_say(r, WARNING, "key 'general.alignment'", 0, "%" PRIu64 ", expected a multiple of 8",
			  s->alignment);
	check_rest(r, g, shard, end);
	return i;
}

void check_layout(struct report *r, const struct gguf *g)
{
	size_t next = 0;

	for (size_t i = 0; i < g->file_count; i++)
		next = check_shard(r, g, i, next);
}
