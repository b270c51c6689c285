/* SPDX-License-Identifier: MIT */
#include "kernel.h"
#include "block.h"
#include "error.h"
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct kernel_tier *const kernel_tiers[] = {
#define TIER(name) &kernel_##name,
#include "tiers.def"
#undef TIER
	NULL
};
struct kernel_tier kernel;

bool kernel_is_int(uint32_t type)
{
	return type < GGUF_TYPE_LIMIT && block_types[type].get;
}

static void add_tier(struct kernel_tier *k, const struct kernel_tier *t)
{
	k->name = t->name;
	if (t->limits)
		k->limits = t->limits;
	if (t->pair_peak)
		k->pair_peak = t->pair_peak;
	if (t->quantize)
		k->quantize = t->quantize;
	if (t->round)
		k->round = t->round;
	for (uint32_t i = 0; i < GGUF_TYPE_LIMIT; i++) {
		kernel_mul_fn *any = kernel_is_int(i) ? t->mul_int : t->mul_float;

		if (t->mul[i] || (any && gguf_can_decode(i)))
			k->mul[i] = t->mul[i] ? t->mul[i] : any;
	}
}

int kernel_select(const char *cap)
{
	struct kernel_tier best = { 0 };
	bool found = !cap;

	for (const struct kernel_tier *const *t = kernel_tiers; *t; t++) {
		if ((*t)->supported())
			add_tier(&best, *t);
		if (cap && !strcmp(cap, (*t)->name)) {
			found = true;
			break;
		}
	}
	if (!found)
		return -EINVAL;
	kernel = best;
	return 0;
}

bool kernel_is_above(const char *name, const char *cap)
{
	bool above = false;

	for (const struct kernel_tier *const *t = kernel_tiers; *t; t++) {
		if (above && !strcmp(name, (*t)->name))
			return true;
		above = above || !strcmp(cap, (*t)->name);
	}
	return false;
}

static int init_result;

static void init(void)
{
	const char *cap = getenv("GGUF_KERNEL");

	init_result = kernel_select(cap && *cap ? cap : NULL);
}

static int no_such_tier(struct gguf_error *e)
{
	char names[64];
	size_t n = 0;

	for (const struct kernel_tier *const *t = kernel_tiers; *t && n < sizeof names; t++)
		n += (size_t)snprintf(names + n, sizeof names - n, " %s", (*t)->name);
	return gguf_fail(e, init_result, 0, "GGUF_KERNEL: there are no kernels called '%s'; there are:%s",
			 getenv("GGUF_KERNEL"), names);
}

int mat_init(struct gguf_error *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, init);
	return init_result ? no_such_tier(e) : 0;
}

const char *mat_tier(void)
{
	return kernel.name;
}
