/* SPDX-License-Identifier: MIT */
/*
 * tensors/NAME/stats: what the values of a tensor are like. Its size is the same for every tensor, so that looking at
 * it costs nothing; the first read runs through the tensor twice, and what it found is kept.
 */
#ifndef FS_STATS_H
#define FS_STATS_H
#include "out.h"

struct mtree;
struct stats_cache;
int stats_cache_new(struct stats_cache **out, size_t tensors);
void stats_cache_free(struct stats_cache *c); /* NULL is fine */

int stats_size(const struct mtree *t, uint64_t i, uint64_t *size);
int stats_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset);
#endif
