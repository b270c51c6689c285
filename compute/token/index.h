/* SPDX-License-Identifier: MIT */
/* Texts to numbers: a hash table over texts that somebody else keeps. */
#ifndef INDEX_H
#define INDEX_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "gguf.h"

struct index_slot {
	uint32_t tag;    /* upper half of the hash */
	int32_t next_id; /* the id and one; 0: free */
};

struct text_index {
	struct index_slot *slot;
	size_t mask;   /* slots less one */
	uint64_t seed; /* of this process: no file can be made whose texts all collide */
};

enum index_twins { INDEX_FIRST, INDEX_LAST }; /* which number counts when a text comes more than once */
/* Numbers the texts 0 to n - 1; they stay where they are. 0 or -ENOMEM. */
int index_build(struct text_index *x, const struct gguf_bytes *text, size_t n, enum index_twins twins);
void index_free(struct text_index *x);
uint64_t random_seed(void);

static inline uint64_t hash_load(const char *p, size_t n)
{
	uint64_t a = 0;
	uint32_t lo, hi;

	if (n >= 8) {
		memcpy(&a, p, 8);
	} else if (n >= 4) {
		memcpy(&lo, p, 4);
		memcpy(&hi, p + n - 4, 4);
		a = (uint64_t)hi << 32 | lo;
	} else if (n) {
		a = (uint64_t)(unsigned char)p[0] << 16 | (uint64_t)(unsigned char)p[n / 2] << 8 |
		    (unsigned char)p[n - 1];
	}
	return a;
}

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 m = (unsigned __int128)a * b;

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static inline uint64_t text_hash(uint64_t seed, const char *p, size_t n)
{
	uint64_t h = seed ^ n;
	size_t left = n;

	for (; left > 8; p += 8, left -= 8)
		h = hash_mix(h ^ hash_load(p, 8), 0x9e3779b97f4a7c15);
	return hash_mix(h ^ hash_load(p, left), 0xbf58476d1ce4e5b9);
}

/* The id of a text whose hash is known, or -1. */
static inline int32_t index_find_hashed(const struct text_index *x, const struct gguf_bytes *text, uint64_t h,
					const char *p, size_t n)
{
	uint32_t tag = (uint32_t)(h >> 32);

	for (size_t i = h & x->mask;; i = (i + 1) & x->mask) {
		const struct index_slot *s = &x->slot[i];

		if (!s->next_id)
			return -1;
		if (s->tag == tag && text[s->next_id - 1].n == n && !memcmp(text[s->next_id - 1].p, p, n))
			return s->next_id - 1;
	}
}

static inline int32_t index_find(const struct text_index *x, const struct gguf_bytes *text, const char *p, size_t n)
{
	return index_find_hashed(x, text, text_hash(x->seed, p, n), p, n);
}
#endif
