/* SPDX-License-Identifier: MIT */
#include "arch.h"
#include <string.h>

#define A(id) extern const struct arch arch_##id;
#include "archs.def"
#undef A

static const struct arch *const archs[] = {
#define A(id) &arch_##id,
#include "archs.def"
#undef A
};

const struct arch *arch_find(const char *name, size_t n)
{
	for (size_t i = 0; i < sizeof(archs) / sizeof(*archs); i++)
		if (strlen(archs[i]->name) == n && !memcmp(archs[i]->name, name, n))
			return archs[i];
	return NULL;
}

const char *arch_name(size_t i)
{
	return i < sizeof(archs) / sizeof(*archs) ? archs[i]->name : NULL;
}
