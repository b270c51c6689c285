/* SPDX-License-Identifier: MIT */
/* Keys by number and by name, and their values as the type a caller wants. */
#include "model.h"
#include <errno.h>
#include <string.h>

size_t gguf_key_count(const struct gguf *g)
{
	return g->files[0].key_count;
}

const struct gguf_key *gguf_key(const struct gguf *g, size_t i)
{
	return i < g->files[0].key_count ? &g->files[0].keys[i] : NULL;
}

ssize_t gguf_find_key(const struct gguf *g, const char *name, size_t n)
{
	return names_find(&g->files[0].key_names, name, n);
}

static int find_value(const struct gguf *g, const char *name, struct gguf_value *v)
{
	ssize_t i = gguf_find_key(g, name, strlen(name));

	return i < 0 ? (int)i : gguf_value(g, (size_t)i, v);
}

enum kind { UNSIGNED, SIGNED, FLOATING, OTHER };

static enum kind kind_of(enum gguf_value_type type)
{
	switch (type) {
	case GGUF_U8: case GGUF_U16: case GGUF_U32: case GGUF_U64:
		return UNSIGNED;
	case GGUF_I8: case GGUF_I16: case GGUF_I32: case GGUF_I64:
		return SIGNED;
	case GGUF_F32: case GGUF_F64:
		return FLOATING;
	default:
		return OTHER;
	}
}

int gguf_get_u64(const struct gguf *g, const char *name, uint64_t *v)
{
	struct gguf_value got;
	int err = find_value(g, name, &got);
	enum kind kind;

	if (err)
		return err;
	kind = kind_of(got.type);
	if (kind != UNSIGNED && kind != SIGNED)
		return -EINVAL;
	if (kind == SIGNED && got.i < 0)
		return -ERANGE;
	*v = kind == SIGNED ? (uint64_t)got.i : got.u;
	return 0;
}

int gguf_get_i64(const struct gguf *g, const char *name, int64_t *v)
{
	struct gguf_value got;
	int err = find_value(g, name, &got);
	enum kind kind;

	if (err)
		return err;
	kind = kind_of(got.type);
	if (kind != UNSIGNED && kind != SIGNED)
		return -EINVAL;
	if (kind == UNSIGNED && got.u > INT64_MAX)
		return -ERANGE;
	*v = kind == SIGNED ? got.i : (int64_t)got.u;
	return 0;
}

int gguf_get_f64(const struct gguf *g, const char *name, double *v)
{
	struct gguf_value got;
	int err = find_value(g, name, &got);

	if (err)
		return err;
	switch (kind_of(got.type)) {
	case UNSIGNED:
		*v = (double)got.u;
		return 0;
	case SIGNED:
		*v = (double)got.i;
		return 0;
	case FLOATING:
		*v = got.f;
		return 0;
	default:
		return -EINVAL;
	}
}

int gguf_get_bool(const struct gguf *g, const char *name, bool *v)
{
	struct gguf_value got;
	int err = find_value(g, name, &got);

	if (err)
		return err;
	if (got.type != GGUF_BOOL)
		return -EINVAL;
	*v = got.u != 0;
	return 0;
}

int gguf_get_string(const struct gguf *g, const char *name, struct gguf_bytes *v)
{
	struct gguf_value got;
	int err = find_value(g, name, &got);

	if (err)
		return err;
	if (got.type != GGUF_STRING)
		return -EINVAL;
	*v = got.s;
	return 0;
}
