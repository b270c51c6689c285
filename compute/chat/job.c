/* SPDX-License-Identifier: MIT */
/*
 * Memory and steps of one rendering. Memory goes all at once; a template that takes too much of either ends with an error.
 */
#include "job.h"
#include "error.h"
#include <errno.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 10, LARGE = CHUNK / 8 };

struct chunk {
	struct chunk *next;
	alignas(max_align_t) char bytes[];
};

void job_vfail(struct job *j, int code, uint64_t at, unsigned line, const char *fmt, va_list ap)
{
	char text[sizeof j->e->text];

	vsnprintf(text, sizeof text, fmt, ap);
	for (char *p = text; *p; p++)
		if (*p == '\n')
			*p = ' ';
	j->code = line ? gguf_fail(j->e, code, at, "line %u: %s", line, text) : gguf_fail(j->e, code, at, "%s", text);
	longjmp(j->out, 1);
}

void job_fail(struct job *j, int code, uint64_t at, unsigned line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	job_vfail(j, code, at, line, fmt, ap);
}

static void *chunk_new(struct job *j, size_t n)
{
	if (n > j->limit - j->held)
		job_fail(j, -E2BIG, 0, 0, "the template takes more than %zu bytes of memory", j->limit);
	struct chunk *c = calloc(1, sizeof *c + n);
	if (!c)
		job_fail(j, -ENOMEM, 0, 0, "out of memory");
	j->held += n;
	c->next = j->chunks;
	j->chunks = c;
	return c->bytes;
}

void *job_alloc(struct job *j, size_t n)
{
	const size_t align = alignof(max_align_t);

	if (n >= LARGE)
		return chunk_new(j, n);
	n = (n + align - 1) & ~(align - 1);
	if (!j->free || (size_t)(j->end - j->free) < n) {
		size_t left = j->limit - j->held, size = left < CHUNK && left >= n ? left : CHUNK;

		j->free = chunk_new(j, size);
		j->end = j->free + size;
	}
	void *p = j->free;
	j->free += n;
	return p;
}

void *job_array(struct job *j, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		job_fail(j, -E2BIG, 0, 0, "the template asks for %zu things at once", n);
	return job_alloc(j, bytes);
}

void *job_grow(struct job *j, const void *p, size_t n, size_t cap, size_t size)
{
	void *q = job_array(j, cap, size);

	if (n)
		memcpy(q, p, n * size);
	return q;
}

void job_charge(struct job *j, uint64_t n)
{
	if (n > j->steps)
		job_fail(j, -E2BIG, 0, 0, "the template takes too many steps");
	j->steps -= n;
}

void job_end(struct job *j)
{
	while (j->chunks) {
		struct chunk *c = j->chunks;

		j->chunks = c->next;
		free(c);
	}
	j->free = j->end = NULL;
	j->held = 0;
}
