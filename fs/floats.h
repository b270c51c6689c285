/* SPDX-License-Identifier: MIT */
/* Tensors as plain numbers: f32, f16, bf16 and f32.npy. Only the blocks that a read covers are decoded. */
#ifndef FS_FLOATS_H
#define FS_FLOATS_H
#include "mtree.h"

/* Values first .. first+n-1 of tensor i, which must be there; 0 or -errno. */
int floats_values(const struct mtree *t, uint64_t i, float *dst, size_t n, uint64_t first);

bool floats_present(const struct mtree *t, uint64_t i);
int f32_size(const struct mtree *t, uint64_t i, uint64_t *size);
int f32_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset);
int f16_size(const struct mtree *t, uint64_t i, uint64_t *size);
int f16_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset);
int bf16_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset);
int npy_size(const struct mtree *t, uint64_t i, uint64_t *size);
int npy_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset);
#endif
