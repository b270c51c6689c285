/* SPDX-License-Identifier: MIT */
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

static int make_slots(struct text_index *x, size_t n)
{
	size_t slots = slots_for(n);
	struct index_slot *slot = calloc(slots, sizeof *slot);

	if (!slot)
		return -ENOMEM;
	pages_ready(slot, slots * sizeof *slot);
	x->slot = slot;
	x->mask = slots - 1;
	return 0;
}

int index_init(struct text_index *x, size_t n)
{
	if (n > SIZE_MAX / 64)
		return -ENOMEM;
	*x = (struct text_index){ .seed = random_seed() };
	return make_slots(x, n);
}

void index_free(struct text_index *x)
{
	free(x->slot);
	*x = (struct text_index){ 0 };
}

static void put(struct text_index *x, const struct gguf_bytes *text, uint64_t h, int32_t id)
{
	uint32_t tag = (uint32_t)(h >> 32);
	size_t i = h & x->mask;

	for (; x->slot[i].next_id; i = (i + 1) & x->mask) {
		const struct gguf_bytes *have = &text[x->slot[i].next_id - 1];

		if (x->slot[i].tag == tag && have->n == text[id].n && !memcmp(have->p, text[id].p, have->n)) {
			x->slot[i].next_id = id + 1;
			return;
		}
	}
	x->slot[i] = (struct index_slot){ tag, id + 1 };
	x->used++;
}

static int grow(struct text_index *x, const struct gguf_bytes *text)
{
	struct text_index old = *x;
	int err = make_slots(x, 2 * (old.used + 1));

	if (err)
		return err;
	x->used = 0;
	for (size_t i = 0; i <= old.mask; i++) {
		int32_t id = old.slot[i].next_id - 1;

		if (id >= 0)
			put(x, text, text_hash(x->seed, text[id].p, text[id].n), id);
	}
	index_free(&old);
	return 0;
}

int index_put(struct text_index *x, const struct gguf_bytes *text, int32_t id)
{
	if (x->used + 1 > x->mask / 3 * 2) {
		int err = grow(x, text);

		if (err)
			return err;
	}
	put(x, text, text_hash(x->seed, text[id].p, text[id].n), id);
	return 0;
}

int index_put_all(struct text_index *x, const struct gguf_bytes *text, size_t n)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = index_put(x, text, (int32_t)i);
	return err;
}
