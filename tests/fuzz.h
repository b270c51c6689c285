/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_H
#define FUZZ_H
#include "gguf.h"
#include <string.h>
/* What a fuzzer calls, or fuzz_main.c with the files of the corpus. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Reads all that a model offers, and writes it again. */
void fuzz_walk(const struct gguf *g);

/* What is left of an input. */
struct fuzz_rest {
	const uint8_t *p;
	size_t n;
};

/* The next byte, 0 past the end. */
static inline uint8_t fuzz_byte(struct fuzz_rest *r)
{
	return r->n ? (r->n--, *r->p++) : 0;
}

/* What comes before the next byte `end`, or all that is left. */
static inline struct gguf_bytes fuzz_part(struct fuzz_rest *r, char end)
{
	const uint8_t *stop = r->n ? memchr(r->p, end, r->n) : NULL;
	struct gguf_bytes part = { (const char *)r->p, stop ? (size_t)(stop - r->p) : r->n };

	r->p += part.n + (stop != NULL);
	r->n -= part.n + (stop != NULL);
	return part;
}
#endif
