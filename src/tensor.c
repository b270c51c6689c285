/* SPDX-License-Identifier: MIT */
#include "model.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t gguf_tensor_count(const struct gguf *g)
{
	return g->tensor_count;
}

const struct gguf_tensor *gguf_tensor(const struct gguf *g, size_t i)
{
	return i < g->tensor_count ? &g->tensors[i] : NULL;
}

ssize_t gguf_find_tensor(const struct gguf *g, const char *name, size_t n)
{
	return names_find(&g->tensor_names, name, n);
}

size_t gguf_shard_count(const struct gguf *g)
{
	return g->file_count;
}

const struct gguf_shard *gguf_shard(const struct gguf *g, size_t i)
{
	return i < g->file_count ? &g->files[i].about : NULL;
}

int gguf_shard_read(const struct gguf *g, size_t i, void *buf, size_t n, uint64_t offset)
{
	return i < g->file_count ? input_read(&g->files[i].input, buf, n, offset) : -ERANGE;
}

/*
 * The part of a big-endian tensor that lies within one piece of whole blocks: [offset, offset + n) of the tensor,
 * from a scratch buffer that starts at a block. Returns the bytes taken, or a negative errno.
 */
static ssize_t read_turned(const struct input *s, const struct gguf_tensor *t, uint8_t *scratch, size_t room,
			   void *buf, size_t n, uint64_t offset)
{
	size_t block = gguf_type_bytes(t->type), skip = (size_t)(offset % block);
	uint64_t start = offset - skip;
	size_t whole = room / block * block;
	int err;

	if (whole > t->size - start)
		whole = (size_t)(t->size - start);
	err = input_read(s, scratch, whole, t->offset + start);
	if (!err)
		err = swap_blocks(t->type, scratch, whole / block);
	if (err)
		return err;
	if (n > whole - skip)
		n = whole - skip;
	memcpy(buf, scratch + skip, n);
	return (ssize_t)n;
}

static int read_big_endian(const struct input *s, const struct gguf_tensor *t, void *buf, size_t n, uint64_t offset)
{
	size_t block = gguf_type_bytes(t->type), room = 64 << 10;
	uint8_t *scratch;
	int err = block ? swap_blocks(t->type, NULL, 0) : -ENOTSUP;

	if (err)
		return err;
	if (n < room - 2 * block)
		room = n + 2 * block;
	scratch = malloc(room);
	if (!scratch)
		return -ENOMEM;
	for (size_t done = 0; done < n && !err;) {
		ssize_t got = read_turned(s, t, scratch, room, (char *)buf + done, n - done, offset + done);

		if (got < 0)
			err = (int)got;
		else
			done += (size_t)got;
	}
	free(scratch);
	return err;
}

int gguf_tensor_read(const struct gguf *g, size_t i, void *buf, size_t n, uint64_t offset)
{
	const struct gguf_tensor *t = gguf_tensor(g, i);
	const struct file *f;

	if (!t || offset > t->size || n > t->size - offset)
		return -ERANGE;
	f = &g->files[t->shard];
	if (f->about.big_endian)
		return read_big_endian(&f->input, t, buf, n, offset);
	return input_read(&f->input, buf, n, t->offset + offset);
}
