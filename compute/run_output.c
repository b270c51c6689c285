/* SPDX-License-Identifier: MIT */
/* Text on its way out: incomplete characters wait for the next token, controls are escaped on a terminal. */
#include "run.h"
#include "safe.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int reserve(struct output *o, size_t n)
{
	char *grown;
	size_t cap = o->cap ? o->cap : 1024;

	while (cap - o->n < n + 1)
		if (__builtin_mul_overflow(cap, (size_t)2, &cap))
			return -ENOMEM;
	if (cap == o->cap)
		return 0;
	grown = realloc(o->text, cap);
	if (!grown)
		return -ENOMEM;
	o->text = grown;
	o->cap = cap;
	return 0;
}

static void show(struct output *o, const char *p, size_t n)
{
	if (!o->f)
		return;
	if (o->terminal)
		safe_print(o->f, p, n);
	else
		fwrite(p, 1, n, o->f);
	fflush(o->f);
}

int output_begin(struct output *o)
{
	o->n = 0;
	o->held = (struct utf8_hold){ 0 };
	if (reserve(o, 0))
		return -ENOMEM;
	o->text[0] = '\0';
	return 0;
}

int output_put(struct output *o, const char *p, size_t n)
{
	size_t got;

	if (n > SIZE_MAX / 8 || reserve(o, 3 * (n + 3)))
		return -ENOMEM;
	got = utf8_hold(&o->held, p, n, o->text + o->n);
	show(o, o->text + o->n, got);
	o->n += got;
	o->text[o->n] = '\0';
	return 0;
}

void output_end(struct output *o)
{
	char rest[9];
	size_t n = utf8_hold_end(&o->held, rest);

	show(o, rest, n);
	if (!reserve(o, n)) {
		memcpy(o->text + o->n, rest, n);
		o->n += n;
		o->text[o->n] = '\0';
	}
}
