/* SPDX-License-Identifier: MIT */
/* Decoding to a buffer that stays in the second-level cache, as a ratio to memcpy of that many bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "quant/fast/tier.h"

enum { VALUES = 65536, ROUNDS = 9 };
static const struct {
	const char *name;
	uint32_t type;
	size_t values, bytes;
} types[] = {
#define T(id, name, len, size) { #name, id, len, size },
#include "gguf-types.def"
#undef T
};
static float out[VALUES], copy[VALUES];
static uint8_t blocks[VALUES * 8];

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void copy_floats(float *dst, const void *src, size_t n)
{
	memcpy(dst, src, n * sizeof *dst);
}

/* Seconds for n blocks, the best of some calls that last about 2 ms together. */
static double time_of(gguf_decode_fn *decode, const void *src, size_t n)
{
	double best = 1;

	for (double start = seconds(), last = start; last < start + 2e-3;) {
		decode(out, src, n);
		double now = seconds();
		if (now - last < best)
			best = now - last;
		last = now;
	}
	return best;
}

/* Of ROUNDS times of copy and decoder in turn, the best of each. */
static double ratio_of(gguf_decode_fn *decode, size_t n, double *rate)
{
	double copying = 1, decoding = 1;

	for (int i = 0; i < ROUNDS; i++) {
		double c = time_of(copy_floats, copy, VALUES), d = time_of(decode, blocks, n);

		copying = c < copying ? c : copying;
		decoding = d < decoding ? d : decoding;
	}
	*rate = sizeof out / decoding / 1e9;
	return copying / decoding;
}

int main(int argc, char **argv)
{
	const char *cap = argc > 1 ? argv[1] : getenv("GGUF_KERNEL");

	for (size_t i = 0; i < sizeof blocks; i++)
		blocks[i] = (uint8_t)(i * 2654435761u >> 24);
	printf("decode of %d values, kernels: %s\n", VALUES, cap ? cap : "best");
	printf("%-8s %8s %8s\n", "type", "GB/s", "x memcpy");
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		gguf_decode_fn *decode = quant_choose(types[i].type, cap);
		double rate, ratio = decode ? ratio_of(decode, VALUES / types[i].values, &rate) : 0;

		if (decode)
			printf("%-8s %8.1f %8.2f\n", types[i].name, rate, ratio);
	}
	return 0;
}
