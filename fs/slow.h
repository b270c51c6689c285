/* SPDX-License-Identifier: MIT */
/*
 * A thread for reads that go through a whole tensor first: the workers are few, and one that is busy for minutes keeps
 * every other reader of the mount waiting. A read ends early, with EINTR, when its reader is interrupted, as the
 * kernel says, or has ended, which it does not say.
 */
#ifndef FS_SLOW_H
#define FS_SLOW_H
#include "ops.h"

int slow_new(struct slow **out, struct mtree *t);
void slow_free(struct slow *s); /* NULL is fine */
/* The thread: reads and replies, in the order of asking, until it is told to end. */
void slow_run(struct slow *s);
/* Ends it, also in the middle of a read. The workers have ended. */
void slow_end(struct slow *s);
/* Has a read done; -ENOMEM when it cannot be noted. */
int slow_read(struct slow *s, fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset);
#endif
