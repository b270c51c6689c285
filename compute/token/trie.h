/* SPDX-License-Identifier: MIT */
/* A prefix tree over bytes, its edges in one hash table: no allocation per node. */
#ifndef TRIE_H
#define TRIE_H
#include <stddef.h>
#include <stdint.h>

struct trie_edge {
	uint32_t from;  /* node; 0 with to 0: free */
	uint32_t to;
	unsigned char byte;
};

struct trie {
	struct trie_edge *edge;
	size_t mask;       /* edge slots less one */
	uint32_t first[256]; /* the root's children; 0: none */
	int32_t *value;    /* per node, -1: none; node 0 is the root */
	uint32_t nodes, cap;
};

int trie_init(struct trie *t); /* 0 or -ENOMEM */
void trie_free(struct trie *t); /* one that was zeroed or made */
/* Enters a text of at least one byte; an earlier value of the same text stays. 0 or -ENOMEM. */
int trie_put(struct trie *t, const char *p, size_t n, int32_t value);
/* The longest entered text that p begins with: its bytes, 0 for none (and *value stays). */
size_t trie_longest(const struct trie *t, const char *p, size_t n, int32_t *value);

static inline size_t trie_slot(const struct trie *t, uint32_t from, unsigned char byte)
{
	uint64_t key = ((uint64_t)from << 8 | byte) * 0x9e3779b97f4a7c15;

	return (size_t)(key >> 20) & t->mask;
}

/* The node below from by byte, or 0. */
static inline uint32_t trie_step(const struct trie *t, uint32_t from, unsigned char byte)
{
	if (!from)
		return t->first[byte];
	for (size_t i = trie_slot(t, from, byte);; i = (i + 1) & t->mask) {
		const struct trie_edge *e = &t->edge[i];

		if (!e->to)
			return 0;
		if (e->from == from && e->byte == byte)
			return e->to;
	}
}
#endif
