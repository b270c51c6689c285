/* SPDX-License-Identifier: MIT */
#include "xattr.h"
#include "node.h"
#include "tree.h"
#include <errno.h>
#include <string.h>

static int key_name(const struct mtree *t, uint64_t i, struct out *o)
{
	out_put(o, gguf_key(t->g, i)->name.p, gguf_key(t->g, i)->name.n);
	return 0;
}

static int key_type(const struct mtree *t, uint64_t i, struct out *o)
{
	const struct gguf_key *k = gguf_key(t->g, i);

	out_string(o, gguf_value_type_name(k->type));
	if (k->type == GGUF_ARRAY)
		out_printf(o, "[%s]", gguf_value_type_name(k->item));
	return 0;
}

static int tensor_name(const struct mtree *t, uint64_t i, struct out *o)
{
	out_put(o, gguf_tensor(t->g, i)->name.p, gguf_tensor(t->g, i)->name.n);
	return 0;
}

/* Bytes of a big-endian file are turned round in raw, so that no place in the file has them. */
static int tensor_location(const struct mtree *t, uint64_t i, struct out *o)
{
	const struct gguf_tensor *tensor = gguf_tensor(t->g, i);
	const struct gguf_shard *s = gguf_shard(t->g, tensor->shard);

	if (!s->path || s->big_endian)
		return -ENODATA;
	out_string(o, s->path);
	out_printf(o, "\t%llu\t%llu", (unsigned long long)tensor->offset, (unsigned long long)tensor->size);
	return 0;
}

/* One row for each attribute of each kind of file. get puts the value; -ENODATA where this file has none. */
static const struct xattr {
	const char *name;
	enum row row;
	int (*get)(const struct mtree *t, uint64_t i, struct out *o);
} xattrs[] = {
	{ TREE_XATTR_NAME, ROW_SCALAR, key_name },
	{ TREE_XATTR_NAME, ROW_ARRAY, key_name },
	{ TREE_XATTR_NAME, ROW_TENSOR, tensor_name },
	{ TREE_XATTR_TYPE, ROW_SCALAR, key_type },
	{ TREE_XATTR_TYPE, ROW_ARRAY, key_type },
	{ TREE_XATTR_LOCATION, ROW_RAW, tensor_location },
};
enum { XATTRS = sizeof xattrs / sizeof *xattrs };

int xattr_get(const struct mtree *t, uint64_t ino, const char *name, struct out *o)
{
	struct node n;
	int err = node_of(t, ino, &n);

	if (err)
		return err;
	for (const struct xattr *x = xattrs; x < xattrs + XATTRS; x++)
		if (x->row == n.row && !strcmp(x->name, name))
			return x->get(t, n.i, o);
	/* "not supported" keeps ls from asking each file for security labels and access lists */
	return strncmp(name, "user.", 5) ? -EOPNOTSUPP : -ENODATA;
}

int xattr_list(const struct mtree *t, uint64_t ino, struct out *o)
{
	struct node n;
	int err = node_of(t, ino, &n);

	for (const struct xattr *x = xattrs; !err && x < xattrs + XATTRS; x++) {
		struct out none = { 0 };

		if (x->row == n.row && !x->get(t, n.i, &none))
			out_put(o, x->name, strlen(x->name) + 1);
	}
	return err;
}
