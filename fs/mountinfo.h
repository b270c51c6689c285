/* SPDX-License-Identifier: MIT */
/* Asks the kernel what is mounted, and not the file system, whose daemon may not answer, or be dead. */
#ifndef FS_MOUNTINFO_H
#define FS_MOUNTINFO_H
struct mountinfo {
	char device[32]; /* its number, "0:42" */
	char type[64];   /* "fuse.gguf"; a longer one is cut */
};
/* What is mounted on dir last, that is, on top; dir is a path without links. -ENOENT when nothing is, or -errno. */
int mountinfo_find(const char *dir, struct mountinfo *m);
#endif
