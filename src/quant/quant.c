/* SPDX-License-Identifier: MIT */
#include "quant.h"
#include <errno.h>

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

int gguf_decode(uint32_t type, float *dst, const void *src, size_t nblocks)
{
	if (!gguf_can_decode(type))
		return -ENOTSUP;
	quants[type]->decode(dst, src, nblocks);
	return 0;
}

int gguf_encode(uint32_t type, void *dst, const float *src, size_t nblocks)
{
	if (!gguf_can_encode(type))
		return -ENOTSUP;
	quants[type]->encode(dst, src, nblocks);
	return 0;
}
