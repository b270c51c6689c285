/* SPDX-License-Identifier: MIT */
#include "data.h"
#include "dropcache.h"

int data_tensor(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset)
{
	const struct gguf_tensor *tensor = gguf_tensor(t->g, i);

	dropcache_note(t->dropcache, tensor->shard, tensor->offset + offset, n);
	return gguf_tensor_read(t->g, i, buf, n, offset);
}

int data_shard(const struct mtree *t, size_t shard, void *buf, size_t n, uint64_t offset)
{
	dropcache_note(t->dropcache, shard, offset, n);
	return gguf_shard_read(t->g, shard, buf, n, offset);
}

int raw_size(const struct mtree *t, uint64_t i, uint64_t *size)
{
	*size = gguf_tensor(t->g, i)->size;
	return 0;
}

int raw_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset)
{
	return data_tensor(t, i, buf, n, offset);
}
