/* SPDX-License-Identifier: MIT */
/*
 * tensors/NAME/heatmap.png: rows of the tensor from the top down, averaged to at most 1024 pixels a side; blue below
 * zero, white at zero, red above, on a scale that is the same both ways; black where a value is not finite.
 * The pixels are stored, not packed, so that the size follows from the tensor's shape and costs nothing to ask for.
 */
#ifndef FS_PICTURE_H
#define FS_PICTURE_H
#include "mtree.h"

/* Keeps the picture that was read last. */
struct pictures;
int pictures_new(struct pictures **out);
void pictures_free(struct pictures *p); /* NULL is fine */

bool picture_present(const struct mtree *t, uint64_t i);
int picture_size(const struct mtree *t, uint64_t i, uint64_t *size);
int picture_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset);
#endif
