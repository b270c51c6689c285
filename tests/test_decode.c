/* SPDX-License-Identifier: MIT */
/* The fast decoders against the plain ones, bit for bit: every tier, every type, every length, awkward scales. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "quant/fast/tier.h"
#include "quant/grid/grid.h"
#include "tap.h"

static const struct {
	const char *name;
	uint32_t type;
	size_t values, bytes;
} types[] = {
#define T(id, name, len, size) { #name, id, len, size },
#include "gguf-types.def"
#undef T
};
#define TYPES (sizeof types / sizeof *types)
enum { BLOCKS = 67, GUARD = 64, BYTES = BLOCKS * 292, VALUES = BLOCKS * 256 };

static uint8_t bytes[BYTES], moved[BYTES + 16];
static float want[VALUES], room[GUARD + VALUES + GUARD + 1];

/* Random bytes; of every block in turn the words are left, or some are made zero, small, greatest, infinite, NaN. */
static void fill(size_t block_bytes, uint32_t seed)
{
	static const uint16_t words[] = {
		0, 0x8000, 1, 0x8001, 0x03ff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e01, 0xffff,
	};
	size_t n = sizeof words / sizeof *words;

	for (size_t i = 0; i < BLOCKS * block_bytes; i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (uint8_t)(seed >> 24);
	}
	for (size_t k = 1; k < BLOCKS && block_bytes > 1; k += 2) {
		uint8_t *b = bytes + k * block_bytes;
		uint16_t w = words[k / 2 % n];

		memcpy(b, &w, sizeof w);
		memcpy(b + block_bytes - sizeof w, &w, sizeof w);
		if (k % 3 == 0 && block_bytes > 4)
			memcpy(b + sizeof w, words + (k + seed) % n, sizeof w);
	}
}

static int same(float a, float b)
{
	return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a);
}

/* Decodes nblocks from an odd address to guarded room. Says what is wrong, or NULL. */
static const char *try_length(gguf_decode_fn *decode, size_t i, size_t nblocks, size_t odd)
{
	size_t n = nblocks * types[i].values, skip = GUARD + odd % 2;

	memset(room, 0x55, sizeof room);
	memcpy(moved + odd, bytes, nblocks * types[i].bytes);
	decode(room + skip, moved + odd, nblocks);
	for (size_t k = 0; k < n; k++)
		if (!same(room[skip + k], want[k]))
			return "another value";
	for (const uint8_t *p = (const uint8_t *)room; p < (const uint8_t *)(room + skip); p++)
		if (*p != 0x55)
			return "wrote before the start";
	for (const uint8_t *p = (const uint8_t *)(room + skip + n); p < (const uint8_t *)room + sizeof room; p++)
		if (*p != 0x55)
			return "wrote past the end";
	return NULL;
}

static void test_kernel(const struct quant_tier *t, size_t i)
{
	gguf_decode_fn *decode = t->decode[types[i].type];

	for (uint32_t seed = 1; seed <= 3; seed++) {
		fill(types[i].bytes, seed);
		quant_find(types[i].type)->decode(want, bytes, BLOCKS);
		for (size_t n = 0; n <= BLOCKS; n++) {
			const char *wrong = try_length(decode, i, n, (n + seed) % 9);

			if (wrong) {
				ok(0, "%s %s: %zu blocks, seed %u: %s", t->name, types[i].name, n, seed, wrong);
				return;
			}
		}
	}
	ok(1, "%s %s: 0 to %d blocks", t->name, types[i].name, BLOCKS);
}

static void test_tier(const struct quant_tier *t)
{
	if (!t->supported()) {
		skip(t->name, "this processor lacks it");
		return;
	}
	for (size_t i = 0; i < TYPES; i++)
		if (t->decode[types[i].type])
			test_kernel(t, i);
}

/* A cap holds the tier of that name, and those before it. */
static void test_caps(void)
{
	gguf_decode_fn *plain = quant_find(GGUF_TYPE_Q4_K)->decode, *best = plain;

	ok(quant_choose(GGUF_TYPE_Q4_K, "scalar") == plain, "scalar is the plain one");
	for (const struct quant_tier *const *t = quant_tiers; *t; t++) {
		char longer[32];

		if ((*t)->supported() && (*t)->decode[GGUF_TYPE_Q4_K])
			best = (*t)->decode[GGUF_TYPE_Q4_K];
		snprintf(longer, sizeof longer, "%sx", (*t)->name);
		ok(quant_choose(GGUF_TYPE_Q4_K, (*t)->name) == best, "%s caps", (*t)->name);
		ok(quant_choose(GGUF_TYPE_Q4_K, longer) == best, "%s caps too", longer);
		if ((*t)->also)
			ok(quant_choose(GGUF_TYPE_Q4_K, (*t)->also) == best, "and so does %s", (*t)->also);
	}
	ok(quant_choose(GGUF_TYPE_Q4_K, NULL) == best, "no cap: the best");
	ok(quant_choose(GGUF_TYPE_Q4_K, "other") == best, "an unknown name: the best");
	ok(!quant_choose(4, NULL) && !quant_choose(GGUF_TYPE_LIMIT, NULL), "no decoder for an unknown type");
}

/* Every tier finds the same entry of a code book, also where two are as near. */
static void test_nearest(const struct quant_tier *t)
{
	static struct book book = { .width = 16, .dims = 8, .count = 1024 };
	book_nearest_fn *plain = quant_choose_nearest("scalar");
	uint32_t seed = 5;
	size_t other = 0;

	if (!t->supported() || !t->nearest) {
		skip(t->name, t->nearest ? "this processor lacks it" : "no search of its own");
		return;
	}
	book_load(&book, grid_IQ2_S);
	for (int i = 0; i < 2000; i++) {
		float v[8];

		for (int k = 0; k < 8; k++) {
			seed = seed * 1664525 + 1013904223;
			v[k] = (float)(seed >> 26) * (i % 2 ? 1 : 0.37f);
		}
		other += t->nearest(&book, v) != plain(&book, v);
	}
	ok(!other, "%s finds the entries that the plain search finds", t->name);
}

int main(void)
{
	test_caps();
	for (const struct quant_tier *const *t = quant_tiers; *t; t++) {
		test_tier(*t);
		test_nearest(*t);
	}
	done();
}
