/* SPDX-License-Identifier: MIT */
/*
 * One copy in memory: what a mount read from the model's files is in the mount's own page cache, so it is dropped from
 * that of the files. Only what was not there before the mount read it; and some way behind the readers, since bytes
 * are cached in pieces of up to 2 MiB, and read ahead.
 */
#ifndef FS_DROPCACHE_H
#define FS_DROPCACHE_H
#include "gguf.h"

enum { CACHESTAT_CALL = 451 }; /* cachestat(2) on every architecture; C libraries and libseccomp know it only of late */

struct dropcache;
int dropcache_new(struct dropcache **out, const struct gguf *g);
void dropcache_free(struct dropcache *d); /* NULL is fine, here and below */

/* To be called before each read of n bytes of a shard at offset. */
void dropcache_note(struct dropcache *d, size_t shard, uint64_t offset, size_t n);
#endif
