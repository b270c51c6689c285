/* SPDX-License-Identifier: MIT */
/* Files that describe: README, info, tensors.tsv, and a tensor's type and shape. */
#ifndef FS_ABOUT_H
#define FS_ABOUT_H
#include "files.h"

int readme_print(const struct mtree *t, uint64_t i, struct out *o);
int info_print(const struct mtree *t, uint64_t i, struct out *o);
int type_print(const struct mtree *t, uint64_t i, struct out *o);
int shape_print(const struct mtree *t, uint64_t i, struct out *o);
text_step tsv_step;
#endif
