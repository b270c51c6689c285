/* SPDX-License-Identifier: MIT */
/*
 * Activations as the kernels read them: eight bits with a scale for 32 values, plain floats, and BFloat16.
 *
 * Tokens stand in tiles. In a tile the same block of all its tokens is together, so that a kernel that walks along a
 * weight row reads it linearly: entry (tile, block, token). Of one token alone everything is in natural order.
 */
#ifndef ACT_H
#define ACT_H
#include "matmul.h"

enum { ACT_BLOCK = 32, ACT_TILE = 6, ACT_SMALL = 8 };
enum { ACT_FORM_INT = 1, ACT_FORM_FLOAT = 2, ACT_FORM_BF16 = 4 };

struct act {
	size_t tokens, in;
	size_t blocks; /* of a token; the last one is filled up with zeros */
	size_t tile;   /* tokens of a tile: ACT_TILE, or up to ACT_SMALL when one tile holds them all */
	int8_t *q;     /* [entry][32], -127 to 127 */
	float *d;      /* [entry]: value = d * q */
	float *dsum;   /* [entry]: d * sum of q */
	int32_t *bias; /* [entry]: -128 * sum of q: makes up for weights that are stored 128 too high */
	int32_t *half; /* [entry][2]: the same of the first and of the last 16 values */
	float *f;      /* [token][blocks * 32] */
	uint16_t *h;   /* the same as BFloat16 */
};

/* Where a token's entries are: the first one in each array, and how far apart they stand. */
struct act_row {
	int8_t *q;
	float *d, *dsum;
	int32_t *bias, *half;
	size_t step;
};

static inline size_t act_tile_tokens(const struct act *a, size_t first)
{
	return a->tokens - first < a->tile ? a->tokens - first : a->tile;
}

static inline struct act_row act_row(const struct act *a, size_t token)
{
	size_t first = token / a->tile * a->tile, at = first * a->blocks + token - first;

	return (struct act_row){ a->q + at * ACT_BLOCK, a->d + at, a->dsum + at, a->bias + at, a->half + 2 * at,
				 act_tile_tokens(a, first) };
}

/*
 * tokens rows of in values as a batch of their own, in room's memory behind first such rows. Nothing is shared but the
 * memory: each thread has its own view. The rows are to be put in before they are multiplied.
 */
struct act act_part(const struct act *room, size_t first, size_t tokens, size_t in);
/* Puts in blocks from .. to-1 of a token whose values begin at x, in the forms given. */
void act_put(const struct act *a, size_t token, unsigned forms, const float *x, size_t from, size_t to);
/* Puts in all of a's rows as act_load does; the threads share them. */
void act_fill(const struct act *a, const struct team *t, unsigned forms, const float *x, size_t stride,
	      const uint32_t *rows);
#endif
