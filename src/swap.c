/* SPDX-License-Identifier: MIT */
/*
 * Blocks of a big-endian file: which bytes of a block are numbers of more than one byte. Types are left out whose
 * layout on a big-endian host is not defined by what writes and reads them there (IQ2_XXS: indexes within words).
 */
#include "model.h"
#include <errno.h>

struct run {
	uint16_t at;
	uint8_t width; /* bytes of a number */
	uint8_t count;
};

static const struct layout {
	bool known;
	struct run runs[2];
} layouts[GGUF_TYPE_LIMIT] = {
#define RUNS(type, ...) [GGUF_TYPE_##type] = { true, { __VA_ARGS__ } }
	RUNS(F32, { 0, 4, 1 }),
	RUNS(F64, { 0, 8, 1 }),
	RUNS(F16, { 0, 2, 1 }),
	RUNS(BF16, { 0, 2, 1 }),
	RUNS(I8, { 0 }),
	RUNS(I16, { 0, 2, 1 }),
	RUNS(I32, { 0, 4, 1 }),
	RUNS(I64, { 0, 8, 1 }),
	RUNS(Q4_0, { 0, 2, 1 }),
	RUNS(Q4_1, { 0, 2, 2 }),
	RUNS(Q5_0, { 0, 2, 1 }, { 2, 4, 1 }),
	RUNS(Q5_1, { 0, 2, 2 }, { 4, 4, 1 }),
	RUNS(Q8_0, { 0, 2, 1 }),
	RUNS(Q8_1, { 0, 2, 2 }),
	RUNS(Q2_K, { 80, 2, 2 }),
	RUNS(Q3_K, { 108, 2, 1 }),
	RUNS(Q4_K, { 0, 2, 2 }),
	RUNS(Q5_K, { 0, 2, 2 }),
	RUNS(Q6_K, { 208, 2, 1 }),
	RUNS(Q8_K, { 0, 4, 1 }, { 260, 2, 16 }),
	RUNS(IQ2_XS, { 0, 2, 33 }),
	RUNS(IQ3_XXS, { 0, 2, 1 }, { 66, 4, 8 }),
	RUNS(IQ1_S, { 0, 2, 1 }, { 34, 2, 8 }),
	RUNS(IQ4_NL, { 0, 2, 1 }),
	RUNS(IQ3_S, { 0, 2, 1 }),
	RUNS(IQ2_S, { 0, 2, 1 }),
	RUNS(IQ4_XS, { 0, 2, 2 }),
	RUNS(IQ1_M, { 48, 2, 4 }),
	RUNS(TQ1_0, { 52, 2, 1 }),
	RUNS(TQ2_0, { 64, 2, 1 }),
	RUNS(MXFP4, { 0 }),
	RUNS(NVFP4, { 0 }),
	RUNS(Q1_0, { 0, 2, 1 }),
	RUNS(Q2_0, { 0, 2, 1 }),
#undef RUNS
};

static void turn(uint8_t *p, unsigned width)
{
	for (unsigned i = 0; i < width / 2; i++) {
		uint8_t other = p[width - 1 - i];

		p[width - 1 - i] = p[i];
		p[i] = other;
	}
}

static void turn_run(uint8_t *block, const struct run *r)
{
	for (unsigned k = 0; k < r->count; k++)
		turn(block + r->at + k * r->width, r->width);
}

int swap_blocks(uint32_t type, void *blocks, size_t nblocks)
{
	size_t bytes = gguf_type_bytes(type);
	uint8_t *p = blocks;

	if (!bytes || !layouts[type].known)
		return -ENOTSUP;
	for (size_t i = 0; i < nblocks; i++, p += bytes) {
		turn_run(p, &layouts[type].runs[0]);
		turn_run(p, &layouts[type].runs[1]);
	}
	return 0;
}
