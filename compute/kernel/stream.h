/* SPDX-License-Identifier: MIT */
/* Weights that are read once, straight through memory. */
#ifndef KERNEL_STREAM_H
#define KERNEL_STREAM_H
#include <stddef.h>
#include <stdint.h>
#include "target.h"

enum { STREAM_LINE = 64, STREAM_PAGE = 4096, STREAM_AHEAD = 8192 };

/*
 * Asks for what is STREAM_AHEAD after the size bytes at p. A page is touched a page earlier, as finding where it is takes
 * longer than a line of it, and holds up the requests behind: that alone gives up to half as much again.
 */
static inline __attribute__((always_inline)) void stream_fetch(const void *p, size_t size)
{
	uintptr_t at = (uintptr_t)p;

	if (at % STREAM_PAGE < size)
		__builtin_prefetch((const void *)(at / STREAM_PAGE * STREAM_PAGE + STREAM_PAGE + STREAM_AHEAD));
	if (size < STREAM_LINE && at % STREAM_LINE >= size)
		return;
	UNROLL
	for (size_t i = 0; i < size; i += STREAM_LINE)
		__builtin_prefetch((const void *)(at + STREAM_AHEAD + i));
}

/* What is wanted next: so many bytes of each of some rows. */
struct stream_ahead {
	const void *base;
	size_t rows, row_bytes, bytes;
};

/* Asks for part i of n of it. */
static inline void stream_part(const struct stream_ahead *a, size_t i, size_t n)
{
	size_t lines = a->bytes / STREAM_LINE + 1, at = a->rows * lines * i / n, end = a->rows * lines * (i + 1) / n;

	for (size_t row = at / lines, line = at % lines; at < end; at++) {
		__builtin_prefetch((const char *)a->base + row * a->row_bytes + line * STREAM_LINE, 0, 2);
		if (++line == lines) {
			line = 0;
			row++;
		}
	}
}
#endif
