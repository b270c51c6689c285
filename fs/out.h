/* SPDX-License-Identifier: MIT */
/*
 * Where a generated file's bytes go: a window of them into a buffer, or none when only their number is asked for. A
 * printer puts the whole file, or from a known place on; what lies outside the window costs no memory.
 */
#ifndef FS_OUT_H
#define FS_OUT_H
#include "gguf.h"
#include <string.h>

struct out {
	char *buf;      /* NULL where room is 0 */
	size_t room;    /* bytes wanted */
	size_t used;    /* bytes there are */
	uint64_t skip;  /* bytes still to be left out before the first wanted one */
	uint64_t total; /* bytes put, wanted or not */
};

static inline bool out_full(const struct out *o)
{
	return o->room && o->used == o->room;
}

static inline void out_put(struct out *o, const char *p, size_t n)
{
	o->total += n;
	if (o->skip >= n) {
		o->skip -= n;
		return;
	}
	p += o->skip;
	n -= o->skip;
	o->skip = 0;
	if (n > o->room - o->used)
		n = o->room - o->used;
	if (n)
		memcpy(o->buf + o->used, p, n);
	o->used += n;
}

static inline void out_string(struct out *o, const char *s)
{
	out_put(o, s, strlen(s));
}

void out_u64(struct out *o, uint64_t v);
__attribute__((format(printf, 2, 3)))
void out_printf(struct out *o, const char *fmt, ...); /* at most 255 bytes */
#endif
