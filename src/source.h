/* SPDX-License-Identifier: MIT */
/* Where the bytes of one file come from: a descriptor, memory, or somebody's reader. */
#ifndef GGUF_SOURCE_H
#define GGUF_SOURCE_H
#include "gguf.h"
#include <time.h>
struct source {
	int fd;                    /* -1 for the other two */
	const uint8_t *memory;     /* NULL for the other two */
	struct gguf_reader reader; /* read is NULL for the other two */
	uint64_t size;             /* bytes, when it was opened */
	struct timespec mtime;     /* of fd, when it was opened */
};
/* Regular files only: anything else could block, or change under the reader. */
int source_open(struct source *s, const char *path, struct gguf_error *e);
void source_memory(struct source *s, const void *bytes, size_t size);
void source_reader(struct source *s, const struct gguf_reader *r);
void source_close(struct source *s);
/* All n bytes at offset, or a negative errno: -EIO when the file is not the one that was opened any more. */
int source_read(const struct source *s, void *buf, size_t n, uint64_t offset);
#endif
