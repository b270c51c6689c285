/* SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include <stdlib.h>
#include <string.h>

enum { FEW = 70 }; /* items of an array that are looked at: more than one stride of its index */

static void touch(const struct gguf *g, const struct gguf_value *v)
{
	struct gguf_value w;
	volatile char sum = 0;

	if (v->type == GGUF_STRING)
		for (size_t i = 0; i < v->s.n; i++)
			sum = (char)(sum + v->s.p[i]);
	if (v->type == GGUF_ARRAY)
		for (uint64_t k = 0; k < v->a.count && k < 4; k++)
			if (!gguf_array_item(g, &v->a, k, &w))
				touch(g, &w);
}

static void walk_key(const struct gguf *g, size_t i)
{
	const struct gguf_key *k = gguf_key(g, i);
	struct gguf_value v;
	char *name = strndup(k->name.p, k->name.n);
	uint64_t u;
	double f;

	if (gguf_find_key(g, k->name.p, k->name.n) != (ssize_t)i || gguf_value(g, i, &v))
		abort();
	touch(g, &v);
	gguf_get_u64(g, name, &u);
	gguf_get_f64(g, name, &f);
	free(name);
	if (k->type != GGUF_ARRAY)
		return;
	for (uint64_t n = 0; n < k->count && n < FEW; n++) {
		if (gguf_items(g, i, n % 2 ? k->count - 1 - n / 2 : n, 1, &v))
			abort();
		touch(g, &v);
	}
}

static void walk_tensor(const struct gguf *g, size_t i)
{
	const struct gguf_tensor *t = gguf_tensor(g, i);
	char buf[512];
	size_t n = t->size < sizeof buf ? (size_t)t->size : sizeof buf;

	if (gguf_find_tensor(g, t->name.p, t->name.n) != (ssize_t)i)
		abort();
	gguf_tensor_read(g, i, buf, n, 0);
	gguf_tensor_read(g, i, buf, n / 2, t->size - n / 2);
}

/* What was read can be written, and that reads the same. */
static void write_again(const struct gguf *g)
{
	struct gguf_writer *w;
	struct gguf *h;
	const void *bytes;
	size_t n;
	int err = gguf_writer_new(&w);

	if (err)
		return;
	for (size_t i = 0; i < gguf_key_count(g) && !err; i++)
		err = gguf_writer_copy_key(w, g, i);
	if (err)
		abort();
	if (!gguf_writer_header(w, &bytes, &n)) {
		if (gguf_open_memory(&h, bytes, n, NULL) || gguf_key_count(h) != gguf_key_count(g))
			abort();
		gguf_close(h);
	}
	for (size_t i = 0; i < gguf_tensor_count(g) && !err; i++)
		err = gguf_writer_copy_tensor(w, g, i);
	if (!err)
		gguf_writer_header(w, &bytes, &n);
	gguf_writer_free(w);
}

void fuzz_walk(const struct gguf *g)
{
	for (size_t i = 0; i < gguf_key_count(g); i++)
		walk_key(g, i);
	for (size_t i = 0; i < gguf_tensor_count(g); i++)
		walk_tensor(g, i);
	write_again(g);
}
