/* SPDX-License-Identifier: MIT */
/* Edges are hashed by their node and byte (open addressing); only the root's children have an array. */
#include <errno.h>
#include <stdlib.h>
#include "trie.h"

int trie_init(struct trie *t)
{
	*t = (struct trie){ .mask = 255, .nodes = 1, .cap = 256 };
	t->edge = calloc(t->mask + 1, sizeof *t->edge);
	t->value = malloc(t->cap * sizeof *t->value);
	if (!t->edge || !t->value) {
		trie_free(t);
		return -ENOMEM;
	}
	t->value[0] = -1;
	return 0;
}

void trie_free(struct trie *t)
{
	free(t->edge);
	free(t->value);
	*t = (struct trie){ 0 };
}

static void place(struct trie *t, const struct trie_edge *e)
{
	size_t i = trie_slot(t, e->from, e->byte);

	while (t->edge[i].to)
		i = (i + 1) & t->mask;
	t->edge[i] = *e;
}

/* Twice the nodes and edges: there are fewer edges than nodes, so at most half of the slots are used. */
static int grow(struct trie *t)
{
	size_t slots = (t->mask + 1) * 2;
	struct trie_edge *old = t->edge, *edge = calloc(slots, sizeof *edge);
	int32_t *value = realloc(t->value, 2 * (size_t)t->cap * sizeof *value);

	if (value)
		t->value = value;
	if (!edge || !value || t->cap > UINT32_MAX / 4) {
		free(edge);
		return -ENOMEM;
	}
	t->edge = edge;
	t->cap *= 2;
	t->mask = slots - 1;
	for (size_t i = 0; i < slots / 2; i++)
		if (old[i].to)
			place(t, &old[i]);
	free(old);
	return 0;
}

static uint32_t add_node(struct trie *t, uint32_t from, unsigned char byte)
{
	uint32_t node = t->nodes;

	if (2 * (size_t)node > t->mask && grow(t))
		return 0;
	t->value[t->nodes++] = -1;
	if (from)
		place(t, &(struct trie_edge){ from, node, byte });
	else
		t->first[byte] = node;
	return node;
}

int trie_put(struct trie *t, const char *p, size_t n, int32_t value)
{
	uint32_t node = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t next = trie_step(t, node, (unsigned char)p[i]);

		if (!next)
			next = add_node(t, node, (unsigned char)p[i]);
		if (!next)
			return -ENOMEM;
		node = next;
	}
	if (t->value[node] < 0)
		t->value[node] = value;
	return 0;
}

size_t trie_longest(const struct trie *t, const char *p, size_t n, int32_t *value)
{
	uint32_t node = 0;
	size_t best = 0;

	for (size_t i = 0; i < n && (node = trie_step(t, node, (unsigned char)p[i])); i++) {
		if (t->value[node] >= 0) {
			best = i + 1;
			*value = t->value[node];
		}
	}
	return best;
}
