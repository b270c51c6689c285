/* SPDX-License-Identifier: MIT */
/* Bringing the weights of a source into memory, in one of the ways of enum load_mode. */
#ifndef LOAD_H
#define LOAD_H
#include "backend.h"

/* Memory that holds copies of weights; zero: none. */
struct load {
	void *memory;
	size_t size;
};

/* Sets the data of every weight. The progress callback of opt is called while bytes are moved. */
int load_weights(struct load *l, const struct backend *b, void *impl, struct weight *w, size_t n,
		 const struct source_options *opt, struct gguf_error *e);
void load_free(struct load *l);
/*
 * Has the kernel bring in the pages of n bytes at p, which are mapped and only read, without a fault for each where it
 * can. 0 or -errno: -EFAULT or -EIO where the file has no such bytes.
 */
int load_pages(const void *p, size_t n);
#endif
