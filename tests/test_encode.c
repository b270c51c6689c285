/* SPDX-License-Identifier: MIT */
/* Encoders: error against a bound for every type and against published files, and that no input makes a NaN. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "gguf.h"
#include "tap.h"

static const struct {
	const char *name;
	uint32_t type;
	double bits; /* for a value */
} types[] = {
/* those for activations hold sums beside the values */
#define T(id, name, len, size) { #name, id, id == GGUF_TYPE_Q8_1 || id == GGUF_TYPE_Q8_K ? 8 : 8.0 * size / len },
#include "gguf-types.def"
#undef T
};
#define TYPES (sizeof types / sizeof *types)
enum { VALUES = 4096, FEW = 512 };
static float source[VALUES], result[VALUES];
static uint8_t blocks[VALUES * 8], again[VALUES * 8];

/* About normal: the sum of twelve uniform numbers. */
static float normal(uint32_t *seed)
{
	float sum = -6;

	for (int i = 0; i < 12; i++) {
		*seed = *seed * 1664525 + 1013904223;
		sum += (float)(*seed >> 8) * 0x1p-24f;
	}
	return sum;
}

/* Root of the squared error, relative to that of the values. */
static double relative_error(const float *want, const float *got, size_t n)
{
	double e = 0, s = 0;

	for (size_t i = 0; i < n; i++) {
		double off = (double)want[i] - (double)got[i];

		e += off * off;
		s += (double)want[i] * (double)want[i];
	}
	return s > 0 ? sqrt(e / s) : e > 0;
}

/* The first values of source, coded and back, to result. */
static int code(uint32_t type, size_t values)
{
	size_t n = values / gguf_type_values(type);

	return gguf_encode(type, blocks, source, n) || gguf_decode(type, result, blocks, n);
}

/*
 * b bits a value cannot do better than 2^-b on normal values, and a uniform quantizer whose range is not wasted does
 * within 2.4 times that (four deviations on either side, a step over the root of 12: 8 / 3.46 = 2.3).
 */
static void test_error(size_t i)
{
	uint32_t seed = 7;
	double scale = types[i].type >= GGUF_TYPE_I8 && types[i].type <= GGUF_TYPE_I64 ? 16 : 0.02;

	for (size_t k = 0; k < VALUES; k++)
		source[k] = (float)scale * normal(&seed);
	int failed = code(types[i].type, VALUES);
	double e = relative_error(source, result, VALUES);
	double bound = scale > 1 ? 0.5 / scale : fmax(2.4 * exp2(-types[i].bits), 0x1p-12);
	if (types[i].type == GGUF_TYPE_BF16)
		bound = 0x1p-9;
	ok(!failed && e <= bound, "%s: error %.5f, at most %.5f", types[i].name, e, bound);
	int same = !gguf_encode(types[i].type, again, source, VALUES / gguf_type_values(types[i].type)) &&
		   !memcmp(blocks, again, VALUES / gguf_type_values(types[i].type) * gguf_type_bytes(types[i].type));
	ok(same, "%s: the same blocks again", types[i].name);
}

static const struct {
	const char *what;
	float low, high; /* every other value */
	int every;       /* the others are about normal; 1: none */
} inputs[] = {
	{ "zeros", 0, 0, 1 },
	{ "negative zeros", -0.0f, -0.0f, 1 },
	{ "NaN", NAN, NAN, 1 },
	{ "some NaN", NAN, -NAN, 5 },
	{ "infinities", INFINITY, -INFINITY, 1 },
	{ "some infinities", INFINITY, -INFINITY, 7 },
	{ "one infinity a block", INFINITY, INFINITY, 32 },
	{ "greatest", FLT_MAX, -FLT_MAX, 1 },
	{ "some greatest", FLT_MAX, FLT_MAX, 9 },
	{ "smallest", FLT_TRUE_MIN, -FLT_TRUE_MIN, 1 },
	{ "smallest and normal", FLT_MIN, FLT_TRUE_MIN, 2 },
	{ "constant", 3.25f, 3.25f, 1 },
	{ "negative constant", -1e-3f, -1e-3f, 1 },
	{ "half's limits", 65504, -6e-8f, 1 },
	{ "beyond half", 1e6f, -1e30f, 3 },
};

static void test_input(size_t t, size_t i)
{
	uint32_t seed = 3;
	size_t bad = 0;
	/* types of one value to a block keep infinity, and halves know no more than 65504 */
	int may_be_infinite = gguf_type_values(types[t].type) == 1;

	for (size_t k = 0; k < FEW; k++)
		source[k] = k % (size_t)inputs[i].every ? normal(&seed) : k / 2 % 2 ? inputs[i].high : inputs[i].low;
	int failed = code(types[t].type, FEW);
	for (size_t k = 0; k < FEW; k++)
		bad += isnan(result[k]) || (!may_be_infinite && isinf(result[k])) ||
		       (inputs[i].low == 0 && inputs[i].every == 1 && result[k] != 0);
	if (failed || bad)
		ok(0, "%s of %s: %zu of %d values are wrong", types[t].name, inputs[i].what, bad, FEW);
}

static void test_inputs(size_t t)
{
	int failed = tap_failed;

	for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
		test_input(t, i);
	ok(failed == tap_failed, "%s: %zu kinds of awkward input", types[t].name, sizeof inputs / sizeof *inputs);
}

/* Tensor i of g as floats, to be freed. */
static float *floats_of(const struct gguf *g, size_t i)
{
	const struct gguf_tensor *t = gguf_tensor(g, i);
	uint8_t *raw = malloc(t->size);
	float *f = malloc(t->values * sizeof *f);

	if (!raw || !f || gguf_tensor_read(g, i, raw, t->size, 0) ||
	    gguf_decode(t->type, f, raw, t->values / gguf_type_values(t->type))) {
		free(f);
		f = NULL;
	}
	free(raw);
	return f;
}

struct worst {
	double ratio;
	char name[64];
	size_t tensors;
};

/* Error of our encoding of want (n values), decoded, over that of the published one. */
static double ratio_of(uint32_t type, const float *want, const float *published, size_t n)
{
	size_t nblocks = n / gguf_type_values(type);
	void *ours = malloc(nblocks * gguf_type_bytes(type));
	float *f = malloc(n * sizeof *f);
	double ratio = INFINITY;

	if (ours && f && !gguf_encode(type, ours, want, nblocks) && !gguf_decode(type, f, ours, nblocks))
		ratio = relative_error(want, f, n) / relative_error(want, published, n);
	free(ours);
	free(f);
	return ratio;
}

/* The tensor of plain that tensor t was made from; of experts, which are equal there, the layer they came from. */
static ssize_t find_source(const struct gguf *plain, const struct gguf_tensor *t)
{
	char name[128];

	snprintf(name, sizeof name, "%.*s", (int)t->name.n, t->name.p);
	char *experts = strstr(name, "_exps");
	if (experts)
		memmove(experts, experts + 5, strlen(experts + 5) + 1);
	return gguf_find_tensor(plain, name, strlen(name));
}

static void compare_tensor(const struct gguf *plain, const struct gguf *g, size_t i, struct worst *worst)
{
	const struct gguf_tensor *t = gguf_tensor(g, i);
	ssize_t from = find_source(plain, t);

	if (gguf_type_values(t->type) == 1 || from < 0)
		return;
	float *want = floats_of(plain, (size_t)from), *published = floats_of(g, i);
	uint64_t n = gguf_tensor(plain, (size_t)from)->values;
	double ratio = want && published && n <= t->values ? ratio_of(t->type, want, published, n) : INFINITY;
	worst->tensors++;
	if (ratio > worst->ratio) {
		worst->ratio = ratio;
		snprintf(worst->name, sizeof worst->name, "%s of %.*s", gguf_type_name(t->type), (int)t->name.n,
			 t->name.p);
	}
	free(want);
	free(published);
}

static struct gguf *open_story(const char *form)
{
	const char *dir = getenv("shared");
	char path[512];
	struct gguf *g;

	snprintf(path, sizeof path, "%s/models/stories/stories260K-pad256-%s.gguf", dir ? dir : ".", form);
	return gguf_open(&g, path, NULL) ? NULL : g;
}

static void test_published(void)
{
	static const char *const forms[] = { "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q4_0", "IQ4_XS", "Q3_K_M", "IQ3_S",
					     "Q2_K", "TQ2_0", "moe-MXFP4" };
	struct gguf *plain = open_story("f32");

	if (!plain) {
		skip("published files", "no shared/models/stories");
		return;
	}
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct gguf *g = open_story(forms[i]);
		struct worst worst = { 0 };

		for (size_t k = 0; g && k < gguf_tensor_count(g); k++)
			compare_tensor(plain, g, k, &worst);
		ok(worst.tensors > 0 && worst.ratio <= 1.01, "%s: %zu tensors, error at most %.4f of the published, %s",
		   forms[i], worst.tensors, worst.ratio, worst.name);
		gguf_close(g);
	}
	gguf_close(plain);
}

int main(void)
{
	for (size_t i = 0; i < TYPES; i++)
		if (gguf_can_encode(types[i].type)) {
			test_error(i);
			test_inputs(i);
		} else {
			skip(types[i].name, "has no encoder");
		}
	test_published();
	done();
}
