/* SPDX-License-Identifier: MIT */
/*
 * A file system with one file that goes bad: eio_fs FILE BAD FROM DIR. DIR/model.gguf has the bytes of FILE; while BAD
 * exists, reads that reach byte FROM or beyond it fail with EIO, as of a disk that has gone bad there.
 */
#define FUSE_USE_VERSION 35
#include "config.h"
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int file;
static const char *bad;
static off_t from;

static int eio_getattr(const char *path, struct stat *st, struct fuse_file_info *fi)
{
	(void)fi;
	if (!strcmp(path, "/")) {
		*st = (struct stat){ .st_mode = S_IFDIR | 0755, .st_nlink = 2 };
		return 0;
	}
	if (strcmp(path, "/model.gguf"))
		return -ENOENT;
	return fstat(file, st) ? -errno : 0;
}

static int eio_readdir(const char *path, void *buf, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *fi,
		       enum fuse_readdir_flags flags)
{
	(void)path;
	(void)offset;
	(void)fi;
	(void)flags;
	return fill(buf, "model.gguf", NULL, 0, 0) ? -ENOMEM : 0;
}

/* Past the kernel's cache, so that what was read once can fail the next time. */
static int eio_open(const char *path, struct fuse_file_info *fi)
{
	fi->direct_io = 1;
	return strcmp(path, "/model.gguf") ? -ENOENT : 0;
}

static int eio_read(const char *path, char *buf, size_t n, off_t offset, struct fuse_file_info *fi)
{
	ssize_t got;

	(void)path;
	(void)fi;
	if (offset + (off_t)n > from && !access(bad, F_OK))
		return -EIO;
	got = pread(file, buf, n, offset);
	return got < 0 ? -errno : (int)got;
}

static const struct fuse_operations operations = {
	.getattr = eio_getattr, .readdir = eio_readdir, .open = eio_open, .read = eio_read,
};

int main(int argc, char **argv)
{
	char *args[] = { argv[0], argc == 5 ? argv[4] : NULL, NULL };

	if (argc != 5)
		return 2;
	file = open(argv[1], O_RDONLY | O_CLOEXEC);
	bad = argv[2];
	from = atoll(argv[3]);
	return file < 0 ? 1 : fuse_main(2, args, &operations, NULL);
}
