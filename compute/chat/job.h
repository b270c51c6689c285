/* SPDX-License-Identifier: MIT */
/*
 * One parse or one render: its memory, its budget and its way out. Memory is given back all at once, by job_end().
 * Nothing below template.c returns errors: whoever meets one calls job_fail(), which leaves through job.out.
 */
#ifndef JOB_H
#define JOB_H
#include "gguf.h"
#include <setjmp.h>
#include <stdarg.h>

struct chunk;

struct job {
	struct chunk *chunks;
	char *free, *end;      /* what is left of the newest shared chunk */
	size_t held, limit;    /* bytes */
	uint64_t steps;        /* left */
	unsigned depth, depth_limit;
	struct gguf_error *e;
	int code;              /* of the failure */
	jmp_buf out;           /* set by template.c before anything else is called */
};

/* Fills j->e with "line N: ..." (line 0: no line) and leaves. */
__attribute__((format(printf, 5, 6), noreturn))
void job_fail(struct job *j, int code, uint64_t at, unsigned line, const char *fmt, ...);
__attribute__((format(printf, 5, 0), noreturn))
void job_vfail(struct job *j, int code, uint64_t at, unsigned line, const char *fmt, va_list ap);
/* n zero bytes, aligned for anything. Never NULL. */
void *job_alloc(struct job *j, size_t n);
/* The same for n things of a size; and the n things at p moved to a place for cap of them. */
void *job_array(struct job *j, size_t n, size_t size);
void *job_grow(struct job *j, const void *p, size_t n, size_t cap, size_t size);
/* Takes n steps of the budget. */
void job_charge(struct job *j, uint64_t n);
void job_end(struct job *j);
#endif
