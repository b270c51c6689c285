/* SPDX-License-Identifier: MIT */
/*
 * Open addressing, linear probing. The hash is keyed by a random seed, so no file can be made to collide; slots are
 * brought in a few texts ahead, since a large table misses the cache with almost each of them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include "index.h"
#include "pages.h"

uint64_t random_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
		seed = (uintptr_t)&seed;
	return seed | 1;
}

/* At most 2/3 of the slots are used, so a search ends. */
static size_t slots_for(size_t n)
{
	size_t slots = 64;

	while (slots / 3 * 2 <= n)
		slots *= 2;
	return slots;
}

static void put(struct text_index *x, const struct gguf_bytes *text, uint64_t h, int32_t id, enum index_twins twins)
{
	uint32_t tag = (uint32_t)(h >> 32);
	size_t i = h & x->mask;

	for (; x->slot[i].next_id; i = (i + 1) & x->mask) {
		const struct gguf_bytes *have = &text[x->slot[i].next_id - 1];

		if (x->slot[i].tag != tag || have->n != text[id].n || memcmp(have->p, text[id].p, have->n))
			continue;
		if (twins == INDEX_LAST)
			x->slot[i].next_id = id + 1;
		return;
	}
	x->slot[i] = (struct index_slot){ tag, id + 1 };
}

int index_build(struct text_index *x, const struct gguf_bytes *text, size_t n, enum index_twins twins)
{
	enum { AHEAD = 16 }; /* slots on their way from memory while earlier ones are filled */
	uint64_t hash[AHEAD];
	size_t slots = n > INT32_MAX ? 0 : slots_for(n);

	*x = (struct text_index){ .seed = random_seed(), .mask = slots - 1 };
	x->slot = slots ? pages_table(slots * sizeof *x->slot) : NULL;
	if (!x->slot)
		return -ENOMEM;
	for (size_t at = 0; at < n; at += AHEAD) {
		size_t end = n - at < AHEAD ? n : at + AHEAD;

		for (size_t i = at; i < end; i++) {
			hash[i - at] = text_hash(x->seed, text[i].p, text[i].n);
			__builtin_prefetch(&x->slot[hash[i - at] & x->mask], 1);
		}
		for (size_t i = at; i < end; i++)
			put(x, text, hash[i - at], (int32_t)i, twins);
	}
	return 0;
}

void index_free(struct text_index *x)
{
	free(x->slot);
	*x = (struct text_index){ 0 };
}
