/* SPDX-License-Identifier: MIT */
/* Sets of shards: NAME-00001-of-00003.gguf and its siblings, whose keys say which number each is. */
#include "split.h"
#include "error.h"
#include "quote.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX "-00001-of-00003.gguf"

/* split.no and the like: any integer type serves. Absent ones leave *v as it is. */
static int split_key(const struct file *f, const char *name, uint64_t most, uint64_t *v, struct gguf_error *e)
{
	const struct gguf view = { .files = (struct file *)f, .file_count = 1 };
	uint64_t got;
	int err = gguf_get_u64(&view, name, &got);

	if (err == -ENOENT)
		return 0;
	if (!err && got <= most) {
		*v = got;
		return 0;
	}
	if (err == -EINVAL)
		return gguf_fail(e, -EINVAL, f->keys[gguf_find_key(&view, name, strlen(name))].offset,
				 "key '%s': type %s, expected an integer", name,
				 gguf_value_type_name(f->keys[gguf_find_key(&view, name, strlen(name))].type));
	return gguf_fail(e, -EINVAL, f->keys[gguf_find_key(&view, name, strlen(name))].offset,
			 "key '%s': expected 0 to %" PRIu64, name, most);
}

struct split {
	uint64_t no, count, tensors;
};

static int read_split(const struct file *f, struct split *s, struct gguf_error *e)
{
	int err;

	*s = (struct split){ .no = UINT64_MAX, .count = 1, .tensors = UINT64_MAX };
	err = split_key(f, "split.count", UINT16_MAX, &s->count, e);
	if (!err)
		err = split_key(f, "split.no", UINT16_MAX, &s->no, e);
	if (!err)
		err = split_key(f, "split.tensors.count", INT32_MAX, &s->tensors, e);
	if (err || s->count <= 1)
		return err;
	if (s->no == UINT64_MAX)
		return gguf_fail(e, -EINVAL, 0, "key 'split.count' is %" PRIu64 ", but there is no key 'split.no'",
				 s->count);
	if (s->no >= s->count)
		return gguf_fail(e, -EINVAL, 0,
				 "key 'split.no' is %" PRIu64 ", expected less than 'split.count', %" PRIu64, s->no,
				 s->count);
	return 0;
}

static void put_digits(char *p, uint64_t n)
{
	for (int i = 4; i >= 0; i--, n /= 10)
		p[i] = (char)('0' + n % 10);
}

static void make_suffix(char out[sizeof SUFFIX], uint64_t no, uint64_t count)
{
	memcpy(out, SUFFIX, sizeof SUFFIX);
	put_digits(out + 1, no + 1);
	put_digits(out + 10, count);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *split_sibling(const char *path, uint64_t no, uint64_t count)
{
	char *p = strdup(path);

	if (p)
		make_suffix(p + strlen(p) - (sizeof SUFFIX - 1), no, count);
	return p;
}

bool split_is_named(const char *path, uint64_t no, uint64_t count)
{
	const char *name = base_name(path);
	char suffix[sizeof SUFFIX];

	make_suffix(suffix, no, count);
	return strlen(name) >= sizeof SUFFIX - 1 && !strcmp(name + strlen(name) - (sizeof SUFFIX - 1), suffix);
}

static int check_sibling(const struct file *f, uint64_t no, const struct split *set, struct gguf_error *e)
{
	struct split s;
	int err = read_split(f, &s, e);

	if (err)
		return err;
	if (s.count != set->count || s.no != no)
		return gguf_fail(e, -EINVAL, 0,
				 "says shard %" PRIu64 " of %" PRIu64 " in 'split.no' and 'split.count', "
				 "expected %" PRIu64 " of %" PRIu64,
				 s.no + 1, s.count, no + 1, set->count);
	return 0;
}

/* Puts the sibling's name before what is wrong with it. */
static int blame(const char *path, uint64_t no, uint64_t count, int err, struct gguf_error *e)
{
	struct gguf_error was;
	char quoted[80];

	if (!e)
		return err;
	was = *e;
	gguf_quote(quoted, sizeof quoted, base_name(path), strlen(base_name(path)));
	if (err == -ENOENT)
		return gguf_fail(e, err, 0, "shard %" PRIu64 " of %" PRIu64 " is missing: no file '%s' beside it",
				 no + 1, count, quoted);
	return gguf_fail(e, err, was.offset, "shard %" PRIu64 " of %" PRIu64 ", '%s': %.150s", no + 1, count, quoted,
			 was.text);
}

static int open_sibling(struct gguf *g, const char *given, uint64_t no, const struct split *set, unsigned lenience,
			struct gguf_error *e)
{
	char *path = split_sibling(given, no, set->count);
	int err;

	if (!path)
		return gguf_fail(e, -ENOMEM, 0, "out of memory");
	err = file_open(&g->files[no], path, lenience, e);
	if (!err)
		err = check_sibling(&g->files[no], no, set, e);
	if (err)
		blame(path, no, set->count, err, e);
	free(path);
	return err;
}

/* The sum of all tables against what the first shard announces. */
static int check_total(const struct gguf *g, const struct split *set, struct gguf_error *e)
{
	uint64_t total = 0;

	for (size_t i = 0; i < g->file_count; i++)
		total += g->files[i].tensor_count;
	if (set->tensors == UINT64_MAX || set->tensors == total)
		return 0;
	return gguf_fail(e, -EINVAL, 0,
			 "key 'split.tensors.count' is %" PRIu64 ", the %zu shards have %" PRIu64 " tensors",
			 set->tensors, g->file_count, total);
}

/* Makes room for the set, with the file that is open at its place. */
static int spread(struct gguf *g, const struct split *set, struct gguf_error *e)
{
	struct file *files = calloc(set->count, sizeof *files);

	if (!files)
		return gguf_fail(e, -ENOMEM, 0, "out of memory for %" PRIu64 " shards", set->count);
	for (uint64_t i = 0; i < set->count; i++)
		files[i].input.fd = -1;
	files[set->no] = g->files[0];
	free(g->files);
	g->files = files;
	g->file_count = set->count;
	return 0;
}

int split_complete(struct gguf *g, unsigned lenience, struct gguf_error *e)
{
	const char *path = g->files[0].path, *name = base_name(path);
	char suffix[sizeof SUFFIX], quoted[80];
	struct split set;
	int err = read_split(&g->files[0], &set, e);

	if (err || set.count <= 1)
		return err;
	make_suffix(suffix, set.no, set.count);
	if (!split_is_named(path, set.no, set.count))
		return gguf_fail(e, -EINVAL, 0,
				 "is shard %" PRIu64 " of %" PRIu64 " by its keys, expected a name that ends in '%s', "
				 "not '%s'",
				 set.no + 1, set.count, suffix, gguf_quote(quoted, sizeof quoted, name, strlen(name)));
	err = spread(g, &set, e);
	for (uint64_t i = 0; i < set.count && !err; i++)
		if (i != set.no)
			err = open_sibling(g, path, i, &set, lenience, e);
	return err ? err : check_total(g, &set, e);
}
