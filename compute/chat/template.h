/* SPDX-License-Identifier: MIT */
/*
 * Chat templates: an interpreter for the part of Jinja2 that published models use. It reads nothing but the context it
 * is given, and its steps, depth and memory are bounded, so a hostile template can waste a moment and no more.
 */
#ifndef TEMPLATE_H
#define TEMPLATE_H
#include "gguf.h"
#include <jansson.h>

struct template_limits {
	uint64_t steps;  /* statements and operations */
	size_t bytes;    /* of output and of values held */
	unsigned depth;  /* of nested calls, blocks and expressions */
};

struct template;
/* Parses n bytes. On failure e->offset is the byte in the template and e->text says the line. */
int template_parse(struct template **out, const char *text, size_t n, struct gguf_error *e);
void template_free(struct template *t); /* NULL is fine */
/*
 * Renders with the object context as global variables. now (seconds since the epoch, UTC) is the clock of strftime_now.
 * limits may be NULL for the defaults. *out is to be free()d. -EINVAL when the template refuses (raise_exception) or is
 * wrong, -E2BIG past a limit.
 */
int template_render(const struct template *t, const json_t *context, int64_t now, const struct template_limits *limits,
		    char **out, size_t *n, struct gguf_error *e);
#endif
