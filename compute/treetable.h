/* SPDX-License-Identifier: MIT */
/* tensors.tsv of a tree: names, types, shapes and sizes of all tensors in one file, in the model's order. */
#ifndef TREETABLE_H
#define TREETABLE_H
#include "source.h"

struct table {
	struct weight *row; /* without data; names lie in the text */
	size_t n;
	const struct weight **sorted; /* by name */
};

/*
 * Takes n bytes of text apart, which must stay; escapes in names are resolved in place. -EINVAL for what is no such
 * table, or has a name twice; -ENOMEM. Then *t is empty.
 */
int table_read(struct table *t, char *text, size_t n);
void table_free(struct table *t);
/* The row of that name, or NULL. */
const struct weight *table_find(const struct table *t, const char *name);
/* The row that a cut file name ("BEGINNING%~NUMBER") stands for, or NULL. */
const struct weight *table_find_cut(const struct table *t, const char *file);
#endif
