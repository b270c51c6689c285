/* SPDX-License-Identifier: MIT */
#include "text.h"
#include <errno.h>
#include <stdlib.h>

enum { MARK_EVERY = 64 << 10 };

/* A place in the file where making can start. */
struct text_mark {
	uint64_t offset;
	struct text_pos pos;
};

/* Room doubles at powers of two, so that the count says when. */
static int add_mark(struct text *t, uint64_t offset, const struct text_pos *pos)
{
	size_t n = t->mark_count;

	if ((n & (n - 1)) == 0) {
		struct text_mark *more = realloc(t->marks, (n ? 2 * n : 1) * sizeof *more);

		if (!more)
			return -ENOMEM;
		t->marks = more;
	}
	t->marks[t->mark_count++] = (struct text_mark){ offset, *pos };
	return 0;
}

/* Runs all steps into nowhere, for the size and the marks. */
static int measure(struct text *t)
{
	struct text_pos pos = { 0 };
	struct out count = { 0 };
	uint64_t next = 0;
	int more;

	do {
		if (count.total >= next) {
			int err = add_mark(t, count.total, &pos);

			if (err)
				return err;
			next = count.total + MARK_EVERY;
		}
		more = t->step(t->g, t->i, &pos, &count);
	} while (more > 0);
	t->size = count.total;
	return more;
}

int text_new(struct text **out, text_step *step, const struct gguf *g, uint64_t i)
{
	struct text *t = calloc(1, sizeof *t);
	int err;

	if (!t)
		return -ENOMEM;
	*t = (struct text){ .step = step, .g = g, .i = i };
	err = measure(t);
	if (err)
		text_free(t);
	else
		*out = t;
	return err;
}

void text_free(struct text *t)
{
	if (t)
		free(t->marks);
	free(t);
}

/* The last mark at or before offset; there is always the one at 0. */
static const struct text_mark *mark_before(const struct text *t, uint64_t offset)
{
	size_t low = 0, high = t->mark_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (t->marks[middle].offset <= offset)
			low = middle;
		else
			high = middle;
	}
	return &t->marks[low];
}

ssize_t text_read(const struct text *t, void *buf, size_t n, uint64_t offset)
{
	const struct text_mark *mark = mark_before(t, offset);
	struct text_pos pos = mark->pos;
	struct out o = { .buf = buf, .room = n, .skip = offset - mark->offset };
	int more = 1;

	while (more > 0 && o.used < n)
		more = t->step(t->g, t->i, &pos, &o);
	return more < 0 ? more : (ssize_t)o.used;
}
