/* SPDX-License-Identifier: MIT */
#include "error.h"
#include "identify.h"
#include "model.h"
#include "split.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void gguf_close(struct gguf *g)
{
	if (!g)
		return;
	for (size_t i = 0; g->indexes && i < g->files[0].key_count; i++)
		free(g->indexes[i]);
	free(g->indexes);
	names_free(&g->tensor_names);
	if (g->file_count > 1)
		free(g->tensors);
	for (size_t i = 0; i < g->file_count; i++)
		file_free(&g->files[i]);
	free(g->files);
	free(g);
}

/* All tensors in one table; of a single file its own. */
static int join_tensors(struct gguf *g)
{
	size_t total = 0;

	for (size_t i = 0; i < g->file_count; i++)
		total += g->files[i].tensor_count;
	g->tensor_count = total;
	if (g->file_count == 1) {
		g->tensors = g->files[0].tensors;
		return 0;
	}
	g->tensors = calloc(total ? total : 1, sizeof *g->tensors);
	if (!g->tensors)
		return -ENOMEM;
	total = 0;
	for (size_t i = 0; i < g->file_count; i++) {
		struct file *f = &g->files[i];

		for (size_t k = 0; k < f->tensor_count; k++) {
			f->tensors[k].shard = (uint32_t)i;
			g->tensors[total++] = f->tensors[k];
		}
		free(f->tensors);
		f->tensors = NULL;
		names_free(&f->tensor_names);
	}
	return 0;
}

/* Of a single file they are indexed as they were read. */
static int index_tensors(struct gguf *g, struct gguf_error *e)
{
	size_t twins[2];
	int err;

	if (g->file_count == 1) {
		g->tensor_names = g->files[0].tensor_names;
		g->files[0].tensor_names = (struct names){ 0 };
		return 0;
	}
	err = names_build(&g->tensor_names, g->tensors, sizeof *g->tensors, g->tensor_count, twins);
	if (err != -EEXIST)
		return err ? gguf_fail(e, err, 0, "out of memory for %zu tensors", g->tensor_count) : 0;
	return fail_twins(&g->files[g->tensors[twins[1]].shard], g->tensors, twins, e);
}

static int finish(struct gguf *g, struct gguf_error *e)
{
	int err = join_tensors(g);

	if (err)
		return gguf_fail(e, err, 0, "out of memory for %zu tensors", g->tensor_count);
	g->indexes = calloc(g->files[0].key_count + 1, sizeof *g->indexes);
	if (!g->indexes)
		return gguf_fail(e, -ENOMEM, 0, "out of memory for %zu keys", g->files[0].key_count);
	return index_tensors(g, e);
}

static struct gguf *new_model(struct gguf_error *e)
{
	struct gguf *g = calloc(1, sizeof *g);

	if (g)
		g->files = calloc(1, sizeof *g->files);
	if (g && g->files) {
		g->file_count = 1;
		g->files[0].input.fd = -1;
		return g;
	}
	free(g);
	gguf_fail(e, -ENOMEM, 0, "out of memory");
	return NULL;
}

/* Hands the model out, or takes it apart. */
static int deliver(struct gguf **out, struct gguf *g, int err)
{
	if (err)
		gguf_close(g);
	else
		*out = g;
	return err;
}

static int open_source(struct gguf **out, const struct input *s, struct gguf_error *e)
{
	struct gguf *g = new_model(e);
	int err;

	if (!g)
		return -ENOMEM;
	g->files[0].input = *s;
	err = file_parse(&g->files[0], 0, e);
	return deliver(out, g, err ? err : finish(g, e));
}

int gguf_open_memory(struct gguf **out, const void *bytes, size_t size, struct gguf_error *e)
{
	struct input s;

	input_memory(&s, bytes, size);
	return open_source(out, &s, e);
}

int gguf_open_reader(struct gguf **out, const struct gguf_reader *r, struct gguf_error *e)
{
	struct input s;

	input_reader(&s, r);
	return open_source(out, &s, e);
}

/* A piece of a cut file fails somewhere; its name tells why. */
static int explain_piece(const char *path, int err, struct gguf_error *e)
{
	struct gguf_error was;

	if (!e || (err != -EINVAL && err != -EPROTONOSUPPORT) || !gguf_is_piece(path))
		return err;
	was = *e;
	return gguf_fail(e, err, was.offset,
			 "a piece of a file that was cut in plain parts, by its name: join them with cat (%.120s)",
			 was.text);
}

int file_open(struct file *f, const char *path, unsigned lenience, struct gguf_error *e)
{
	int err = input_open(&f->input, path, e);

	if (err) {
		f->input.fd = -1;
		return err;
	}
	f->path = strdup(path);
	if (!f->path)
		return gguf_fail(e, -ENOMEM, 0, "out of memory");
	err = file_parse(f, lenience, e);
	return err ? explain_piece(path, err, e) : 0;
}

int gguf_open_with(struct gguf **out, const char *path, unsigned lenience, struct gguf_error *e)
{
	struct gguf *g = new_model(e);
	int err;

	if (!g)
		return -ENOMEM;
	err = file_open(&g->files[0], path, lenience, e);
	if (!err && !(lenience & GGUF_OPEN_ALONE))
		err = split_complete(g, lenience, e);
	return deliver(out, g, err ? err : finish(g, e));
}

int gguf_open(struct gguf **out, const char *path, struct gguf_error *e)
{
	return gguf_open_with(out, path, 0, e);
}
