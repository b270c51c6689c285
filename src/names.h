/* SPDX-License-Identifier: MIT */
/* From a name to its number, in constant time also for names chosen by an adversary: the hash has a secret key. */
#ifndef GGUF_NAMES_H
#define GGUF_NAMES_H
#include "gguf.h"
/*
 * Structs of any size, one after the other, that start with a struct gguf_bytes. The index takes 6 to 12 bytes for
 * each.
 */
struct names {
	const void *first;
	size_t stride;
	uint32_t *slot; /* 0: free, else number + 1 */
	size_t mask;
	uint64_t key[2];
};
/* Room for that many names, UINT32_MAX - 1 at most; -ENOMEM. Memory is touched as names are added. */
int names_new(struct names *t, size_t stride, size_t most);
/*
 * Adds the name of struct i, the structs being at first now, where they and their names stay until the next one is
 * added. -EEXIST, with the numbers of two equal names in twins.
 */
int names_add(struct names *t, const void *first, size_t i, size_t twins[2]);
/* All of them at once: -EEXIST or -ENOMEM. */
int names_build(struct names *t, const void *first, size_t stride, size_t count, size_t twins[2]);
void names_free(struct names *t);
/* The number of that name, or -ENOENT. */
ssize_t names_find(const struct names *t, const char *name, size_t n);
#endif
