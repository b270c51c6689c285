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
#endif
