/* SPDX-License-Identifier: MIT */
/*
 * Keys and values of the tokens so far, in groups of CACHE_GROUP positions: in a group all layers, in a layer its
 * heads. So memory is claimed as the context grows, in large pages, and what attention reads at once lies together.
 *
 * A head's keys lie in blocks of 16 positions, in each block dimension after dimension with the 16 positions side
 * by side: scores of 16 positions come from one pass without a sum across lanes. Values lie behind them, position
 * after position.
 *
 * CACHE_Q8_0: 32 dimensions share a scale (a half) for each position. In a key block the 16 scales of a group stand
 * before its 32 x 16 bytes; in a value row a scale stands before its 32 bytes.
 *
 * CACHE_I16: integers, with a float for each key and value that they are in units of. It is made for products of
 * pairs: in a key block two dimensions of a position stand together, and values of two positions share a row of
 * twice the size, dimension after dimension. The units of the keys, and then of the values, stand behind the
 * values.
 */
#ifndef KV_H
#define KV_H
#include "vec.h"

struct kv {
	enum cache_type k_type, v_type;
	unsigned key_len, value_len;
	uint32_t positions;          /* a multiple of CACHE_GROUP */
	size_t key_block, value_row; /* bytes */
	size_t values, units;        /* where these are in a head's part of a group */
	size_t head, group;          /* bytes of that part, and of a whole group */
	size_t size;
	char *memory;
	size_t *layer; /* where a layer's first head is in a group */
};

/* Bytes of a block of keys, and of a position's value, of n dimensions. */
size_t kv_key_block(enum cache_type type, size_t n);
size_t kv_value_row(enum cache_type type, size_t n);
/* kv_heads[i] heads in layer i. -ENOMEM. */
int kv_new(struct kv *c, const unsigned *kv_heads, unsigned layers);
void kv_free(struct kv *c);
/* Bytes that kv_new takes; the sizes in c are set. 0: more than memory can be. */
uint64_t kv_measure(struct kv *c, const unsigned *kv_heads, unsigned layers);

/* A head's part of the first group: what the functions below call head. */
static inline char *kv_of_head(const struct kv *c, unsigned layer, unsigned head)
{
	return c->memory + c->layer[layer] + head * c->head;
}

/* Its part of the group that position is in. */
static inline size_t kv_group(const struct kv *c, uint32_t position)
{
	return position / CACHE_GROUP * c->group;
}

void kv_put_key(const struct kv *c, char *head, uint32_t position, const float *x, const struct vec *v);
void kv_put_value(const struct kv *c, char *head, uint32_t position, const float *x, const struct vec *v);
void kv_get_key(const struct kv *c, char *head, uint32_t position, float *x);
/* The value of position from becomes that of position to. */
void kv_move_value(const struct kv *c, char *head, uint32_t to, uint32_t from);
#endif
