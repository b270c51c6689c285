/* SPDX-License-Identifier: MIT */
#include "act.h"
#include "kernel/kernel.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, ENTRY_BYTES = ACT_BLOCK + 2 * sizeof(float) + 3 * sizeof(int32_t) + ACT_BLOCK * (sizeof(float) + sizeof(uint16_t)) };

static size_t entries(size_t tokens, size_t in)
{
	return (tokens * ((in + ACT_BLOCK - 1) / ACT_BLOCK) + 15) / 16 * 16;
}

size_t act_bytes(size_t tokens, size_t in)
{
	return sizeof(struct act) + LINE + entries(tokens, in) * ENTRY_BYTES;
}

/* The next n * size bytes of the block that is being cut up. */
static void *cut(char **at, size_t n, size_t size)
{
	void *p = *at;

	*at += n * size;
	return p;
}

int act_new(struct act **out, size_t tokens, size_t in)
{
	size_t n = entries(tokens, in);
	int err = mat_init(NULL);
	char *at;

	if (err)
		return err;
	if (in > SIZE_MAX / 256 || (in && tokens > SIZE_MAX / 256 / (in + ACT_BLOCK)))
		return -ENOMEM;
	at = aligned_alloc(LINE, (act_bytes(tokens, in) + LINE - 1) / LINE * LINE);
	if (!at)
		return -ENOMEM;
	struct act *a = cut(&at, 1, (sizeof *a + LINE - 1) / LINE * LINE);

	*a = (struct act){ .q = cut(&at, n, ACT_BLOCK), .f = cut(&at, n, ACT_BLOCK * sizeof *a->f) };
	a->h = cut(&at, n, ACT_BLOCK * sizeof *a->h);
	a->d = cut(&at, n, sizeof *a->d);
	a->dsum = cut(&at, n, sizeof *a->dsum);
	a->bias = cut(&at, n, sizeof *a->bias);
	a->half = cut(&at, n, 2 * sizeof *a->half);
	*out = a;
	return 0;
}

void act_free(struct act *a)
{
	free(a);
}

unsigned act_form(uint32_t type)
{
	if (type == GGUF_TYPE_BF16)
		return ACT_FORM_BF16;
	return kernel_is_int(type) ? ACT_FORM_INT : ACT_FORM_FLOAT;
}

/* Blocks from .. to-1 of one token, of which the last may be part of a block. */
void act_put(const struct act *a, size_t token, unsigned forms, const float *x, size_t from, size_t to)
{
	size_t whole = a->in / ACT_BLOCK < to ? a->in / ACT_BLOCK : to, rest = a->in % ACT_BLOCK;
	size_t n = (whole - from) * ACT_BLOCK, at = (token * a->blocks + from) * ACT_BLOCK;
	struct act_row row = act_row(a, token);
	float last[ACT_BLOCK] = { 0 };

	if (whole < to)
		memcpy(last, x + whole * ACT_BLOCK, rest * sizeof *last);
	if (forms & ACT_FORM_FLOAT) {
		memcpy(a->f + at, x + from * ACT_BLOCK, n * sizeof *a->f);
		memcpy(a->f + at + n, last, (to - whole) * sizeof last);
	}
	if (forms & ACT_FORM_BF16) {
		kernel.round(a->h + at, x + from * ACT_BLOCK, n);
		kernel.round(a->h + at + n, last, (to - whole) * ACT_BLOCK);
	}
	if (forms & ACT_FORM_INT) {
		kernel.quantize(&row, x, from, whole);
		kernel.quantize(&row, last - whole * ACT_BLOCK, whole, to);
	}
}

struct act act_part(const struct act *room, size_t first, size_t tokens, size_t in)
{
	size_t blocks = (in + ACT_BLOCK - 1) / ACT_BLOCK, at = first * blocks;

	return (struct act){
		.tokens = tokens, .in = in, .blocks = blocks, .tile = tokens <= ACT_SMALL ? ACT_SMALL : ACT_TILE,
		.q = room->q + at * ACT_BLOCK, .d = room->d + at, .dsum = room->dsum + at, .bias = room->bias + at,
		.half = room->half + 2 * at, .f = room->f + at * ACT_BLOCK,
		.h = room->h + at * ACT_BLOCK,
	};
}

void act_fill(const struct act *a, const struct team *t, unsigned forms, const float *x, size_t stride,
	      const uint32_t *rows)
{
	size_t blocks = a->blocks, from, to;

	team_share(t, a->tokens * blocks, a->tokens < t->n ? 8 : blocks ? blocks : 1, &from, &to);
	for (size_t next; from < to; from = next) {
		size_t token = from / blocks, end = (token + 1) * blocks;

		next = end < to ? end : to;
		act_put(a, token, forms, x + (rows ? rows[token] : token) * stride, from % blocks, next - token * blocks);
	}
}

void act_load(struct act *a, const struct team *t, unsigned forms, const float *x, size_t stride, const uint32_t *rows,
	      size_t tokens, size_t in)
{
	const struct act shape = act_part(a, 0, tokens, in);

	if (t->id == 0) {
		a->tokens = shape.tokens;
		a->in = shape.in;
		a->blocks = shape.blocks;
		a->tile = shape.tile;
	}
	act_fill(&shape, t, forms, x, stride, rows);
}
