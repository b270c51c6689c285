/* SPDX-License-Identifier: MIT */
/* A model's memory: a list of allotments that go together. */
#include "network.h"
#include "error.h"
#include <errno.h>
#include <stdlib.h>

struct piece {
	struct piece *next;
	_Alignas(64) char bytes[];
};

void *model_alloc(struct model *m, size_t n, size_t size)
{
	struct piece *p;
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) || __builtin_add_overflow(bytes, sizeof(*p) + 64, &bytes))
		return NULL;
	p = aligned_alloc(64, bytes / 64 * 64);
	if (!p)
		return NULL;
	for (size_t i = 0; i < n * size; i++)
		p->bytes[i] = 0;
	p->next = m->owned;
	m->owned = p;
	return p->bytes;
}

void model_close(struct model *m)
{
	if (!m)
		return;
	for (struct piece *p = m->owned, *next; p; p = next) {
		next = p->next;
		free(p);
	}
	free(m);
}

int model_open(struct model **out, struct source *s, uint32_t context, struct gguf_error *e)
{
	struct model *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return gguf_fail(e, -ENOMEM, 0, "out of memory");
	err = model_kind(s, &m->arch, e);
	err = err ? err : model_settings(m, s, e);
	err = err ? err : model_weights(m, s, e);
	err = err ? err : model_rope(m, s, context ? context : m->h.context, e);
	if (err) {
		model_close(m);
		return err;
	}
	*out = m;
	return 0;
}
