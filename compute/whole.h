/* SPDX-License-Identifier: MIT */
/* Files that appear under their name whole, or not at all: written beside it, synced, then renamed. */
#ifndef WHOLE_H
#define WHOLE_H
#include <stdbool.h>
#include <stdio.h>

struct whole {
	FILE *f;
	char *path, *beside; /* NULL: not a regular file, so written in place */
};

/*
 * 0 or -errno. A link is followed: what it leads to is replaced. What a name of a descriptor leads to is not: /dev/stdout
 * and /dev/stderr are written on from where they stand, /dev/fd/N from its end.
 */
int whole_open(struct whole *w, const char *path);
/* Ends the file; with keep it takes its name, else it is gone. 0 or -errno. Does nothing without an open file. */
int whole_close(struct whole *w, bool keep);
/* For a handler of a signal that ends the program: the file that is being written, if any, is gone. */
void whole_abandon(void);
#endif
