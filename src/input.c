/* SPDX-License-Identifier: MIT */
#include "input.h"
#include "error.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int input_open(struct input *s, const char *path, struct gguf_error *e)
{
	struct stat st;
	int err = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return err = -errno, gguf_fail(e, err, 0, "cannot be opened: %s", strerror(-err));
	if (fstat(fd, &st) < 0)
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	if (err) {
		close(fd);
		return gguf_fail(e, err, 0, err == -EINVAL ? "not a regular file" : "%s", strerror(-err));
	}
	*s = (struct input){ .fd = fd, .size = (uint64_t)st.st_size, .mtime = st.st_mtim };
	return 0;
}

void input_memory(struct input *s, const void *bytes, size_t size)
{
	*s = (struct input){ .fd = -1, .memory = bytes ? bytes : (const void *)"", .size = bytes ? size : 0 };
}

void input_reader(struct input *s, const struct gguf_reader *r)
{
	*s = (struct input){ .fd = -1, .reader = *r, .size = r->size };
}

void input_close(struct input *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->reader.close)
		s->reader.close(s->reader.ctx);
	*s = (struct input){ .fd = -1 };
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static ssize_t read_some(const struct input *s, void *buf, size_t n, uint64_t offset)
{
	ssize_t got;

	if (s->reader.read)
		return s->reader.read(s->reader.ctx, buf, n, offset);
	do
		got = pread(s->fd, buf, n, (off_t)offset);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got;
}

/*
 * Whether the file is what was opened: neither cut, rewritten nor deleted. changed gives the moment of its inode's last
 * change, which no program can set back.
 */
static int same_file(const struct input *s, struct timespec *changed)
{
	struct stat st;

	if (fstat(s->fd, &st) < 0)
		return -errno;
	*changed = st.st_ctim;
	return (uint64_t)st.st_size == s->size && st.st_nlink && same_time(st.st_mtim, s->mtime) ? 0 : -EIO;
}

static int read_all(const struct input *s, uint8_t *buf, size_t n, uint64_t offset)
{
	for (size_t done = 0; done < n;) {
		ssize_t got = read_some(s, buf + done, n - done, offset + done);

		if (got < 0)
			return (int)got;
		if (got == 0 || (size_t)got > n - done)
			return -EIO;
		done += (size_t)got;
	}
	return 0;
}

/*
 * Bytes count only when the file was the same before and after, and untouched meanwhile; a rename or chmod is no harm.
 */
static int read_unchanged(const struct input *s, uint8_t *buf, size_t n, uint64_t offset)
{
	struct timespec before, after;
	int err;

	for (int tries = 0; tries < 4; tries++) {
		err = same_file(s, &before);
		if (!err)
			err = read_all(s, buf, n, offset);
		if (!err)
			err = same_file(s, &after);
		if (err || same_time(before, after))
			return err;
	}
	return -EIO;
}

int input_read(const struct input *s, void *buf, size_t n, uint64_t offset)
{
	if (offset > s->size || n > s->size - offset)
		return -EIO;
	if (s->memory) {
		memcpy(buf, s->memory + offset, n);
		return 0;
	}
	return s->fd < 0 ? read_all(s, buf, n, offset) : read_unchanged(s, buf, n, offset);
}
