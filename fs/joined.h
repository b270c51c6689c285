/* SPDX-License-Identifier: MIT */
/*
 * model.gguf: the whole model as one GGUF version 3 little-endian file. A file that is one already is passed through.
 */
#ifndef FS_JOINED_H
#define FS_JOINED_H
#include "mtree.h"

/* *out is NULL for a model that needs no other header than its own. */
int joined_new(struct joined **out, const struct gguf *g);
void joined_free(struct joined *j); /* NULL is fine */

/* False where no such file can be made: a tensor of an unknown type has no size of its own in another file. */
bool joined_present(const struct mtree *t, uint64_t i);
int joined_size(const struct mtree *t, uint64_t i, uint64_t *size);
int joined_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset);
#endif
