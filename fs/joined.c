/* SPDX-License-Identifier: MIT */
#include "joined.h"
#include "data.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A model that needs another header: made when it is first asked for. */
struct joined {
	pthread_mutex_t lock; /* for what follows, until writer is set; fixed from then on */
	struct gguf_writer *_Atomic writer;
	const char *header;
	size_t header_size;
};

static bool passes_through(const struct gguf *g)
{
	const struct gguf_shard *s = gguf_shard(g, 0);

	return gguf_shard_count(g) == 1 && s->version == 3 && !s->big_endian;
}

int joined_new(struct joined **out, const struct gguf *g)
{
	*out = NULL;
	if (passes_through(g))
		return 0;
	*out = calloc(1, sizeof **out);
	if (!*out)
		return -ENOMEM;
	pthread_mutex_init(&(*out)->lock, NULL);
	return 0;
}

void joined_free(struct joined *j)
{
	if (!j)
		return;
	gguf_writer_free(j->writer);
	pthread_mutex_destroy(&j->lock);
	free(j);
}

/* Blocks of an unknown type cannot be turned round. */
bool joined_present(const struct mtree *t, uint64_t i)
{
	(void)i;
	for (size_t k = 0; t->joined && k < gguf_tensor_count(t->g); k++)
		if (!gguf_type_values(gguf_tensor(t->g, k)->type) &&
		    gguf_shard(t->g, gguf_tensor(t->g, k)->shard)->big_endian)
			return false;
	return true;
}

/* Keys that make a file one of a set: the whole model is none. */
static bool is_of_split(const struct gguf *g, size_t i)
{
	static const char *const names[] = { "split.no", "split.count", "split.tensors.count" };
	struct gguf_bytes name = gguf_key(g, i)->name;

	for (size_t k = 0; k < sizeof names / sizeof *names; k++)
		if (name.n == strlen(names[k]) && !memcmp(name.p, names[k], name.n))
			return true;
	return false;
}

/* All keys and tensors, but for what says that this is a part. */
static int fill(struct gguf_writer *w, const struct gguf *g)
{
	int err = 0;

	for (size_t i = 0; !err && i < gguf_key_count(g); i++)
		if (!is_of_split(g, i))
			err = gguf_writer_copy_key(w, g, i);
	for (size_t i = 0; !err && i < gguf_tensor_count(g); i++)
		err = gguf_writer_copy_tensor(w, g, i);
	return err;
}

/* With j->lock held. Sets j->writer last: from then on others read the rest without the lock. */
static int make(struct joined *j, const struct gguf *g)
{
	struct gguf_writer *w;
	const void *header;
	int err = gguf_writer_new(&w);

	if (err)
		return err;
	err = fill(w, g);
	if (!err)
		err = gguf_writer_header(w, &header, &j->header_size);
	if (err) {
		gguf_writer_free(w);
		return err;
	}
	j->header = header;
	j->writer = w;
	return 0;
}

/* The writer belongs to t. */
static int writer_of(const struct mtree *t, struct gguf_writer **w)
{
	struct joined *j = t->joined;
	int err = 0;

	if (!j->writer) {
		pthread_mutex_lock(&j->lock);
		if (!j->writer)
			err = make(j, t->g);
		pthread_mutex_unlock(&j->lock);
	}
	*w = j->writer;
	return err;
}

int joined_size(const struct mtree *t, uint64_t i, uint64_t *size)
{
	struct gguf_writer *w;
	int err;

	(void)i;
	if (!t->joined) {
		*size = gguf_shard(t->g, 0)->size;
		return 0;
	}
	err = writer_of(t, &w);
	if (!err)
		*size = gguf_writer_file_size(w);
	return err;
}

/* The last tensor that starts at or before offset; -1 where the header is. */
static ssize_t tensor_at(const struct gguf_writer *w, size_t count, uint64_t offset)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (gguf_writer_offset(w, middle) <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return (ssize_t)low - 1;
}

/* Some bytes at offset, at most n, all from one place: *got says how many. */
static int read_part(const struct mtree *t, const struct gguf_writer *w, char *buf, size_t n, uint64_t offset,
		     size_t *got)
{
	const struct joined *j = t->joined;
	ssize_t k = tensor_at(w, gguf_tensor_count(t->g), offset);
	uint64_t into, size, next;

	if (k < 0 || offset < j->header_size) {
		*got = n < j->header_size - offset ? n : j->header_size - offset;
		memcpy(buf, j->header + offset, *got);
		return 0;
	}
	into = offset - gguf_writer_offset(w, (size_t)k);
	size = gguf_writer_size(w, (size_t)k);
	if (into < size) {
		*got = n < size - into ? n : size - into;
		return data_tensor(t, (uint64_t)k, buf, *got, into);
	}
	next = (size_t)k + 1 < gguf_tensor_count(t->g) ? gguf_writer_offset(w, (size_t)k + 1)
						       : gguf_writer_file_size(w);
	*got = n < next - offset ? n : next - offset;
	memset(buf, 0, *got);
	return 0;
}

int joined_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset)
{
	struct gguf_writer *w;
	size_t done = 0, got;
	int err;

	(void)i;
	if (!t->joined)
		return data_shard(t, 0, buf, n, offset);
	err = writer_of(t, &w);
	while (!err && done < n) {
		err = read_part(t, w, (char *)buf + done, n - done, offset + done, &got);
		done += got;
	}
	return err;
}
