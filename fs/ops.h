/* SPDX-License-Identifier: MIT */
/* What the kernel asks, translated: each callback finds the node, calls a function of the tree and replies. */
#ifndef FS_OPS_H
#define FS_OPS_H
#define FUSE_USE_VERSION 31
#include "mtree.h"
#include <fuse_lowlevel.h>

/*
 * Bytes that the kernel reads ahead, and the most it asks for in one request. Half of the one, so that two workers fill
 * one window, and each half of a program's own 1 MiB read past the page cache, at the same time; smaller requests cost
 * more in wake-ups than they gain.
 */
enum { OPS_AHEAD = 1 << 20, OPS_REQUEST = OPS_AHEAD / 2 };

struct slow;

/* The user data of the session. */
struct ops_context {
	struct mtree *tree;
	struct slow *slow;          /* has the reads that may take minutes */
	bool bulk_direct;           /* bytes of bulk files are not kept in the mount's page cache */
	void (*ready)(void *ctx);   /* called when the kernel has said hello; the mount can be used from then on */
	void *ready_ctx;
};
extern const struct fuse_lowlevel_ops ops;

/* What a read is to be answered with, in *buf until this thread's next request. Returns its bytes or -errno. */
ssize_t ops_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, char **buf);
void ops_reply(fuse_req_t req, const char *buf, ssize_t n);

/* To be called at the end of a thread that ran callbacks. */
void ops_thread_end(void);
#endif
