/* SPDX-License-Identifier: MIT */
#include "cursor.h"
#include "pages.h"
#include <errno.h>
#include <stdlib.h>

enum {
	FIRST_READ = 256 << 10,
	SECOND_READ = 2 << 20, /* in all: one large page */
	LARGEST_READ = 16 << 20,
};

void cursor_init(struct cursor *c, const struct input *s)
{
	*c = (struct cursor){ .input = s, .base = s->memory, .have = s->memory ? s->size : 0, .size = s->size };
}

void cursor_over(struct cursor *c, const uint8_t *base, uint64_t size, bool big_endian, bool narrow)
{
	*c = (struct cursor){ .base = base, .have = size, .size = size, .big_endian = big_endian, .narrow = narrow };
}

static bool fail(struct cursor *c, int err, uint64_t need, const char *what)
{
	if (c->err)
		return false;
	c->err = err;
	c->need = need;
	c->what = what;
	return false;
}

/*
 * Room for want bytes, with those that are there. A header of usual size is copied when it grows: the copy costs less
 * than the faults on all the pages that realloc would move.
 */
static uint8_t *roomier(struct cursor *c, uint64_t want)
{
	uint8_t *p;

	if (want > LARGEST_READ)
		return realloc(c->owned, want);
	p = pages_block(want);
	if (p && c->have)
		memcpy(p, c->owned, c->have);
	if (p)
		free(c->owned);
	return p;
}

/* Has at least end bytes in memory; reads much more at once, so that few reads do. */
static int grow(struct cursor *c, uint64_t end)
{
	uint64_t more = !c->have ? FIRST_READ : c->have < SECOND_READ ? SECOND_READ - c->have :
			c->have < LARGEST_READ ? c->have : LARGEST_READ;
	uint64_t want = c->have + more > end ? c->have + more : end;
	uint8_t *p;
	int err;

	if (want > c->size)
		want = c->size;
	p = roomier(c, want);
	if (!p)
		return -ENOMEM;
	c->base = c->owned = p;
	pages_ready(p + c->have, want - c->have);
	err = input_read(c->input, p + c->have, want - c->have, c->have);
	if (!err)
		c->have = want;
	return err;
}

bool cursor_fetch(struct cursor *c, uint64_t n, const char *what)
{
	int err;

	if (c->err)
		return false;
	if (n > c->size - c->pos)
		return fail(c, -EINVAL, n, what);
	if (n > CURSOR_MOST || c->pos + n > CURSOR_MOST)
		return fail(c, -EFBIG, n, what);
	err = grow(c, c->pos + n);
	return err ? fail(c, err, n, what) : true;
}

uint64_t cursor_length(struct cursor *c, const char *what)
{
	return cursor_number(c, c->narrow ? 4 : 8, what);
}

uint64_t cursor_strings(struct cursor *c, uint64_t n, uint64_t *at)
{
	uint64_t pos = c->pos, done = 0, len;

	if (c->err || c->big_endian || c->narrow)
		return 0;
	for (; done < n && c->have - pos >= 8; done++) {
		memcpy(&len, c->base + pos, 8);
		len = le64toh(len);
		if (len > c->have - pos - 8)
			break;
		if (at)
			at[done] = pos;
		pos += 8 + len;
	}
	c->pos = pos;
	return done;
}

uint64_t cursor_string(struct cursor *c, uint64_t *at, const char *what)
{
	uint64_t n = cursor_length(c, what);

	*at = c->pos;
	return cursor_skip(c, n, what) ? n : 0;
}
