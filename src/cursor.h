/* SPDX-License-Identifier: MIT */
/*
 * A bounded cursor over the header of one file: the only code that turns its bytes into numbers. After the first
 * failure every call fails, so a parser reads several fields and asks once. Bytes come from the input in growing
 * pieces, never more than a header of that length can need, so the memory is bounded by the file's size.
 */
#ifndef GGUF_CURSOR_H
#define GGUF_CURSOR_H
#include "input.h"
#include <endian.h>
#include <string.h>

/*
 * Bytes of a header that are read into memory at most. The largest vocabularies and merges come to a tenth of it; a
 * file of holes, which costs nothing to make, can announce any length.
 */
#define CURSOR_MOST (1ull << 27)

struct cursor {
	const struct input *input; /* NULL: base is all there is */
	const uint8_t *base;         /* bytes 0 .. have-1 of the file; moves when it grows */
	uint8_t *owned;              /* base, where it came from malloc */
	uint64_t have, size, pos;
	bool big_endian;
	bool narrow;      /* version 1: lengths, counts and extents have 32 bits */
	int err;          /* of the first failure: -EINVAL beyond the end, -EFBIG beyond CURSOR_MOST, or of the input */
	const char *what; /* the field that failed */
	uint64_t need;    /* its bytes; at pos */
};
/* Reads from s, or from bytes that are there already. */
void cursor_init(struct cursor *c, const struct input *s);
void cursor_over(struct cursor *c, const uint8_t *base, uint64_t size, bool big_endian, bool narrow);
/* Brings n more bytes to base + pos, where they are not yet. */
bool cursor_fetch(struct cursor *c, uint64_t n, const char *what);

/*
 * Whether n more bytes are at base + pos. Inline, as the next two: a vocabulary has hundreds of thousands of strings.
 */
static inline bool cursor_need(struct cursor *c, uint64_t n, const char *what)
{
	return (!c->err && n <= c->have - c->pos) || cursor_fetch(c, n, what);
}

static inline bool cursor_skip(struct cursor *c, uint64_t n, const char *what)
{
	if (!cursor_need(c, n, what))
		return false;
	c->pos += n;
	return true;
}

/* An unsigned number of 1, 2, 4 or 8 bytes; 0 after a failure. */
static inline uint64_t cursor_number(struct cursor *c, unsigned width, const char *what)
{
	const uint8_t *p;
	uint64_t v = 0;
	uint32_t four;

	if (!cursor_need(c, width, what))
		return 0;
	p = c->base + c->pos;
	c->pos += width;
	if (width == 8 && !c->big_endian)
		return memcpy(&v, p, 8), le64toh(v);
	if (width == 4 && !c->big_endian)
		return memcpy(&four, p, 4), le32toh(four);
	for (unsigned i = 0; i < width; i++)
		v = v << 8 | p[c->big_endian ? i : width - 1 - i];
	return v;
}

/* A length, a count or an extent: as wide as the version says. */
uint64_t cursor_length(struct cursor *c, const char *what);
/*
 * Moves past strings as long as they are whole, in memory already and of the usual kind, n at most; at, if not NULL,
 * gets where each begins, with its length before it. Returns how many; what stopped it is for cursor_string to judge.
 */
uint64_t cursor_strings(struct cursor *c, uint64_t n, uint64_t *at);
/* The bytes of a string: its length, with pos after it; at is where they start. */
uint64_t cursor_string(struct cursor *c, uint64_t *at, const char *what);
static inline uint64_t cursor_left(const struct cursor *c)
{
	return c->size - c->pos;
}
#endif
