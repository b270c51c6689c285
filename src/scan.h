/* SPDX-License-Identifier: MIT */
/* The search for values and scales of blocks that no sound model has. */
#ifndef GGUF_SCAN_H
#define GGUF_SCAN_H
#include "gguf.h"

#define TALLY_NONE { .first = UINT64_MAX, .first_huge = UINT64_MAX }
struct tally { /* of one tensor or a part of it: values, or blocks with such a scale */
	uint64_t nan, inf, huge;
	uint64_t first;      /* the first NaN or Inf; UINT64_MAX: none */
	uint64_t first_huge; /* the first of the huge ones, likewise */
};
/* Adds n bytes of whole blocks to *t; start is the number of the first block. False for a type that is not known. */
bool scan_blocks(uint32_t type, const void *blocks, size_t n, uint64_t start, struct tally *t);
/* Whether a block has many values and a scale, so that findings are blocks. */
bool scan_counts_blocks(uint32_t type);
#endif
