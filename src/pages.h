/* SPDX-License-Identifier: MIT */
#ifndef GGUF_PAGES_H
#define GGUF_PAGES_H
#include <stddef.h>
/*
 * Brings in all pages of memory that was just allocated and is about to be filled. Without it each page costs a fault
 * when it is first touched, and on virtual machines a fault costs far more than filling the page. NULL is fine.
 */
void pages_ready(void *p, size_t n);
/* n bytes, in few large pages from 1 MiB on: cheap to touch, but whole pages of 2 MiB of memory. NULL, or free(). */
void *pages_block(size_t n);
/* The same, zeroed. */
void *pages_table(size_t n);
#endif
