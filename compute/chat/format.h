/* SPDX-License-Identifier: MIT */
/* Python's two ways to fill in a text. */
#ifndef FORMAT_H
#define FORMAT_H
#include "run.h"

/* template % v: v a tuple of values, a dict for %(name)s, or one value. */
struct str *format_percent(struct run *r, const struct str *text, struct value v);
/* text.format(*args, **keywords), or format_map(map) with map not NULL. */
struct str *format_braces(struct run *r, const struct str *text, const struct args *args, const struct dict *map);

/* What stands behind the colon in braces, or between % and its letter. */
struct spec {
	uint32_t fill;
	char align;      /* < > ^ =, or 0: the type's own */
	char sign;       /* + - space */
	bool alternate;  /* # */
	char group;      /* , _ or 0 */
	int64_t width, precision; /* -1: none */
	char type;       /* 0: none */
};
void format_value(struct run *r, struct buf *b, struct value v, const struct spec *s);
void put_padded(struct run *r, struct buf *b, struct str *s, const struct spec *spec, char align);
#endif
