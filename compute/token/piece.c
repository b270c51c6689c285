/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/*
 * What tokens stand for in running text. A token's bytes are made when it is first asked for and kept in chunks that
 * never move: no allocation per token, and nothing to do when a vocabulary is opened.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "vocab.h"

enum { CHUNK = 16 << 10 };

struct chunk {
	struct chunk *next;
	char bytes[];
};

struct piece {
	const char *p;
	uint32_t n;
	atomic_uint made;
};

struct pieces {
	struct piece *piece; /* one per token */
	pthread_mutex_t lock; /* of what follows */
	struct chunk *chunk;
	size_t left;          /* bytes at the end of the chunk */
	char *at;             /* where they are */
};

int pieces_make(struct vocab *v)
{
	struct pieces *all = calloc(1, sizeof *all);

	if (!all)
		return -ENOMEM;
	v->pieces = all;
	pthread_mutex_init(&all->lock, NULL);
	all->piece = calloc(v->n, sizeof *all->piece);
	return all->piece ? 0 : -ENOMEM;
}

void pieces_free(struct pieces *all)
{
	if (!all)
		return;
	while (all->chunk) {
		struct chunk *next = all->chunk->next;

		free(all->chunk);
		all->chunk = next;
	}
	pthread_mutex_destroy(&all->lock);
	free(all->piece);
	free(all);
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

/* Room for n bytes, or NULL. */
static char *make_room(struct pieces *all, size_t n)
{
	if (n > all->left) {
		size_t size = n > CHUNK ? n : CHUNK;
		struct chunk *c = malloc(sizeof *c + size);

		if (!c)
			return NULL;
		c->next = all->chunk;
		all->chunk = c;
		all->at = c->bytes;
		all->left = size;
	}
	return all->at;
}

/* Without memory the token's text has to do, as it is stored. */
static void fill_piece(const struct vocab *v, int32_t id)
{
	struct pieces *all = v->pieces;
	struct piece *p = &all->piece[id];
	char *to = make_room(all, v->text[id].n);

	p->p = to ? to : v->text[id].p;
	p->n = (uint32_t)v->text[id].n;
	if (!to)
		return;
	p->n = (uint32_t)make_piece(v, id, to);
	all->at += p->n;
	all->left -= p->n;
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
			fill_piece(v, id);
		atomic_store_explicit(&p->made, 1, memory_order_release);
		pthread_mutex_unlock(&all->lock);
	}
	return (struct gguf_bytes){ p->p, p->n };
}
