/* SPDX-License-Identifier: MIT */
#include "kv.h"
#include "quant/quant.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { GROUP = 32, VALUE_STEP = 16, PAIRS_STEP = 32, STEP = 64 };

size_t kv_key_block(enum cache_type type, size_t n)
{
	switch (type) {
	case CACHE_F32:
		return CACHE_BLOCK * n * sizeof(float);
	case CACHE_F16:
		return CACHE_BLOCK * n * sizeof(uint16_t);
	case CACHE_I16:
		return CACHE_BLOCK * (n + n % 2) * sizeof(uint16_t);
	default:
		return (n + GROUP - 1) / GROUP * CACHE_BLOCK * (GROUP + sizeof(uint16_t));
	}
}

size_t kv_value_row(enum cache_type type, size_t n)
{
	size_t padded = (n + VALUE_STEP - 1) / VALUE_STEP * VALUE_STEP;

	switch (type) {
	case CACHE_F32:
		return padded * sizeof(float);
	case CACHE_F16:
		return padded * sizeof(uint16_t);
	case CACHE_I16:
		return (n + PAIRS_STEP - 1) / PAIRS_STEP * PAIRS_STEP * sizeof(uint16_t);
	default:
		return (n + GROUP - 1) / GROUP * (GROUP + sizeof(uint16_t));
	}
}

uint64_t kv_measure(struct kv *c, const unsigned *kv_heads, unsigned layers)
{
	uint64_t heads = 0, group, size;

	c->key_block = kv_key_block(c->k_type, c->key_len);
	c->value_row = kv_value_row(c->v_type, c->value_len);
	c->values = CACHE_GROUP / CACHE_BLOCK * c->key_block;
	c->units = c->values + CACHE_GROUP * c->value_row;
	c->head = c->units + (c->k_type == CACHE_I16 ? 2 * CACHE_GROUP * sizeof(float) : 0);
	for (unsigned i = 0; i < layers; i++)
		heads += kv_heads[i];
	if (__builtin_mul_overflow(heads, c->head, &group) ||
	    __builtin_mul_overflow(group, c->positions / CACHE_GROUP, &size))
		return 0;
	c->group = group;
	return size > PTRDIFF_MAX ? 0 : size;
}

int kv_new(struct kv *c, const unsigned *kv_heads, unsigned layers)
{
	size_t at = 0;

	c->size = kv_measure(c, kv_heads, layers);
	if (!c->size)
		return -ENOMEM;
	c->layer = calloc(layers, sizeof(*c->layer));
	c->memory = mmap(NULL, c->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c->memory == MAP_FAILED)
		c->memory = NULL;
	if (!c->layer || !c->memory)
		return -ENOMEM;
	madvise(c->memory, c->size, MADV_HUGEPAGE);
	for (unsigned i = 0; i < layers; i++) {
		c->layer[i] = at;
		at += kv_heads[i] * c->head;
	}
	return 0;
}

void kv_free(struct kv *c)
{
	if (c->memory)
		munmap(c->memory, c->size);
	free(c->layer);
}

/* The scale that makes n values (one in each step) fit into eight bits. */
static float group_scale(const float *x, size_t n)
{
	float most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmaxf(most, fabsf(x[i]));
	return most / 127;
}

static size_t group_size(size_t n, size_t first)
{
	return n - first < GROUP ? n - first : GROUP;
}

/* x in units of scale, rounded to a byte from -127 to 127. */
static int8_t eighth_bits(float x, float scale)
{
	return scale > 0 ? (int8_t)lrintf(fminf(fmaxf(x / scale, -127), 127)) : 0;
}

/* A position's key goes to its lane of a block, 32 dimensions to a scale, as kv.h lays them out. */
static void put_key_q8(char *block, unsigned lane, const float *x, size_t n)
{
	for (size_t first = 0; first < n; first += GROUP, block += CACHE_BLOCK * (GROUP + 2)) {
		size_t some = group_size(n, first);
		uint16_t half = half_bits(group_scale(x + first, some));
		float scale = half_value(half);
		int8_t *q = (int8_t *)block + CACHE_BLOCK * 2;

		memcpy(block + lane * 2, &half, 2);
		for (size_t i = 0; i < some; i++)
			q[i * CACHE_BLOCK + lane] = eighth_bits(x[first + i], scale);
	}
}

static void put_value_q8(char *row, const float *x, size_t n)
{
	for (size_t first = 0; first < n; first += GROUP, row += GROUP + 2) {
		size_t some = group_size(n, first);
		uint16_t half = half_bits(group_scale(x + first, some));
		float scale = half_value(half);

		memcpy(row, &half, 2);
		for (size_t i = 0; i < some; i++)
			row[2 + i] = eighth_bits(x[first + i], scale);
	}
}

static void put_key_f16(uint16_t *block, unsigned lane, const float *x, size_t n, const struct vec *v)
{
	uint16_t half[STEP];

	for (size_t first = 0; first < n; first += STEP) {
		size_t some = n - first < STEP ? n - first : STEP;

		v->to_half(half, x + first, some);
		for (size_t i = 0; i < some; i++)
			block[(first + i) * CACHE_BLOCK + lane] = half[i];
	}
}

/* A position's block of keys, and its value's row: of CACHE_I16 two positions share two rows. */
static char *block_at(const struct kv *c, char *head, uint32_t position)
{
	return head + kv_group(c, position) + position % CACHE_GROUP / CACHE_BLOCK * c->key_block;
}

static char *value_at(const struct kv *c, char *head, uint32_t position)
{
	return head + kv_group(c, position) + c->values + position % CACHE_GROUP * c->value_row;
}

static float *key_unit(const struct kv *c, char *head, uint32_t position)
{
	return (float *)(head + kv_group(c, position) + c->units) + position % CACHE_GROUP;
}

static float *value_unit(const struct kv *c, char *head, uint32_t position)
{
	return key_unit(c, head, position) + CACHE_GROUP;
}

/* Where dimension i of a position's key is in its block, the next beside it where i is even. */
static int16_t *pair_key(char *block, unsigned lane, size_t i)
{
	return (int16_t *)block + i / 2 * 2 * CACHE_BLOCK + lane * 2 + i % 2;
}

/* Where a position's value begins; its dimensions are every other number. */
static int16_t *pair_value(const struct kv *c, char *head, uint32_t position)
{
	return (int16_t *)value_at(c, head, position / 2 * 2) + position % 2;
}

static void put_key_i16(char *block, unsigned lane, float unit, const float *x, size_t n, const struct vec *v)
{
	int16_t q[STEP + 1];

	for (size_t first = 0; first < n; first += STEP) {
		size_t some = n - first < STEP ? n - first : STEP;

		v->to_int16(q, x + first, some, unit);
		q[some] = 0;
		for (size_t i = 0; i < some; i += 2)
			memcpy(pair_key(block, lane, first + i), q + i, 2 * sizeof(*q));
	}
}

/* Number by number: the other position of the pair may be another thread's. */
static void put_value_i16(int16_t *y, float unit, const float *x, size_t n, const struct vec *v)
{
	int16_t q[STEP];

	for (size_t first = 0; first < n; first += STEP, y += 2 * STEP) {
		size_t some = n - first < STEP ? n - first : STEP;

		v->to_int16(q, x + first, some, unit);
		for (size_t i = 0; i < some; i++)
			y[2 * i] = q[i];
	}
}

void kv_put_key(const struct kv *c, char *head, uint32_t position, const float *x, const struct vec *v)
{
	char *block = block_at(c, head, position);
	unsigned lane = position % CACHE_BLOCK;
	float unit;

	switch (c->k_type) {
	case CACHE_F32:
		for (size_t i = 0; i < c->key_len; i++)
			((float *)block)[i * CACHE_BLOCK + lane] = x[i];
		break;
	case CACHE_F16:
		put_key_f16((uint16_t *)block, lane, x, c->key_len, v);
		break;
	case CACHE_I16:
		*key_unit(c, head, position) = unit = v->int16_unit(x, c->key_len, INT16_FACTOR);
		put_key_i16(block, lane, unit, x, c->key_len, v);
		break;
	default:
		put_key_q8(block, lane, x, c->key_len);
	}
}

void kv_put_value(const struct kv *c, char *head, uint32_t position, const float *x, const struct vec *v)
{
	char *row = value_at(c, head, position);
	float unit;

	switch (c->v_type) {
	case CACHE_F32:
		memcpy(row, x, c->value_len * sizeof(float));
		break;
	case CACHE_F16:
		v->to_half((uint16_t *)row, x, c->value_len);
		break;
	case CACHE_I16:
		*value_unit(c, head, position) = unit = v->int16_unit(x, c->value_len, INT16_WEIGHED);
		put_value_i16(pair_value(c, head, position), unit, x, c->value_len, v);
		break;
	default:
		put_value_q8(row, x, c->value_len);
	}
}

static float get_key_q8(const char *block, unsigned lane, size_t i)
{
	const char *group = block + i / GROUP * CACHE_BLOCK * (GROUP + 2);
	uint16_t half;

	memcpy(&half, group + lane * 2, 2);
	return half_value(half) * (float)((const int8_t *)group)[CACHE_BLOCK * 2 + i % GROUP * CACHE_BLOCK + lane];
}

void kv_get_key(const struct kv *c, char *head, uint32_t position, float *x)
{
	char *block = block_at(c, head, position);
	unsigned lane = position % CACHE_BLOCK;

	for (size_t i = 0; i < c->key_len; i++) {
		size_t at = i * CACHE_BLOCK + lane;

		x[i] = c->k_type == CACHE_F32 ? ((const float *)block)[at] :
		       c->k_type == CACHE_F16 ? half_value(((const uint16_t *)block)[at]) :
		       c->k_type == CACHE_I16 ? *key_unit(c, head, position) * (float)*pair_key(block, lane, i) :
		       get_key_q8(block, lane, i);
	}
}

void kv_move_value(const struct kv *c, char *head, uint32_t to, uint32_t from)
{
	int16_t *y = pair_value(c, head, to);
	const int16_t *x = pair_value(c, head, from);

	if (c->v_type != CACHE_I16) {
		memmove(value_at(c, head, to), value_at(c, head, from), c->value_row);
		return;
	}
	for (size_t i = 0; i < c->value_len; i++)
		y[2 * i] = x[2 * i];
	*value_unit(c, head, to) = *value_unit(c, head, from);
}
