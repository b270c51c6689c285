/* SPDX-License-Identifier: MIT */
/* A model of an input, opened as the engine opens one. */
#ifndef FUZZ_SOURCE_H
#define FUZZ_SOURCE_H
#include "gguf.h"
#include "source.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A sentence for every error, and one line of it. */
static inline void fuzz_expect_reason(int err, const struct gguf_error *e)
{
	if (err && (e->code != err || !e->text[0] || strpbrk(e->text, "\n\r\033")))
		abort();
}

static char fuzz_path[64];

static void fuzz_clean(void)
{
	unlink(fuzz_path);
}

/* The file that all models of this process are in, one after another: a name of its own, for it to count as one. */
static inline int fuzz_file(void)
{
	int fd;

	if (fuzz_path[0])
		return open(fuzz_path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	snprintf(fuzz_path, sizeof fuzz_path, "%s/fuzz_model.XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	fd = mkostemp(fuzz_path, O_CLOEXEC);
	atexit(fuzz_clean);
	return fd;
}

/* NULL where it does not open. One at a time. */
static inline struct source *fuzz_source(const void *bytes, size_t n)
{
	struct source *s = NULL;
	struct gguf_error e = { 0 };
	int fd = fuzz_file();

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd))
		abort();
	fuzz_expect_reason(source_open(&s, fuzz_path, NULL, &e), &e);
	return s;
}

/* The same of what w holds, which is freed. */
static inline struct source *fuzz_source_of(struct gguf_writer *w)
{
	const void *bytes;
	size_t n;
	struct source *s = gguf_writer_header(w, &bytes, &n) ? NULL : fuzz_source(bytes, n);

	gguf_writer_free(w);
	return s;
}

static inline void fuzz_put_string(struct gguf_writer *w, const char *key, struct gguf_bytes text)
{
	struct gguf_value v = { .type = GGUF_STRING, .s = text };

	gguf_writer_key(w, key, strlen(key), &v);
}
#endif
