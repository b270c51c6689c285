/* SPDX-License-Identifier: MIT */
/*
 * A type, an offset, a second type, then blocks of the first: every decoder that runs here gives the same bits, and
 * what the values become in the second type holds no NaN.
 */
#include "fuzz.h"
#include "quant/fast/tier.h"
#include <math.h>
#include <stdlib.h>

enum { VALUES_MOST = 2048 };

/* Exactly the bytes asked for, so that a sanitizer sees the first one past the end. */
static void *room(size_t n)
{
	void *p = malloc(n ? n : 1);

	if (!p)
		abort();
	return p;
}

static void expect_same(const float *a, const float *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (memcmp(a + i, b + i, sizeof *a) && !(isnan(a[i]) && isnan(b[i])))
			abort();
}

static void try_tiers(uint32_t type, const float *want, const uint8_t *src, size_t blocks)
{
	size_t n = blocks * gguf_type_values(type);
	float *got = room(n * sizeof *got);

	for (const struct quant_tier *const *t = quant_tiers; *t; t++) {
		if (!(*t)->supported() || !(*t)->decode[type])
			continue;
		memset(got, 0x55, n * sizeof *got);
		(*t)->decode[type](got, src, blocks);
		expect_same(want, got, n);
	}
	free(got);
}

static void try_encode(uint32_t type, const float *values, size_t n)
{
	size_t blocks = gguf_can_encode(type) ? n / gguf_type_values(type) : 0;
	size_t bytes = blocks * gguf_type_bytes(type);
	uint8_t *coded = room(bytes), *again = room(bytes);
	float *back = room(n * sizeof *back);

	n = blocks ? blocks * gguf_type_values(type) : 0;
	if (blocks && (gguf_encode(type, coded, values, blocks) || gguf_encode(type, again, values, blocks) ||
		       gguf_decode(type, back, coded, blocks) || memcmp(coded, again, bytes)))
		abort();
	for (size_t i = 0; i < n; i++)
		if (isnan(back[i]))
			abort();
	free(back);
	free(again);
	free(coded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_rest r = { data, size };
	uint32_t type = fuzz_byte(&r) % GGUF_TYPE_LIMIT, odd = fuzz_byte(&r) % 16, other = fuzz_byte(&r) % GGUF_TYPE_LIMIT;
	size_t blocks, bytes;
	uint8_t *src;
	float *values;

	if (!gguf_can_decode(type))
		return 0;
	blocks = r.n / gguf_type_bytes(type);
	if (blocks > VALUES_MOST / gguf_type_values(type))
		blocks = VALUES_MOST / gguf_type_values(type);
	bytes = blocks * gguf_type_bytes(type);
	src = room(odd + bytes);
	values = room(blocks * gguf_type_values(type) * sizeof *values);
	if (bytes)
		memcpy(src + odd, r.p, bytes);
	quant_find(type)->decode(values, src + odd, blocks);
	try_tiers(type, values, src + odd, blocks);
	try_encode(other, values, blocks * gguf_type_values(type));
	free(values);
	free(src);
	return 0;
}
