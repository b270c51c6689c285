/* SPDX-License-Identifier: MIT */
/* Keys are looked up as "ARCHITECTURE.NAME"; messages have them in full. */
#include "keys.h"
#include "error.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { NAME = 160 };

static const char *full(const struct keys *k, const char *name, char buf[NAME])
{
	snprintf(buf, NAME, "%s.%s", k->arch, name);
	return buf;
}

int key_fail(const struct keys *k, const char *name, const char *fmt, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return gguf_fail(k->e, -EINVAL, 0, "%s.%s: %s", k->arch, name, text);
}

bool key_has(const struct keys *k, const char *name)
{
	char buf[NAME];

	return source_has(k->s, full(k, name, buf));
}

int key_u32(const struct keys *k, const char *name, uint32_t *v)
{
	char buf[NAME];
	uint64_t u;
	int err = source_u64(k->s, full(k, name, buf), &u, k->e);

	if (err == -ENOENT)
		return 0;
	if (!err && u > INT32_MAX)
		return key_fail(k, name, "%llu is too large", (unsigned long long)u);
	if (!err)
		*v = (uint32_t)u;
	return err;
}

int need_u32(const struct keys *k, const char *name, uint32_t *v)
{
	return key_has(k, name) ? key_u32(k, name, v) : key_fail(k, name, "this key is missing");
}

int key_f32(const struct keys *k, const char *name, float *v)
{
	char buf[NAME];
	double f;
	int err = source_f64(k->s, full(k, name, buf), &f, k->e);

	if (err == -ENOENT)
		return 0;
	if (!err && !isfinite((float)f))
		return key_fail(k, name, "it is not a finite number");
	if (!err)
		*v = (float)f;
	return err;
}

int key_bool(const struct keys *k, const char *name, bool *v)
{
	char buf[NAME];
	int err = source_bool(k->s, full(k, name, buf), v, k->e);

	return err == -ENOENT ? 0 : err;
}

int key_string(const struct keys *k, const char *name, struct gguf_bytes *v)
{
	char buf[NAME];
	int err = source_string(k->s, full(k, name, buf), v, k->e);

	return err == -ENOENT ? 0 : err;
}

int key_per_layer(const struct keys *k, const char *name, uint32_t *v, uint32_t n)
{
	char buf[NAME];
	const int64_t *items;
	size_t count;
	int err = source_i64s(k->s, full(k, name, buf), &items, &count, k->e);

	if (err)
		return err == -ENOENT ? 0 : err;
	if (count != 1 && count < n)
		return key_fail(k, name, "it has %zu values for %u layers", count, n);
	for (uint32_t i = 0; i < n; i++) {
		int64_t x = items[count == 1 ? 0 : i];

		if (x < 0 || x > INT32_MAX)
			return key_fail(k, name, "%lld is out of range", (long long)x);
		v[i] = (uint32_t)x;
	}
	return 0;
}
