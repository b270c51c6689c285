/* SPDX-License-Identifier: MIT */
/* Small models made in memory, byte by byte: what the writer does not make (arrays inside arrays) too. */
#ifndef MADE_H
#define MADE_H
#include "gguf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct made {
	char *p;
	size_t n, room;
};

static inline void made_put(struct made *m, const void *p, size_t n)
{
	while (m->n + n > m->room) {
		m->room = m->room ? 2 * m->room : 4096;
		m->p = realloc(m->p, m->room);
		if (!m->p)
			abort();
	}
	if (n)
		memcpy(m->p + m->n, p, n);
	m->n += n;
}

/* v in width bytes, little-endian */
static inline void made_number(struct made *m, uint64_t v, unsigned width)
{
	for (unsigned i = 0; i < width; i++) {
		unsigned char byte = (unsigned char)(v >> 8 * i);

		made_put(m, &byte, 1);
	}
}

static inline void made_bytes(struct made *m, const char *p, size_t n)
{
	made_number(m, n, 8);
	made_put(m, p, n);
}

static inline void made_string(struct made *m, const char *s)
{
	made_bytes(m, s, strlen(s));
}

static inline void made_head(struct made *m, uint64_t tensors, uint64_t keys)
{
	made_put(m, "GGUF", 4);
	made_number(m, 3, 4);
	made_number(m, tensors, 8);
	made_number(m, keys, 8);
}

/* The key's name and type; its value is to follow. */
static inline void made_key(struct made *m, const char *name, enum gguf_value_type type)
{
	made_string(m, name);
	made_number(m, type, 4);
}

/* What an array starts with; its items are to follow. */
static inline void made_array(struct made *m, enum gguf_value_type item, uint64_t count)
{
	made_number(m, item, 4);
	made_number(m, count, 8);
}

/* A tensor of 8 F32 values; offset counts from where the data starts. */
static inline void made_tensor(struct made *m, const char *name, uint64_t offset)
{
	made_string(m, name);
	made_number(m, 1, 4);
	made_number(m, 8, 8);
	made_number(m, GGUF_TYPE_F32, 4);
	made_number(m, offset, 8);
}

/* Padding and the data of that many such tensors: byte k of it is k mod 251. */
static inline void made_data(struct made *m, uint64_t tensors)
{
	made_put(m, (const char[32]){ 0 }, -m->n % 32);
	for (uint64_t k = 0; k < 32 * tensors; k++)
		made_number(m, k % 251, 1);
}

static inline struct gguf *made_open(const struct made *m)
{
	struct gguf_error e = { 0 };
	struct gguf *g = NULL;

	if (gguf_open_memory(&g, m->p, m->n, &e))
		printf("Bail out! %s\n", e.text), exit(99);
	return g;
}
#endif
