/* SPDX-License-Identifier: MIT */
/*
 * The tree as data: inode numbers, names, attributes, bytes. A number is a row of the table of files and the number of
 * an item, so that nothing needs to be remembered of what was looked up, and a file has the same number in each mount.
 */
#ifndef FS_NODE_H
#define FS_NODE_H
#include "files.h"
#include "mtree.h"

enum { NODE_ROOT = 1 };

struct node {
	const struct file *file;
	enum row row;
	uint64_t i;
};
/* -ENOENT for a number that no file has. */
int node_of(const struct mtree *t, uint64_t ino, struct node *node);
uint64_t node_ino(enum row row, uint64_t i);

/* Sizes a long text on first use. */
int node_stat(struct mtree *t, uint64_t ino, struct stat *st);
/* Whether node_stat would have to make the text first. */
bool node_is_costly(const struct mtree *t, uint64_t ino);
/* Whether reading it may take as long as reading its whole tensor. */
bool node_is_slow(const struct mtree *t, uint64_t ino);
/* The file called name in directory dir. */
int node_lookup(const struct mtree *t, uint64_t dir, const char *name, size_t n, uint64_t *ino);

struct node_entry {
	uint64_t ino;
	mode_t type;
	uint64_t next; /* cookie of the entry after this one */
	char name[NAME_SIZE];
};
/* The entry of directory dir at cookie, which is 0 or a next. Returns 1, 0 at the end, or -errno. */
int node_entry(const struct mtree *t, uint64_t dir, uint64_t cookie, struct node_entry *e);

/* Up to n bytes from offset, fewer only at the end. Of a link: its target. */
ssize_t node_read(struct mtree *t, uint64_t ino, void *buf, size_t n, uint64_t offset);
#endif
