/* SPDX-License-Identifier: MIT */
#include "tier.h"

const struct quant_tier *const quant_tiers[] = {
#define TIER(name) &quant_tier_##name,
#include "tiers.def"
#undef TIER
	NULL
};

static bool caps(const char *cap, const char *name)
{
	return cap && !strncmp(cap, name, strlen(name));
}

gguf_decode_fn *quant_choose(uint32_t type, const char *cap)
{
	const struct quant *q = quant_find(type);
	gguf_decode_fn *decode = q ? q->decode : NULL;

	if (!decode || caps(cap, "scalar"))
		return decode;
	for (const struct quant_tier *const *t = quant_tiers; *t; t++) {
		if ((*t)->supported() && (*t)->decode[type])
			decode = (*t)->decode[type];
		if (caps(cap, (*t)->name))
			break;
	}
	return decode;
}
