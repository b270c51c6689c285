/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "whole.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *volatile unfinished; /* beside, of the last one opened */

void whole_abandon(void)
{
	if (unfinished)
		unlink(unfinished);
}

/* Where the file is to be: what path leads to, when there is something. NULL with errno. */
static char *destination(const char *path)
{
	char *real = realpath(path, NULL);

	return real || errno != ENOENT ? real : strdup(path);
}

/* A new file beside path, with the rights that a file of that name has or would get. -1 with errno. */
static int open_beside(struct whole *w)
{
	mode_t mask = umask(0);
	struct stat st;
	int fd;

	umask(mask);
	if (asprintf(&w->beside, "%s.XXXXXX", w->path) < 0) {
		w->beside = NULL;
		errno = ENOMEM;
		return -1;
	}
	fd = mkostemp(w->beside, O_CLOEXEC);
	if (fd >= 0 && fchmod(fd, stat(w->path, &st) ? 0666 & ~mask : st.st_mode & 0777)) {
		unlink(w->beside);
		close(fd);
		return -1;
	}
	return fd;
}

static bool is_standard(const char *path)
{
	return !strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/stderr") || !strncmp(path, "/dev/fd/", 8) ||
	       !strncmp(path, "/proc/self/fd/", 14);
}

/* Where the descriptors of the process lead is written from where they stand: a shell's log is not ours to replace. */
static FILE *open_standard(const char *path)
{
	int fd = !strcmp(path, "/dev/stdout") ? STDOUT_FILENO : !strcmp(path, "/dev/stderr") ? STDERR_FILENO : -1;
	FILE *f;

	if (fd >= 0)
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	else
		fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (fd >= 0 && !f) {
		close(fd);
		errno = EBADF; /* it is open for reading only, as what stands in for a closed one is */
	}
	return f;
}

static int open_whole(struct whole *w, const char *path)
{
	struct stat st;
	int fd;

	if (is_standard(path)) {
		w->f = open_standard(path);
		return w->f ? 0 : -errno;
	}

	if (!stat(path, &st) && !S_ISREG(st.st_mode)) {
		w->f = fopen(path, "we");
		return w->f ? 0 : -errno;
	}
	w->path = destination(path);
	fd = w->path ? open_beside(w) : -1;
	w->f = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (fd >= 0 && !w->f) {
		unlink(w->beside);
		close(fd);
	}
	unfinished = w->f ? w->beside : NULL;
	return w->f ? 0 : -errno;
}

static void forget(struct whole *w)
{
	unfinished = NULL;
	free(w->path);
	free(w->beside);
	*w = (struct whole){ 0 };
}

int whole_open(struct whole *w, const char *path)
{
	int err;

	*w = (struct whole){ 0 };
	err = open_whole(w, path);
	if (err)
		forget(w);
	return err;
}

/* The new name is on disk only when its directory is. A file system that cannot sync one keeps it by itself. */
static void sync_directory(const char *path)
{
	char *dir = strdup(path), *slash = dir ? strrchr(dir, '/') : NULL;
	int fd;

	if (slash)
		slash[slash == dir] = '\0';
	fd = dir ? open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		fsync(fd);
		close(fd);
	}
	free(dir);
}

int whole_close(struct whole *w, bool keep)
{
	int err = 0;

	if (!w->f)
		return 0;
	if (fflush(w->f) || ferror(w->f) || (keep && w->beside && fsync(fileno(w->f))))
		err = errno ? -errno : -EIO;
	if (fclose(w->f) && !err)
		err = -errno;
	if (w->beside && keep && !err && rename(w->beside, w->path))
		err = -errno;
	if (w->beside && keep && !err)
		sync_directory(w->path);
	else if (w->beside)
		unlink(w->beside);
	forget(w);
	return err;
}
