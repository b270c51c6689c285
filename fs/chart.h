/* SPDX-License-Identifier: MIT */
/* types.svg: the bytes of the model by layer and tensor type, a bar for each layer. */
#ifndef FS_CHART_H
#define FS_CHART_H
#include "out.h"

struct mtree;
/* Not of a model with more layers than one can look at. */
bool chart_present(const struct mtree *t, uint64_t i);
int chart_print(const struct mtree *t, uint64_t i, struct out *o);
#endif
