/* SPDX-License-Identifier: MIT */
/*
 * What a forward pass does besides matrix products. Each function is written once (vec_body.h) and compiled for
 * several instruction sets; all of them add in the same order and round alike, so that they agree to the last bit.
 *
 * Sums over values go to 16 partial sums, value i to number i % 16, and then 8 of 8 + 8, 4, 2, 1.
 */
#ifndef VEC_H
#define VEC_H
#include "llm.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ATTEND_ROWS = 96, CACHE_BLOCK = 16, CACHE_GROUP = 4 * CACHE_BLOCK };

struct kv;

/*
 * A few queries against the cache of one key head, as kv.h lays it out. A query's result depends on nothing but its
 * own positions: not on which others share the tile.
 */
struct attend_tile {
	const struct kv *kv; /* none or both of its types CACHE_I16 */
	const char *head;
	unsigned rows;                /* in use of the arrays that follow */
	const float *q[ATTEND_ROWS];  /* scaled */
	float *out[ATTEND_ROWS];      /* value_len each */
	/* Positions that a query sees: from .. to-1, at least one; neither is less than that of the query before. */
	uint32_t from[ATTEND_ROWS], to[ATTEND_ROWS];
	const float *sink[ATTEND_ROWS]; /* a score that takes weight and gives no value, or NULL */
	float cap;                    /* scores become cap * tanh(score / cap); 0: as they are */
	float *scratch;               /* attend_scratch(key_len, value_len) floats, aligned to 64 bytes */
};

/*
 * What keeps sums of products of 16-bit integers within 32 bits. INT16_FACTOR: vectors of a length, by Cauchy and
 * Schwarz; INT16_WEIGHED: numbers that weights of INT16_WEIGHTS in all are multiplied with. That many is a power of
 * two, so that equal weights are rounded to themselves; rounding may add 32 for 64 weights: (2^18 + 32) * 8190 <
 * 2^31.
 */
enum int16_use { INT16_FACTOR, INT16_WEIGHED };
enum { INT16_MOST = 32767, INT16_WEIGHED_MOST = 8190, INT16_WEIGHTS = 1 << 18 };

struct vec {
	const char *name;
	bool (*supported)(void);
	/* y = x / rms(x) * w, and y = (x - mean) / deviation * w + b; b may be NULL. y may be x. */
	void (*norm_rms)(float *y, const float *x, const float *w, size_t n, float eps);
	void (*norm_layer)(float *y, const float *x, const float *w, const float *b, size_t n, float eps);
	/* y = (y + b) * 1, x += y * scale, y *= scale */
	void (*add)(float *y, const float *b, size_t n);
	void (*add_scaled)(float *x, const float *y, float scale, size_t n);
	void (*scale)(float *y, float scale, size_t n);
	/* g = f(g) * u, or f(g) where u is NULL; clamped as ACT_CLAMPED says */
	void (*silu)(float *g, const float *u, size_t n);
	void (*gelu)(float *g, const float *u, size_t n);
	void (*clamped)(float *g, const float *u, size_t n);
	/* x = cap * tanh(x / cap) */
	void (*soft_cap)(float *x, float cap, size_t n);
	/* x becomes exp(x - max) / sum */
	void (*softmax)(float *x, size_t n);
	void (*sigmoid)(float *x, size_t n);
	/* Turns the pairs (x[i], x[half + i]), or (x[2i], x[2i + 1]), by angles with these cosines and sines. */
	void (*turn_halves)(float *x, const float *c, const float *s, size_t half);
	void (*turn_pairs)(float *x, const float *c, const float *s, size_t half);
	/* Halves; what is beyond their range becomes the largest of them. */
	void (*to_half)(uint16_t *y, const float *x, size_t n);
	/*
	 * What x is to be integers in units of: NaN where it has NaN or Inf, or a length beyond floats. The integers are 0
	 * where that is NaN or 0.
	 */
	float (*int16_unit)(const float *x, size_t n, enum int16_use use);
	void (*to_int16)(int16_t *y, const float *x, size_t n, float unit);
	void (*attend)(const struct attend_tile *t);
};

/* The functions for this processor; chosen by the first call, with what GGUF_KERNEL caps. */
const struct vec *vec_best(void);
/* Number i of those compiled in, NULL past the end. Not all are supported by every processor. */
const struct vec *vec_tier(size_t i);

/* Values of one query's sum, made a whole number of registers. */
static inline size_t attend_stride(size_t value_len)
{
	return (value_len + 31) / 32 * 32;
}

/* Values of a query as integers. */
static inline size_t attend_query(size_t key_len)
{
	return (key_len + 31) / 32 * 32;
}

/* Keys or values of a group. */
static inline size_t attend_room(size_t key_len, size_t value_len)
{
	size_t key = attend_query(key_len), value = attend_stride(value_len);

	return CACHE_GROUP * (key > value ? key : value);
}

static inline size_t attend_scratch(size_t key_len, size_t value_len)
{
	size_t query = attend_query(key_len) * sizeof(int16_t) / sizeof(float);

	return attend_room(key_len, value_len) + ATTEND_ROWS * (attend_stride(value_len) + query);
}
#endif
