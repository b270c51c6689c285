/* SPDX-License-Identifier: MIT */
/*
 * Long generated files: made in steps from any place on. One pass counts the bytes and keeps a mark every 64 KiB, so
 * that a read at any offset makes no more than that beyond what it was asked for. The text itself is never kept.
 */
#ifndef FS_TEXT_H
#define FS_TEXT_H
#include "out.h"

enum { TEXT_DEPTH = 8 }; /* arrays inside arrays: as deep as libgguf reads */

/* Where a step starts. What the fields count is the stepper's own affair; all zero is the beginning. */
struct text_pos {
	uint64_t part, item;
	size_t byte;                         /* of a long string */
	unsigned depth, opened; /* arrays inside arrays: how many; a bit each: whether it has had an item */
	struct gguf_array rest[TEXT_DEPTH];  /* what is left of each */
};

/* Puts some of file number i of its kind, moves *pos on. Returns 1, 0 at the end, or -errno. */
typedef int text_step(const struct gguf *g, uint64_t i, struct text_pos *pos, struct out *o);

struct text {
	text_step *step;
	const struct gguf *g;
	uint64_t i, size;
	struct text_mark *marks;
	size_t mark_count;
};

/* Runs through the file once. -ENOMEM, or what step failed with. */
int text_new(struct text **out, text_step *step, const struct gguf *g, uint64_t i);
void text_free(struct text *t); /* NULL is fine */
/* Up to n bytes from offset. Returns how many, less than n only at the end, or -errno. */
ssize_t text_read(const struct text *t, void *buf, size_t n, uint64_t offset);
#endif
