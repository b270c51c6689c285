/* SPDX-License-Identifier: MIT */
/*
 * 32 weights in a row, as integers with scales. The kinds differ in what goes with the integers:
 *
 * BLOCK_SCALE     w = d * q
 * BLOCK_OFFSET    w = d * q + m
 * BLOCK_PAIR      w = d * s * q, s one for the first and one for the last 16
 * BLOCK_PAIR_MIN  w = d * s * q + m * o, s and o likewise
 *
 * The sum of s * q * x over a block of 8-bit activations is less than 2^24, so floats hold it exactly.
 */
#ifndef KERNEL_BLOCK_H
#define KERNEL_BLOCK_H
#include "gguf.h"

enum block_kind { BLOCK_SCALE, BLOCK_OFFSET, BLOCK_PAIR, BLOCK_PAIR_MIN };

struct block {
	int8_t q[32];
	float d, m;
	int8_t s[2], o[2];
};

/* Number i of the 32-value parts of the file's block at p. */
typedef void block_get_fn(struct block *b, const uint8_t *p, unsigned i);

struct block_type {
	enum block_kind kind;
	block_get_fn *get; /* NULL: not an integer type */
};
extern const struct block_type block_types[GGUF_TYPE_LIMIT];
#endif
