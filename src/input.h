/* SPDX-License-Identifier: MIT */
/* Where the bytes of one file come from: a descriptor, memory, or somebody's reader. */
#ifndef GGUF_INPUT_H
#define GGUF_INPUT_H
#include "gguf.h"
#include <time.h>
struct input {
	int fd;                    /* -1 for the other two */
	const uint8_t *memory;     /* NULL for the other two */
	struct gguf_reader reader; /* read is NULL for the other two */
	uint64_t size;             /* bytes, when it was opened */
	struct timespec mtime;     /* of fd, when it was opened */
};
/* Regular files only: anything else could block, or change under the reader. */
int input_open(struct input *s, const char *path, struct gguf_error *e);
void input_memory(struct input *s, const void *bytes, size_t size);
void input_reader(struct input *s, const struct gguf_reader *r);
void input_close(struct input *s);
/* All n bytes at offset, or a negative errno: -EIO when the file is not the one that was opened any more. */
int input_read(const struct input *s, void *buf, size_t n, uint64_t offset);
#endif
