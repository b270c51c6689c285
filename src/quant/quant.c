/* SPDX-License-Identifier: MIT */
#include "quant.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include "fast/tier.h"

static const struct quant *const quants[GGUF_TYPE_LIMIT] = {
#define T(id, name, len, size) [id] = &quant_##name,
#include "gguf-types.def"
#undef T
};

const struct quant *quant_find(uint32_t type)
{
	return type < GGUF_TYPE_LIMIT ? quants[type] : NULL;
}

bool gguf_can_decode(uint32_t type)
{
	const struct quant *q = quant_find(type);

	return q && q->decode;
}

bool gguf_can_encode(uint32_t type)
{
	const struct quant *q = quant_find(type);

	return q && q->encode;
}

/* The best decoders for this processor, chosen by the first call. */
static gguf_decode_fn *best[GGUF_TYPE_LIMIT];

static void choose_best(void)
{
	for (uint32_t i = 0; i < GGUF_TYPE_LIMIT; i++)
		best[i] = quant_choose(i, getenv("GGUF_KERNEL"));
}

int gguf_decode(uint32_t type, float *dst, const void *src, size_t nblocks)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!gguf_can_decode(type))
		return -ENOTSUP;
	pthread_once(&once, choose_best);
	best[type](dst, src, nblocks);
	return 0;
}

int gguf_encode(uint32_t type, void *dst, const float *src, size_t nblocks)
{
	if (!gguf_can_encode(type))
		return -ENOTSUP;
	quants[type]->encode(dst, src, nblocks);
	return 0;
}
