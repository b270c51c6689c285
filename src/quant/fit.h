/* SPDX-License-Identifier: MIT */
/*
 * The search for scales that all encoders share. A block is groups of values; a group's scale is the block's d times a
 * factor that a small code stands for; a value is its scale times a level. Least squares over d, codes and levels.
 */
#ifndef GGUF_QUANT_FIT_H
#define GGUF_QUANT_FIT_H
#include "quant.h"

enum { FIT_VALUES = 256, FIT_GROUPS = 16 };

/* Of the levels chosen for a group at some scale: sum of value * level, and of level squared. */
struct fit_sums {
	double xq, qq;
};

/*
 * Chooses the nearest levels for the group of values at x, at this scale (0: any), and says in *code which: a number
 * for each value, or one for each eight values of a code book.
 */
typedef struct fit_sums fit_pick_fn(const void *set, const float *x, float scale, uint32_t *code);

struct fit_scheme {
	int groups, width;   /* groups in a block, values in a group */
	int codes_per_group; /* that pick writes */
	int low, high;       /* codes of a group's scale; the factor is step * code + base */
	float step, base;
	float top;           /* the greatest level */
	float from, to;      /* the search tries scales that put the greatest value at from * top to to * top, ... */
	int tries;           /* ... this many of them */
	bool both;           /* negative scales too, for levels that reach further on one side */
	fit_pick_fn *pick;
	const void *set;     /* for pick: what levels there are; a code book is given to fit_block instead */
};

struct fit {
	float d; /* is a half */
	int scale[FIT_GROUPS];
	uint32_t code[FIT_VALUES];
};

/* Fits one block, groups * width values, which are finite. set replaces s->set unless NULL. */
void fit_block(const struct fit_scheme *s, const void *set, const float *x, struct fit *f);

/*
 * Encodes n blocks of a half d and 16 bytes: the low nibbles are the codes of values 0 to 15, the high ones of 16
 * to 31. s has one group of 32.
 */
void fit_encode_nibbles(const struct fit_scheme *s, uint8_t *b, const float *x, size_t n);

/* Levels low to high; codes count from low. */
struct fit_range {
	int width, low, high;
};
fit_pick_fn fit_pick_range;

/* 16 levels in any order; a code is the place in it. */
struct fit_table {
	int width;
	const int8_t *level;
};
fit_pick_fn fit_pick_table;

/*
 * value = d * scale * q - dmin * min with q from 0 to top. A free minimum may be negative, so that dmin is; else scale
 * and min are codes from low to high.
 */
struct affine_scheme {
	int groups, width, top;
	int low, high;
	bool free;
	int tries;
};

struct affine {
	float d, dmin; /* are halves */
	int scale[FIT_GROUPS], min[FIT_GROUPS];
	int32_t q[FIT_VALUES];
};

void affine_block(const struct affine_scheme *s, const float *x, struct affine *a);

/*
 * Copies n values; NaN and what is below 2^-60 become 0, what is beyond 2^30 becomes that. A half times a factor and a
 * level covers less, and the sums of squares can neither overflow nor vanish.
 */
void fit_load(float *dst, const float *src, int n);

/* The nearest finite half, as a float. */
static inline float fit_half(float d)
{
	float limit = 65504;

	return half_value(half_bits(d > limit ? limit : d < -limit ? -limit : d));
}

static inline float fit_clamp(float v, float low, float high)
{
	return v < low ? low : v > high ? high : v;
}

/* Nearest integer of |v| < 2^22, halves to even: adding 1.5 * 2^23 leaves it in the low bits. */
static inline int fit_nearest(float v)
{
	return (int)(bits_of_float(v + 0x1.8p23f) & 0x7fffff) - 0x400000;
}

static inline void put_half(uint8_t *p, float f)
{
	put16(p, half_bits(f));
}
#endif
