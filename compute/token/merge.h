/* SPDX-License-Identifier: MIT */
/*
 * Merging neighbours, best pair first: what byte pair encoding (best: lowest rank) and SentencePiece's BPE (best: highest
 * score) have in common. Short runs are searched, long ones kept in a heap, so the time is n log n at worst.
 * The functions are inline so that the pair function of each user becomes part of the loop.
 */
#ifndef MERGE_H
#define MERGE_H
#include <errno.h>
#include <stdlib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define NO_PAIR UINT32_MAX
#define NO_SYMBOL UINT32_MAX

struct symbol {
	uint32_t at, n;      /* bytes of the run; n 0: merged away */
	uint32_t prev, next; /* NO_SYMBOL at the ends */
	uint32_t id;         /* NO_SYMBOL: stands for no token */
	uint32_t key;        /* of the pair with next: the lowest merges first, NO_PAIR never */
	uint32_t merged;     /* the id it becomes */
};

/* Sets a->key and a->merged for the pair a, b. */
typedef void pair_fn(const void *ctx, struct symbol *a, const struct symbol *b);

struct merger {
	struct symbol *symbol;
	size_t n, cap;
	uint64_t *heap; /* key << 32 | index of the left symbol; entries that no longer hold are skipped */
	size_t heap_n, heap_cap;
};

static inline void merger_free(struct merger *m)
{
	free(m->symbol);
	free(m->heap);
}

/* Room for n symbols. */
static inline int merger_reserve(struct merger *m, size_t n)
{
	struct symbol *more;

	if (n <= m->cap)
		return 0;
	if (n > UINT32_MAX / 2 || n > SIZE_MAX / sizeof *more)
		return -ENOMEM;
	n = n < m->cap * 2 ? m->cap * 2 : n < 64 ? 64 : n;
	more = realloc(m->symbol, n * sizeof *more);
	if (!more)
		return -ENOMEM;
	m->symbol = more;
	m->cap = n;
	return 0;
}

static inline int heap_push(struct merger *m, uint64_t entry)
{
	size_t i = m->heap_n;

	if (i == m->heap_cap) {
		size_t cap = i ? 2 * i : 256;
		uint64_t *more = realloc(m->heap, cap * sizeof *more);

		if (!more)
			return -ENOMEM;
		m->heap = more;
		m->heap_cap = cap;
	}
	m->heap_n++;
	for (; i && m->heap[(i - 1) / 2] > entry; i = (i - 1) / 2)
		m->heap[i] = m->heap[(i - 1) / 2];
	m->heap[i] = entry;
	return 0;
}

static inline uint64_t heap_pop(struct merger *m)
{
	uint64_t top = m->heap[0], last = m->heap[--m->heap_n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < m->heap_n) {
		if (child + 1 < m->heap_n && m->heap[child + 1] < m->heap[child])
			child++;
		if (m->heap[child] >= last)
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = last;
	return top;
}

/* Short runs: the symbols stay side by side, prev and next are not used. */
__attribute__((always_inline))
static inline void merge_short(struct merger *m, pair_fn *pair, const void *ctx)
{
	struct symbol *s = m->symbol;

	for (size_t i = 0; i + 1 < m->n; i++)
		pair(ctx, &s[i], &s[i + 1]);
	while (m->n > 1) {
		size_t best = 0;

		for (size_t i = 1; i + 1 < m->n; i++)
			if (s[i].key < s[best].key)
				best = i;
		if (s[best].key == NO_PAIR)
			break;
		s[best].n += s[best + 1].n;
		s[best].id = s[best].merged;
		m->n--;
		memmove(&s[best + 1], &s[best + 2], (m->n - best - 1) * sizeof *s);
		if (best + 1 < m->n)
			pair(ctx, &s[best], &s[best + 1]);
		if (best)
			pair(ctx, &s[best - 1], &s[best]);
	}
}

__attribute__((always_inline))
static inline int merge_offer(struct merger *m, uint32_t left, pair_fn *pair, const void *ctx)
{
	struct symbol *a = &m->symbol[left];

	a->key = NO_PAIR;
	if (a->next == NO_SYMBOL)
		return 0;
	pair(ctx, a, &m->symbol[a->next]);
	return a->key == NO_PAIR ? 0 : heap_push(m, (uint64_t)a->key << 32 | left);
}

static inline void merge_link(struct merger *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		m->symbol[i].prev = i - 1; /* of the first: NO_SYMBOL */
		m->symbol[i].next = i + 1 < m->n ? i + 1 : NO_SYMBOL;
	}
	m->heap_n = 0;
}

/* What is left, side by side again. */
static inline void merge_pack(struct merger *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		if (m->symbol[i].n)
			m->symbol[n++] = m->symbol[i];
	m->n = n;
}

__attribute__((always_inline))
static inline int merge_long(struct merger *m, pair_fn *pair, const void *ctx)
{
	int err = 0;

	merge_link(m);
	for (uint32_t i = 0; i < m->n && !err; i++)
		err = merge_offer(m, i, pair, ctx);
	while (m->heap_n && !err) {
		uint64_t top = heap_pop(m);
		struct symbol *a = &m->symbol[(uint32_t)top], *b;

		if (!a->n || a->key != top >> 32)
			continue;
		b = &m->symbol[a->next];
		a->n += b->n;
		a->id = a->merged;
		b->n = 0;
		a->next = b->next;
		if (b->next != NO_SYMBOL)
			m->symbol[b->next].prev = (uint32_t)top;
		err = merge_offer(m, (uint32_t)top, pair, ctx);
		if (!err && a->prev != NO_SYMBOL)
			err = merge_offer(m, a->prev, pair, ctx);
	}
	merge_pack(m);
	return err;
}

enum { MERGE_SHORT = 24 }; /* symbols up to which a search is faster than the heap */

__attribute__((always_inline))
static inline int merge_run(struct merger *m, pair_fn *pair, const void *ctx)
{
	if (m->n > MERGE_SHORT)
		return merge_long(m, pair, ctx);
	merge_short(m, pair, ctx);
	return 0;
}
#endif
