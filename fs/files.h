/* SPDX-License-Identifier: MIT */
/*
 * The table of files: one row for each file of the tree, or for each kind where there is one per key, tensor or layer.
 * A row says where it lies, what it is called and how its bytes are made. Rows are the lower bits of inode numbers, so
 * new ones go to the end.
 */
#ifndef FS_FILES_H
#define FS_FILES_H
#include "name.h"
#include "out.h"
#include "text.h"
#include <sys/stat.h>

struct mtree;

/* Rows that others refer to. Row 0 is none; the root is inode 1. */
enum row {
	ROW_NONE, ROW_ROOT, ROW_METADATA, ROW_TENSORS, ROW_LAYERS, /* directories */
	ROW_SCALAR, ROW_ARRAY, ROW_TENSOR, ROW_LAYER, ROW_LINK,    /* one per item */
	ROW_RAW,
	ROW_MORE
};

/* What may be kept of a file, in the kernel and beside it. */
enum caching {
	CACHE_FIXED, /* never changes while mounted: attributes and bytes are kept for ever */
	CACHE_BULK,  /* as fixed; its bytes are as many as the model's, so -o cache= says where they are kept */
};

/* The items that a row has one file for. Item numbers are those of the model's file. */
struct items {
	uint64_t (*total)(const struct mtree *t);
	/* How many are in directory number dir, and the k-th of them. */
	uint64_t (*count)(const struct mtree *t, uint64_t dir);
	uint64_t (*nth)(const struct mtree *t, uint64_t dir, uint64_t k);
	size_t (*name)(const struct mtree *t, uint64_t i, char out[NAME_SIZE]);
	/* The item of that exact name in directory number dir, or -ENOENT. */
	ssize_t (*find)(const struct mtree *t, uint64_t dir, struct gguf_bytes exact);
};

/*
 * A row. i is the number of its item, 0 where there is but one file. The bytes come from one of three: print puts the
 * whole of a short file (or a link's target), step makes a long text piecewise, size and read serve any offset.
 */
struct file {
	const char *name;          /* NULL: named after its item */
	enum row where;            /* the directory it lies in */
	mode_t type;               /* 0: a regular file */
	enum caching caching;
	bool slow;                 /* any read may go through the whole tensor; it ends early when the mount does */
	const struct items *items; /* NULL: one, or one for each item of where */
	bool (*present)(const struct mtree *t, uint64_t i); /* NULL: always */
	int (*print)(const struct mtree *t, uint64_t i, struct out *o);
	text_step *step;
	int (*size)(const struct mtree *t, uint64_t i, uint64_t *size);
	/* n bytes, which lie within the size; 0 or -errno */
	int (*read)(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset);
};
extern const struct file files[];
extern const size_t file_count;
/* How many item numbers a row has. */
uint64_t file_total(const struct mtree *t, const struct file *f);
#endif
