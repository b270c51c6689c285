/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "pages.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { WORTH_IT = 64 << 10, PAGE = 4 << 10, HUGE_PAGE = 2 << 20 };

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14; older ones refuse it, and the faults come one by one */
#endif

void pages_ready(void *p, size_t n)
{
	size_t head = (size_t)(-(uintptr_t)p % PAGE);

	if (!p || n < WORTH_IT)
		return;
	if (n >= 2 * HUGE_PAGE)
		madvise((char *)p + head, (n - head) / PAGE * PAGE, MADV_HUGEPAGE);
	madvise((char *)p + head, (n - head) / PAGE * PAGE, MADV_POPULATE_WRITE);
}

void *pages_block(size_t n)
{
	size_t whole = (n + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	void *p;

	if (n < HUGE_PAGE / 2)
		return malloc(n);
	p = whole < n ? NULL : aligned_alloc(HUGE_PAGE, whole);
	if (p)
		madvise(p, whole, MADV_HUGEPAGE);
	return p;
}

void *pages_table(size_t n)
{
	void *p = n < HUGE_PAGE / 2 ? calloc(n ? n : 1, 1) : pages_block(n);

	return n < HUGE_PAGE / 2 || !p ? p : memset(p, 0, n);
}
