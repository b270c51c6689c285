/* SPDX-License-Identifier: MIT */
#ifndef GGUF_PAGES_H
#define GGUF_PAGES_H
#include <stddef.h>
/*
 * Brings in all pages of memory that was just allocated and is about to be filled. Without it each page costs a fault
 * when it is first touched, and on virtual machines a fault costs far more than filling the page. NULL is fine.
 */
void pages_ready(void *p, size_t n);
/* The same for a table that is read in no order: zeroed, in few large pages if it is large. free(). */
void *pages_table(size_t n);
#endif
