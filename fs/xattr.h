/* SPDX-License-Identifier: MIT */
/* Extended attributes: exact names, types of values, where bytes lie in the file below. */
#ifndef FS_XATTR_H
#define FS_XATTR_H
#include "out.h"

struct mtree;
/* Puts the value. -ENODATA for a file without it, -EOPNOTSUPP for a name that no file here has. */
int xattr_get(const struct mtree *t, uint64_t ino, const char *name, struct out *o);
/* Puts the names of those that a file has, each with its NUL. */
int xattr_list(const struct mtree *t, uint64_t ino, struct out *o);
#endif
