/* SPDX-License-Identifier: MIT */
/* The bytes of tensors. All reads of the model's files go through here. */
#ifndef FS_DATA_H
#define FS_DATA_H
#include "mtree.h"

/*
 * n bytes of tensor i's blocks, little-endian, from offset within it; 0 or -errno. Readers of other forms use it too.
 */
int data_tensor(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset);
/* n bytes of a shard's file as they lie there. */
int data_shard(const struct mtree *t, size_t shard, void *buf, size_t n, uint64_t offset);

int raw_size(const struct mtree *t, uint64_t i, uint64_t *size);
int raw_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset);
#endif
