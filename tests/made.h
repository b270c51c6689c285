/* SPDX-License-Identifier: MIT */
/* Small models made in memory, over build.h. */
#ifndef MADE_H
#define MADE_H
#include "build.h"
#include "gguf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void made_string(struct build *m, const char *s)
{
	build_string(m, s, strlen(s));
}

static inline void made_head(struct build *m, uint64_t tensors, uint64_t keys)
{
	build_bytes(m, "GGUF", 4);
	build_number(m, 3, 4);
	build_number(m, tensors, 8);
	build_number(m, keys, 8);
}

/* The key's name and type; its value is to follow. */
static inline void made_key(struct build *m, const char *name, enum gguf_value_type type)
{
	made_string(m, name);
	build_number(m, type, 4);
}

/* What an array starts with; its items are to follow. */
static inline void made_array(struct build *m, enum gguf_value_type item, uint64_t count)
{
	build_number(m, item, 4);
	build_number(m, count, 8);
}

/* A tensor of 8 F32 values; offset counts from where the data starts. */
static inline void made_tensor(struct build *m, const char *name, uint64_t offset)
{
	made_string(m, name);
	build_number(m, 1, 4);
	build_number(m, 8, 8);
	build_number(m, GGUF_TYPE_F32, 4);
	build_number(m, offset, 8);
}

/* Padding and the data of that many such tensors: byte k of it is k mod 251. */
static inline void made_data(struct build *m, uint64_t tensors)
{
	build_bytes(m, (const char[32]){ 0 }, -m->n % 32);
	for (uint64_t k = 0; k < 32 * tensors; k++)
		build_number(m, k % 251, 1);
}

static inline struct gguf *made_open(const struct build *m)
{
	struct gguf_error e = { 0 };
	struct gguf *g = NULL;

	if (gguf_open_memory(&g, m->p, m->n, &e))
		printf("Bail out! %s\n", e.text), exit(99);
	return g;
}
#endif
