/* SPDX-License-Identifier: MIT */
/* A model as a tree of files: what a mount holds in memory besides the model's header. */
#ifndef FS_MTREE_H
#define FS_MTREE_H
#include "gguf.h"
#include "layer.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

struct text;
struct joined;
struct dropcache;
struct stats_cache;
struct pictures;

struct mtree_options {
	uid_t uid;
	gid_t gid;
	mode_t umask;
	bool keep_below; /* leave what reading brought into the page cache of the model's files */
};

struct mtree {
	const struct gguf *g;
	struct mtree_options opt;
	struct timespec mtime; /* the model file's */
	struct layers layers;
	struct joined *joined;       /* model.gguf where it is not the file itself, else NULL */
	struct dropcache *dropcache; /* NULL with keep_below */
	struct stats_cache *stats;
	struct pictures *pictures;
	/*
	 * Asked between the pieces of a slow read: whether nobody waits for it any more, and it ends with -EINTR. NULL:
	 * never.
	 */
	bool (*stops)(void *ctx);
	void *stops_ctx;
	atomic_uint_fast64_t nodes;  /* files, directories and links in all; 0: not counted yet */
	struct text *_Atomic **texts; /* per row with a step, per item: made when its size is first asked for */
	pthread_mutex_t making;      /* held while one of them is made */
};

/* g must outlive the tree. opt is copied. */
int mtree_new(struct mtree **out, const struct gguf *g, const struct mtree_options *opt);
void mtree_free(struct mtree *t); /* NULL is fine */
bool mtree_stops(const struct mtree *t);
/* Counts the tree on first use. */
void mtree_statvfs(struct mtree *t, struct statvfs *st);
#endif
