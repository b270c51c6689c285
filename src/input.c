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

/* Asked after the bytes were read, so that a change during the read is seen too. */
static int still_the_same(const struct input *s)
{
	struct stat st;

	if (s->fd < 0)
		return 0;
	if (fstat(s->fd, &st) < 0)
		return -errno;
	return (uint64_t)st.st_size == s->size && st.st_mtim.tv_sec == s->mtime.tv_sec &&
			       st.st_mtim.tv_nsec == s->mtime.tv_nsec
		       ? 0
		       : -EIO;
}

int input_read(const struct input *s, void *buf, size_t n, uint64_t offset)
{
	if (offset > s->size || n > s->size - offset)
		return -EIO;
	if (s->memory) {
		memcpy(buf, s->memory + offset, n);
		return 0;
	}
	for (size_t done = 0; done < n;) {
		ssize_t got = read_some(s, (char *)buf + done, n - done, offset + done);

		if (got < 0)
			return (int)got;
		if (got == 0 || (size_t)got > n - done)
			return -EIO;
		done += (size_t)got;
	}
	return still_the_same(s);
}
