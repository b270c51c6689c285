/* SPDX-License-Identifier: MIT */
#include "names.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static inline uint64_t rotate(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static inline void sip_round(uint64_t v[4])
{
	v[0] += v[1], v[1] = rotate(v[1], 13) ^ v[0], v[0] = rotate(v[0], 32);
	v[2] += v[3], v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3], v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1], v[1] = rotate(v[1], 17) ^ v[2], v[2] = rotate(v[2], 32);
}

/* SipHash-1-3. Never leaves the process, so words are taken in the host's order. */
static uint64_t hash(const uint64_t key[2], const char *p, size_t n)
{
	uint64_t v[4] = { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
			  key[1] ^ 0x7465646279746573 };
	uint64_t m, left = n;

	for (; left >= 8; p += 8, left -= 8) {
		memcpy(&m, p, 8);
		v[3] ^= m;
		sip_round(v);
		v[0] ^= m;
	}
	m = 0;
	if (left)
		memcpy(&m, p, left);
	m ^= (uint64_t)n << 56;
	v[3] ^= m;
	sip_round(v);
	v[0] ^= m;
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static const struct gguf_bytes *name_at(const struct names *t, size_t i)
{
	return (const void *)((const char *)t->first + i * t->stride);
}

/* The slot of that name, or the free one where it belongs. */
static uint32_t *slot_of(const struct names *t, const char *name, size_t n)
{
	for (size_t i = hash(t->key, name, n);; i++) {
		uint32_t *slot = &t->slot[i & t->mask];
		const struct gguf_bytes *b;

		if (!*slot)
			return slot;
		b = name_at(t, *slot - 1);
		if (b->n == n && !memcmp(b->p, name, n))
			return slot;
	}
}

int names_new(struct names *t, size_t stride, size_t most)
{
	size_t slots = 8;

	*t = (struct names){ .stride = stride };
	while (slots < most + most / 2)
		slots *= 2;
	t->mask = slots - 1;
	t->slot = calloc(slots, sizeof *t->slot);
	if (!t->slot)
		return -ENOMEM;
	if (getrandom(t->key, sizeof t->key, GRND_NONBLOCK) != sizeof t->key)
		t->key[0] = (uintptr_t)t->slot, t->key[1] = (uintptr_t)t;
	return 0;
}

int names_add(struct names *t, const void *first, size_t i, size_t twins[2])
{
	const struct gguf_bytes *b;
	uint32_t *slot;

	t->first = first;
	b = name_at(t, i);
	slot = slot_of(t, b->p, b->n);
	if (*slot) {
		twins[0] = *slot - 1;
		twins[1] = i;
		return -EEXIST;
	}
	*slot = (uint32_t)i + 1;
	return 0;
}

int names_build(struct names *t, const void *first, size_t stride, size_t count, size_t twins[2])
{
	int err = names_new(t, stride, count);

	for (size_t i = 0; i < count && !err; i++)
		err = names_add(t, first, i, twins);
	return err;
}

void names_free(struct names *t)
{
	free(t->slot);
	*t = (struct names){ 0 };
}

ssize_t names_find(const struct names *t, const char *name, size_t n)
{
	uint32_t number = t->slot ? *slot_of(t, name, n) : 0;

	return number ? (ssize_t)number - 1 : -ENOENT;
}
