/* SPDX-License-Identifier: MIT */
/* From a name to its number, in constant time also for names chosen by an adversary: the hash has a secret key. */
#ifndef GGUF_NAMES_H
#define GGUF_NAMES_H
#include "gguf.h"
/* Structs of any size, one after the other, that start with a struct gguf_bytes. */
struct names {
	const void *first;
	size_t stride, count;
	uint32_t *slot; /* 0: free, else number + 1 */
	size_t mask;
	uint64_t key[2];
};
/* -EEXIST, with the numbers of two equal names in twins, or -ENOMEM. At most UINT32_MAX - 1 names. */
int names_build(struct names *t, const void *first, size_t stride, size_t count, size_t twins[2]);
void names_free(struct names *t);
ssize_t names_find(const struct names *t, const char *name, size_t n);
#endif
