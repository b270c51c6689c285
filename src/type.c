/* SPDX-License-Identifier: MIT */
#include "gguf.h"
#include <errno.h>
#include <strings.h>

static const struct {
	const char *name;
	uint16_t values, bytes;
} types[GGUF_TYPE_LIMIT] = {
#define T(id, name, len, size) [id] = { #name, len, size },
#include "gguf-types.def"
#undef T
};

const char *gguf_type_name(uint32_t type)
{
	return type < GGUF_TYPE_LIMIT ? types[type].name : NULL;
}

int gguf_type_find(const char *name)
{
	for (int i = 0; i < GGUF_TYPE_LIMIT; i++)
		if (types[i].name && !strcasecmp(types[i].name, name))
			return i;
	return -ENOENT;
}

size_t gguf_type_values(uint32_t type)
{
	return type < GGUF_TYPE_LIMIT ? types[type].values : 0;
}

size_t gguf_type_bytes(uint32_t type)
{
	return type < GGUF_TYPE_LIMIT ? types[type].bytes : 0;
}
