/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/*
 * What tokens stand for in running text. A token's bytes are made when it is first asked for, into a place that follows
 * from the lengths of the texts before it: no allocation per token, and nothing to do before the first.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "pages.h"
#include "vocab.h"

struct piece {
	size_t at;        /* in bytes */
	uint32_t n;
	atomic_uint made;
};

struct pieces {
	pthread_mutex_t lock; /* of whoever makes a piece */
	struct piece *piece;  /* one per token */
	char *bytes;
};

int pieces_make(struct vocab *v)
{
	struct pieces *p = calloc(1, sizeof *p);
	size_t size = 0;

	if (!p)
		return -ENOMEM;
	v->pieces = p;
	pthread_mutex_init(&p->lock, NULL);
	p->piece = calloc(v->n, sizeof *p->piece);
	pages_ready(p->piece, v->n * sizeof *p->piece);
	for (size_t i = 0; p->piece && i < v->n; i++) {
		p->piece[i].at = size;
		size += v->text[i].n;
	}
	p->bytes = malloc(size + 1);
	return p->piece && p->bytes ? 0 : -ENOMEM;
}

void pieces_free(struct pieces *p)
{
	if (!p)
		return;
	pthread_mutex_destroy(&p->lock);
	free(p->piece);
	free(p->bytes);
	free(p);
}

size_t piece_plain(struct gguf_bytes text, char *out)
{
	memcpy(out, text.p, text.n);
	return text.n;
}

size_t piece_low_block(struct gguf_bytes text, char *out)
{
	size_t w = 0;

	for (size_t i = 0; i < text.n;) {
		bool block = text.n - i >= LOW_BLOCK_BYTES && !memcmp(text.p + i, LOW_BLOCK, LOW_BLOCK_BYTES);

		out[w++] = block ? ' ' : text.p[i];
		i += block ? LOW_BLOCK_BYTES : 1;
	}
	return w;
}

size_t escape_spaces(char *out, const char *p, size_t n)
{
	size_t w = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == ' ') {
			memcpy(out + w, LOW_BLOCK, LOW_BLOCK_BYTES);
			w += LOW_BLOCK_BYTES;
		} else {
			out[w++] = p[i];
		}
	}
	return w;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

int byte_of_text(struct gguf_bytes text)
{
	if (text.n != 6 || memcmp(text.p, "<0x", 3) || text.p[5] != '>' || hex(text.p[3]) < 0 || hex(text.p[4]) < 0)
		return -1;
	return hex(text.p[3]) << 4 | hex(text.p[4]);
}

static size_t make_piece(const struct vocab *v, int32_t id, char *out)
{
	struct gguf_bytes text = v->text[id];
	int byte = token_is(v, id, ATTR_BYTE) ? byte_of_text(text) : -1;

	if (byte >= 0) {
		*out = (char)byte;
		return 1;
	}
	if (token_is(v, id, ATTR_CONTROL | ATTR_UNKNOWN | ATTR_USER))
		return piece_plain(text, out);
	return v->model->piece(text, out);
}

struct gguf_bytes vocab_piece(const struct vocab *v, int32_t id, bool special)
{
	struct pieces *all = v->pieces;
	struct piece *p;

	if (id < 0 || (size_t)id >= v->n || (!special && token_is(v, id, ATTR_CONTROL | ATTR_UNKNOWN)))
		return (struct gguf_bytes){ "", 0 };
	p = &all->piece[id];
	if (!atomic_load_explicit(&p->made, memory_order_acquire)) {
		pthread_mutex_lock(&all->lock);
		if (!atomic_load_explicit(&p->made, memory_order_relaxed))
			p->n = (uint32_t)make_piece(v, id, all->bytes + p->at);
		atomic_store_explicit(&p->made, 1, memory_order_release);
		pthread_mutex_unlock(&all->lock);
	}
	return (struct gguf_bytes){ all->bytes + p->at, p->n };
}
