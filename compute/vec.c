/* SPDX-License-Identifier: MIT */
#include "vec.h"
#include "kernel/kernel.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

extern const struct vec vec_scalar, vec_avx2, vec_avxvnni, vec_avx512f, vec_avx512, vec_neon;

static const struct vec *const tiers[] = {
	&vec_scalar,
#ifdef __x86_64__
	&vec_avx2,
	&vec_avxvnni,
	&vec_avx512f,
	&vec_avx512,
#endif
#ifdef __aarch64__
	&vec_neon,
#endif
};
enum { TIERS = sizeof(tiers) / sizeof(*tiers) };
static const struct vec *best;

const struct vec *vec_tier(size_t i)
{
	return i < TIERS ? tiers[i] : NULL;
}

/* GGUF_KERNEL names a tier of matrix kernels: the last one here is that of the same name, or before any that is above it. */
static void choose(void)
{
	const char *cap = getenv("GGUF_KERNEL");

	for (size_t i = 0; i < TIERS && !(cap && kernel_is_above(tiers[i]->name, cap)); i++) {
		if (tiers[i]->supported())
			best = tiers[i];
		if (cap && !strcmp(cap, tiers[i]->name))
			break;
	}
}

const struct vec *vec_best(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, choose);
	return best;
}
