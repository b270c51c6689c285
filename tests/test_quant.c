/* SPDX-License-Identifier: MIT */
/* Every tensor type: the reference blocks and the floats they mean, and what small blocks must give. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "gguf.h"
#include "tap.h"

static const struct {
	const char *name;
	uint32_t type;
} types[] = {
#define T(id, name, len, size) { #name, id },
#include "gguf-types.def"
#undef T
};
#define TYPES (sizeof types / sizeof *types)

/* The bytes of shared/vectors/dequant/NAMEKIND.EXT, to be freed, or NULL. */
static void *load(const char *name, const char *kind, const char *ext, size_t *size)
{
	const char *dir = getenv("shared");
	char path[512];

	snprintf(path, sizeof path, "%s/vectors/dequant/%s%s.%s", dir ? dir : ".", name, kind, ext);
	FILE *f = fopen(path, "rb");
	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	*size = (size_t)ftell(f);
	rewind(f);
	void *p = malloc(*size + 1);
	if (p && fread(p, 1, *size, f) != *size) {
		free(p);
		p = NULL;
	}
	fclose(f);
	return p;
}

/* Whether two floats are the same bits, or both NaN. */
static int same(float a, float b)
{
	return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a);
}

static void check_floats(const char *name, const char *kind, const float *got, const float *want, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!same(got[i], want[i])) {
			ok(0, "%s%s", name, kind);
			printf("# value %zu: %a, must be %a\n", i, (double)got[i], (double)want[i]);
			return;
		}
	ok(n > 0, "%s%s: %zu values", name, kind, n);
}

static void test_vector(const char *name, uint32_t type, const char *kind)
{
	size_t raw_size, want_size, n;
	uint8_t *raw = load(name, kind, "raw", &raw_size);
	float *want = load(name, kind, "f32", &want_size);

	if (raw && want) {
		size_t blocks = raw_size / gguf_type_bytes(type);
		float *got = malloc(want_size);

		n = blocks * gguf_type_values(type);
		if (!ok(n * sizeof *want == want_size, "%s%s: size", name, kind) || !got ||
		    gguf_decode(type, got, raw, blocks))
			ok(0, "%s%s decodes", name, kind);
		else
			check_floats(name, kind, got, want, n);
		free(got);
	}
	free(raw);
	free(want);
}

static void test_vectors(void)
{
	static const char *const kinds[] = { "", ".random", ".edge" };
	size_t size;
	void *p = load("F32", "", "raw", &size);

	if (!p) {
		skip("reference vectors", "no shared/vectors/dequant");
		return;
	}
	free(p);
	for (size_t i = 0; i < TYPES; i++)
		for (size_t k = 0; k < 3; k++)
			test_vector(types[i].name, types[i].type, kinds[k]);
}

static void test_unknown(void)
{
	static const uint32_t ids[] = { 4, 31, 43, GGUF_TYPE_LIMIT - 1, GGUF_TYPE_LIMIT, UINT32_MAX };
	float f[256];

	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		ok(!gguf_can_decode(ids[i]) && !gguf_can_encode(ids[i]) && gguf_decode(ids[i], f, f, 1) == -ENOTSUP &&
		   gguf_encode(ids[i], f, f, 1) == -ENOTSUP, "type %u is not known", ids[i]);
}

int main(void)
{
	for (size_t i = 0; i < TYPES; i++)
		ok(gguf_can_decode(types[i].type), "%s can be decoded", types[i].name);
	test_unknown();
	test_vectors();
	done();
}
