/* SPDX-License-Identifier: MIT */
/* The command line: mount(8)'s contract for helpers, and options of our own after -o. */
#ifndef FS_OPTIONS_H
#define FS_OPTIONS_H
#include "gguf.h"
#include <stdio.h>

/* Exit statuses of mount(8). */
enum { MOUNT_OK = 0, MOUNT_USAGE = 1, MOUNT_SYSTEM = 2, MOUNT_FAILED = 32 };

enum cache { CACHE_ONE, CACHE_BOTH, CACHE_BELOW };

enum { PASSED_MOST = 32 };

struct options {
	const char *source, *dir;
	const char *namespace; /* -N: where to mount, NULL: here */
	bool foreground, help, version;
	bool fake, sloppy, verbose;
	/* after -o */
	unsigned uid, gid, umask;
	enum cache cache;
	bool auto_unmount, writable, no_sandbox;
	const char *fsname, *subtype; /* NULL: not given */
	const char *passed[PASSED_MOST]; /* to libfuse, as they are */
	size_t passed_count;
	char *text; /* what the strings point into */
};

/* 0, or -EINVAL with a sentence in e. uid and gid are the caller's where not given. */
int options_parse(struct options *opt, int argc, char **argv, struct gguf_error *e);
void options_free(struct options *opt);
void options_help(FILE *f);
#endif
