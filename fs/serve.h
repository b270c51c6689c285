/* SPDX-License-Identifier: MIT */
/* The daemon from mount to unmount. */
#ifndef FS_SERVE_H
#define FS_SERVE_H
#include "options.h"

/*
 * Mounts the model g on directory dir and serves until it is unmounted. ready is called once, when the mount can be
 * used. says is told of things that a user who asks for words may want to know, and of what libfuse complains about.
 * Returns 0, or -errno with a sentence in e when it could not be mounted.
 */
struct serve {
	const struct gguf *g;
	const struct options *opt;
	const char *dir;
	bool (*ready)(void *ctx); /* false: nobody waits for the mount any more, and it goes again */
	void *ready_ctx;
	void (*says)(const char *line);
};
int serve(const struct serve *s, struct gguf_error *e);
#endif
