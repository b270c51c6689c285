/* SPDX-License-Identifier: MIT */
#include "tier.h"
#include "nearest.h"

const struct quant_tier *const quant_tiers[] = {
#define TIER(name) &quant_tier_##name,
#include "tiers.def"
#undef TIER
	NULL
};

static bool begins(const char *cap, const char *name)
{
	return cap && !strncmp(cap, name, strlen(name));
}

/* The best tier up to cap, NULL for the plain C, that has what is asked for: a decoder, or with no type a search. */
static const struct quant_tier *best_tier(const char *cap, uint32_t type)
{
	const struct quant_tier *best = NULL;

	for (const struct quant_tier *const *t = quant_tiers; *t && !begins(cap, "scalar"); t++) {
		if ((*t)->supported() && (type < GGUF_TYPE_LIMIT ? (*t)->decode[type] != NULL : (*t)->nearest != NULL))
			best = *t;
		if (begins(cap, (*t)->name) || (cap && (*t)->also && !strcmp(cap, (*t)->also)))
			break;
	}
	return best;
}

gguf_decode_fn *quant_choose(uint32_t type, const char *cap)
{
	const struct quant *q = quant_find(type);
	const struct quant_tier *best = q && q->decode ? best_tier(cap, type) : NULL;

	return best ? best->decode[type] : q ? q->decode : NULL;
}

book_nearest_fn *quant_choose_nearest(const char *cap)
{
	const struct quant_tier *best = best_tier(cap, GGUF_TYPE_LIMIT);

	return best ? best->nearest : nearest_entry;
}
