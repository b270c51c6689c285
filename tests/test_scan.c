/* SPDX-License-Identifier: MIT */
/* The search for broken scales against the decoders: what it calls no number decodes to none, and nothing else does but the huge. */
#include "scan.h"
#include "tap.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 4096 };

static uint32_t dice = 1;

static uint32_t roll(void)
{
	dice ^= dice << 13;
	dice ^= dice >> 17;
	dice ^= dice << 5;
	return dice;
}

static bool is_broken(uint32_t type, const uint8_t *block)
{
	float f[256];

	if (gguf_decode(type, f, block, 1))
		return false;
	for (size_t i = 0; i < gguf_type_values(type); i++)
		if (!isfinite(f[i]))
			return true;
	return false;
}

/* Random bytes: one block in some tens has a scale that is no number. */
static void check_type(uint32_t type)
{
	size_t bytes = gguf_type_bytes(type);
	uint8_t *blocks = malloc(BLOCKS * bytes);
	uint64_t broken = 0, told = 0, first = UINT64_MAX, missed = 0;
	struct tally all = TALLY_NONE;

	for (size_t i = 0; i < BLOCKS * bytes; i++)
		blocks[i] = (uint8_t)roll();
	for (uint64_t i = 0; i < BLOCKS; i++) {
		struct tally one = TALLY_NONE;
		bool is = is_broken(type, blocks + i * bytes);

		scan_blocks(type, blocks + i * bytes, bytes, i, &one);
		missed += (is && one.first == UINT64_MAX && !one.huge) || (!is && one.nan + one.inf) || (one.first != UINT64_MAX && one.first != i);
		if (one.nan + one.inf && !told++)
			first = i;
		broken += is;
	}
	ok(!missed, "%s: %llu of %d blocks are broken, each is seen", gguf_type_name(type), (unsigned long long)broken, BLOCKS);
	ok(scan_blocks(type, blocks, BLOCKS * bytes, 0, &all) && all.first == first, "%s: the first is, among all", gguf_type_name(type));
	free(blocks);
}

/* One bad value at each place of a long sound run: no shortcut passes over it. */
static void check_places(uint32_t type, size_t at, const void *bad, size_t n)
{
	enum { RUN = 1500 };
	size_t bytes = gguf_type_bytes(type), missed = 0;
	uint8_t *blocks = calloc(RUN, bytes);

	for (size_t i = 0; i < RUN; i++) {
		struct tally t = TALLY_NONE;

		memcpy(blocks + i * bytes + at, bad, n);
		scan_blocks(type, blocks, RUN * bytes, 1000, &t);
		missed += t.nan != 1 || t.inf || t.huge || t.first != 1000 + i;
		memset(blocks + i * bytes + at, 0, n);
	}
	ok(!missed, "%s: found at each of %d places", gguf_type_name(type), RUN);
	free(blocks);
}

static void check_limits(void)
{
	static const float values[] = { 0, 1, -1000, 0x1p23f, 0x1p24f, -0x1p25f, INFINITY, -INFINITY, NAN };
	struct tally t = TALLY_NONE;

	ok(scan_blocks(GGUF_TYPE_F32, values, sizeof values, 0, &t) && t.huge == 2 && t.inf == 2 && t.nan == 1 && t.first_huge == 4 && t.first == 6,
	   "F32: huge, Inf and NaN are told apart");
	ok(!scan_blocks(77, values, sizeof values, 0, &t), "an unknown type is not judged");
	ok(scan_blocks(GGUF_TYPE_I32, values, sizeof values, 0, &t) && t.nan == 1, "integers are all sound");
}

int main(void)
{
	static const uint8_t half_nan[] = { 0, 0x7e }, single_nan[] = { 0, 0, 0xc0, 0x7f };

	for (uint32_t type = 0; type < GGUF_TYPE_LIMIT; type++)
		if (gguf_type_name(type) && gguf_can_decode(type))
			check_type(type);
	check_places(GGUF_TYPE_F32, 0, single_nan, 4);
	check_places(GGUF_TYPE_F16, 0, half_nan, 2);
	check_places(GGUF_TYPE_BF16, 0, single_nan + 2, 2);
	check_places(GGUF_TYPE_Q8_0, 0, half_nan, 2);
	check_places(GGUF_TYPE_Q4_K, 2, half_nan, 2);
	check_places(GGUF_TYPE_Q6_K, 208, half_nan, 2);
	check_limits();
	done();
}
