/* SPDX-License-Identifier: MIT */
/* The weights of a directory: names, types, shapes, sizes. */
#include "treedir.h"
#include "error.h"
#include "tree.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

static int tensor_text(struct tree *t, const char *name, const char *what, struct blob **b, struct gguf_error *e)
{
	char path[NAME_ROOM + 16];
	int err;

	snprintf(path, sizeof(path), "%s/%s", name, what);
	err = tree_read_text(t, t->tensors, path, b);
	return err ? gguf_fail(e, err, 0, "%s/%s: %s", TREE_TENSORS, path, tree_text_error(err)) : 0;
}

/* What the attribute of a tensor's raw says its name is; NULL without one. */
static char *attribute_name(const struct tree *t, const char *file)
{
	char path[NAME_ROOM + 64], name[NAME_ROOM * 16];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s/" TREE_RAW, t->tensors, file);
	n = getxattr(path, TREE_XATTR_NAME, name, sizeof(name));
	return n > 0 ? strndup(name, (size_t)n) : NULL;
}

/* The name that a directory stands for: its attribute or the table where it was cut, else what its escapes say. */
static char *exact_name(const struct tree *t, const char *file)
{
	const struct weight *row = strstr(file, "%~") ? table_find_cut(&t->table, file) : NULL;
	char *name = strstr(file, "%~") ? attribute_name(t, file) : NULL;

	if (!name && row)
		name = strndup(row->name.p, row->name.n);
	if (!name && (name = malloc(strlen(file) + 1)))
		text_unescape_name(name, file);
	return name;
}

static int raw_size(struct tree *t, const char *name, uint64_t *size, struct gguf_error *e)
{
	char path[NAME_ROOM + 16];
	struct stat st;

	snprintf(path, sizeof(path), "%s/" TREE_RAW, name);
	if (fstatat(t->tensors, path, &st, 0) < 0)
		return gguf_fail(e, -errno, 0, "%s/%s: %s", TREE_TENSORS, path, strerror(errno));
	*size = (uint64_t)st.st_size;
	return 0;
}

/* Reads tensors.tsv. One that is missing or wrong is as good as none: everything it says is in the tree too. */
static void read_table(struct tree *t)
{
	struct blob *b;
	struct stat st;

	if (fstatat(t->dir, TREE_TENSORS_TSV, &st, 0) < 0 || tree_read_text(t, t->dir, TREE_TENSORS_TSV, &b))
		return;
	t->table_time = st.st_mtim;
	if (table_read(&t->table, b->text, b->n))
		tree_drop_newest(t);
}

static bool is_older(const struct tree *t, const char *name, const char *what)
{
	char path[NAME_ROOM + 16];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", name, what);
	if (fstatat(t->tensors, path, &st, 0) < 0 || !S_ISREG(st.st_mode) || st.st_mtim.tv_sec > t->table_time.tv_sec)
		return false;
	return st.st_mtim.tv_sec < t->table_time.tv_sec || st.st_mtim.tv_nsec <= t->table_time.tv_nsec;
}

/* Takes type and shape of w, whose name is known, from the table, when that has the tensor and what it says cannot be out of date. */
static bool describe_by_table(struct tree *t, const char *name, struct weight *w)
{
	const struct weight *row = table_find(&t->table, w->name.p);
	struct gguf_bytes keep = w->name;
	uint64_t size;

	if (!row || !text_size_fits(row) || !is_older(t, name, TREE_TYPE) || !is_older(t, name, TREE_SHAPE) ||
	    raw_size(t, name, &size, NULL) || size != row->size)
		return false;
	*w = *row;
	w->name = keep;
	return true;
}

static int describe(struct tree *t, const char *name, struct weight *w, struct gguf_error *e)
{
	struct blob *b;
	int err;

	if (describe_by_table(t, name, w))
		return 0;
	err = tensor_text(t, name, TREE_TYPE, &b, e);

	if (err)
		return err;
	err = text_type(b->text, &w->type);
	tree_drop_newest(t);
	if (err)
		return gguf_fail(e, err, 0, "%s/%s/%s: no type of that name", TREE_TENSORS, name, TREE_TYPE);
	err = tensor_text(t, name, TREE_SHAPE, &b, e);
	if (err)
		return err;
	err = text_shape(b->text, w);
	tree_drop_newest(t);
	if (err)
		return gguf_fail(e, err, 0, "%s/%s/%s: not up to four numbers", TREE_TENSORS, name, TREE_SHAPE);
	err = raw_size(t, name, &w->size, e);
	if (!err && !text_size_fits(w))
		err = gguf_fail(e, -EINVAL, 0, "%s/%s/%s: its %llu bytes are not what type and shape ask for",
				TREE_TENSORS, name, TREE_RAW, (unsigned long long)w->size);
	return err;
}

int tree_list(void *impl, struct weight **w, size_t *n, struct gguf_error *e)
{
	struct tree *t = impl;
	int err = 0;

	*n = t->n_names;
	*w = calloc(*n + 1, sizeof(**w));
	t->exact = calloc(*n + 1, sizeof(char *));
	if (!*w || !t->exact)
		return gguf_fail(e, -ENOMEM, 0, "out of memory for %zu tensors", *n);
	read_table(t);
	for (size_t i = 0; i < *n && !err; i++) {
		t->exact[i] = exact_name(t, t->names[i]);
		if (!t->exact[i])
			return gguf_fail(e, -ENOMEM, 0, "out of memory for %zu tensors", *n);
		(*w)[i].name = (struct gguf_bytes){ t->exact[i], strlen(t->exact[i]) };
		err = describe(t, t->names[i], &(*w)[i], e);
	}
	return err;
}
