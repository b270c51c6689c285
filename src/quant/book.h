/* SPDX-License-Identifier: MIT */
/* Encoding with a code book: the entry nearest to eight values (or to four, twice). */
#ifndef GGUF_QUANT_BOOK_H
#define GGUF_QUANT_BOOK_H
#include "fit.h"

enum { BOOK_MOST = 2048 };

struct book;
/* The place of the entry nearest to v, the first of equals. */
typedef uint32_t book_nearest_fn(const struct book *b, const float *v);

struct book {
	int width;          /* values of a group */
	int dims, count;    /* values of an entry: 8 or 4; entries */
	bool even;          /* the number of minus signs among eight values must be even */
	int shift_width;    /* of signed entries: values that move by 1/8 together */
	book_nearest_fn *nearest; /* the best for this processor; all find the same */
	float point[8][BOOK_MOST];
	float half_norm[BOOK_MOST];
};

/* Fills b from entries of 8 bytes (dims 8) or 4. The rest is set by the caller before. */
void book_load(struct book *b, const void *entries);

/* Magnitudes: a code is place | place of the second four << 12 | signs << 24. */
fit_pick_fn book_pick;
/* Signed entries, moved: a code is place | down << 24. Levels are counted in eighths. */
fit_pick_fn book_pick_shifted;
#endif
