/* SPDX-License-Identifier: MIT */
/* A source that is a directory, as its parts see it: tree.c opens, reads values and maps; treelist.c lists the weights. */
#ifndef TREEDIR_H
#define TREEDIR_H
#include "backend.h"
#include "treetable.h"
#include "treeval.h"
#include <sys/stat.h>

/* A part of the tree that stays mapped: raw of one tensor, or a model file that stands behind many. */
struct piece {
	struct piece *next;
	char *path; /* NULL: raw */
	struct stat st;
	const char *p;
	size_t n;
};

struct blob {
	struct blob *next;
	size_t n;
	char text[];
};

struct tree {
	int dir, tensors;
	char **keys;  /* file names in metadata/, sorted */
	char **names; /* file names in tensors/, sorted */
	char **exact; /* what they stand for */
	size_t n_keys, n_names;
	struct table table; /* tensors.tsv, empty where it is not there or not right */
	struct timespec table_time; /* when it was changed last */
	struct piece *pieces;
	struct blob *blobs; /* texts that strings handed out lie in */
};

/* The whole file at/name, terminated, kept for the life of the tree. 0 or -errno. */
int tree_read_text(struct tree *t, int at, const char *name, struct blob **out);
/* What its error means. */
const char *tree_text_error(int err);
/* Forgets the text that was read last. */
void tree_drop_newest(struct tree *t);
/* The list function of the backend. */
int tree_list(void *impl, struct weight **w, size_t *n, struct gguf_error *e);
#endif
