/* SPDX-License-Identifier: MIT */
/* Keys, tensors, layers and the tensors of a layer, as the items of directories. */
#include "items.h"
#include "number.h"
#include "mtree.h"
#include <errno.h>
#include <string.h>

/* Where every item is in the one directory: the k-th of them is number k. */
static uint64_t itself(const struct mtree *t, uint64_t dir, uint64_t k)
{
	(void)t;
	(void)dir;
	return k;
}

static uint64_t key_total(const struct mtree *t)
{
	return gguf_key_count(t->g);
}

static uint64_t key_count(const struct mtree *t, uint64_t dir)
{
	(void)dir;
	return key_total(t);
}

static size_t key_name(const struct mtree *t, uint64_t i, char out[NAME_SIZE])
{
	return name_encode(out, gguf_key(t->g, i)->name, i);
}

static ssize_t key_find(const struct mtree *t, uint64_t dir, struct gguf_bytes exact)
{
	(void)dir;
	return gguf_find_key(t->g, exact.p, exact.n);
}

const struct items items_keys = { key_total, key_count, itself, key_name, key_find };

static uint64_t tensor_total(const struct mtree *t)
{
	return gguf_tensor_count(t->g);
}

static uint64_t tensor_count(const struct mtree *t, uint64_t dir)
{
	(void)dir;
	return tensor_total(t);
}

static size_t tensor_name(const struct mtree *t, uint64_t i, char out[NAME_SIZE])
{
	return name_encode(out, gguf_tensor(t->g, i)->name, i);
}

static ssize_t tensor_find(const struct mtree *t, uint64_t dir, struct gguf_bytes exact)
{
	(void)dir;
	return gguf_find_tensor(t->g, exact.p, exact.n);
}

const struct items items_tensors = { tensor_total, tensor_count, itself, tensor_name, tensor_find };

static uint64_t layer_total(const struct mtree *t)
{
	return t->layers.count;
}

static uint64_t layer_count(const struct mtree *t, uint64_t dir)
{
	(void)dir;
	return layer_total(t);
}

static size_t layer_name(const struct mtree *t, uint64_t i, char out[NAME_SIZE])
{
	size_t n = number_u64(out, t->layers.layers[i].number);

	out[n] = '\0';
	return n;
}

/* By number, so that "07" finds nothing: names are exact. */
static ssize_t layer_find(const struct mtree *t, uint64_t dir, struct gguf_bytes exact)
{
	uint64_t number;

	(void)dir;
	return layer_number(exact, &number) ? layers_find(&t->layers, number) : -ENOENT;
}

const struct items items_layers = { layer_total, layer_count, itself, layer_name, layer_find };

/* The files of a layer are numbered like the tensors: not every number is taken. */
static uint64_t link_count(const struct mtree *t, uint64_t dir)
{
	return t->layers.layers[dir].count;
}

static uint64_t link_nth(const struct mtree *t, uint64_t dir, uint64_t k)
{
	return t->layers.members[t->layers.layers[dir].first + k];
}

static size_t link_name(const struct mtree *t, uint64_t i, char out[NAME_SIZE])
{
	struct gguf_bytes rest = { 0 };
	uint64_t number;

	layer_split(gguf_tensor(t->g, i)->name, &number, &rest);
	return name_encode(out, rest, i);
}

/* By the tensor's whole name, put together again. It has room: what a file name stands for is at most 255 bytes. */
static ssize_t link_find(const struct mtree *t, uint64_t dir, struct gguf_bytes exact)
{
	char name[NAME_SIZE + 24] = "blk.";
	size_t n = 4 + number_u64(name + 4, t->layers.layers[dir].number);

	name[n++] = '.';
	memcpy(name + n, exact.p, exact.n);
	return gguf_find_tensor(t->g, name, n + exact.n);
}

const struct items items_links = { tensor_total, link_count, link_nth, link_name, link_find };
