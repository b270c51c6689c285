/* SPDX-License-Identifier: MIT */
/* What one ISA does faster, with the same results. NULL: the tier before does it. */
#ifndef GGUF_QUANT_TIER_H
#define GGUF_QUANT_TIER_H
#include "../book.h"

struct quant_tier {
	const char *name;
	const char *also; /* another name for a cap, of an ISA that has nothing of its own here; NULL: none */
	bool (*supported)(void);
	gguf_decode_fn *decode[GGUF_TYPE_LIMIT];
	book_nearest_fn *nearest;
};
/* Slowest first, ends with NULL. */
extern const struct quant_tier *const quant_tiers[];
#define TIER(name) extern const struct quant_tier quant_tier_##name;
#include "tiers.def"
#undef TIER

/*
 * The decoder of a type, of the best tier up to cap that this processor has; NULL for a type without one. A cap is a
 * tier or a name that begins with one (avx512vnni means avx512 here). Unknown names and NULL cap nothing.
 */
gguf_decode_fn *quant_choose(uint32_t type, const char *cap);
/* The same for the search through a code book. */
book_nearest_fn *quant_choose_nearest(const char *cap);
#endif
