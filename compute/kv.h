/* SPDX-License-Identifier: MIT */
/*
 * Keys and values of the tokens so far. A head's keys lie in blocks of 16 positions, in each block dimension after
 * dimension with the 16 positions side by side: scores of 16 positions come from one pass without a sum across lanes.
 * Values lie position after position.
 *
 * CACHE_Q8_0: 32 dimensions share a scale (a half) for each position. In a key block the 16 scales of a group stand
 * before its 32 x 16 bytes; in a value row a scale stands before its 32 bytes.
 *
 * CACHE_I16: integers, with a float for each key and value that they are in units of. It is made for products of pairs: in
 * a key block two dimensions of a position stand together, and values of two positions share a row of twice the size,
 * dimension after dimension. The units of a head's keys, and then of its values, stand behind its values.
 */
#ifndef KV_H
#define KV_H
#include "vec.h"

struct kv {
	enum cache_type k_type, v_type;
	unsigned key_len, value_len;
	uint32_t positions;         /* a multiple of CACHE_GROUP */
	size_t key_block, value_row; /* bytes */
	size_t head;                /* bytes of one head: its keys, its values, the units of both */
	size_t size;
	char *memory;
	size_t *layer; /* where a layer's first head is */
};

/* Bytes of a block of keys, and of a position's value, of n dimensions. */
size_t kv_key_block(enum cache_type type, size_t n);
size_t kv_value_row(enum cache_type type, size_t n);
/* kv_heads[i] heads in layer i. -ENOMEM. */
int kv_new(struct kv *c, const unsigned *kv_heads, unsigned layers);
void kv_free(struct kv *c);
/* Bytes that kv_new takes; the sizes in c are set. 0: more than memory can be. */
uint64_t kv_measure(struct kv *c, const unsigned *kv_heads, unsigned layers);

static inline char *kv_keys(const struct kv *c, unsigned layer, unsigned head)
{
	return c->memory + c->layer[layer] + head * c->head;
}

static inline char *kv_values(const struct kv *c, unsigned layer, unsigned head)
{
	return kv_keys(c, layer, head) + c->positions / CACHE_BLOCK * c->key_block;
}

/* The units of a head's keys or values (CACHE_I16), which begin at keys or values. */
static inline float *kv_key_units(const struct kv *c, const char *keys)
{
	return (float *)(keys + c->positions / CACHE_BLOCK * c->key_block + c->positions * c->value_row);
}

static inline float *kv_value_units(const struct kv *c, const char *values)
{
	return (float *)(values + c->positions * c->value_row) + c->positions;
}

void kv_put_key(const struct kv *c, char *keys, uint32_t position, const float *x, const struct vec *v);
void kv_put_value(const struct kv *c, char *values, uint32_t position, const float *x, const struct vec *v);
void kv_get_key(const struct kv *c, char *keys, uint32_t position, float *x);
/* The value of position from becomes that of position to. */
void kv_move_value(const struct kv *c, char *values, uint32_t to, uint32_t from);
#endif
