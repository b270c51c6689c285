/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzz target without a fuzzer: each file of corpus/NAME as it is, cut, and with some bytes changed, always the
 * same ones. NAME is the program's without "fuzz_"; arguments are files to run as they are.
 */
#include "fuzz.h"
#include "tap.h"
#include <glob.h>
#include <stdlib.h>
#include <string.h>

enum { MUTATIONS = 200, LARGEST = 1 << 20 };

static uint32_t dice;

static uint32_t roll(void)
{
	dice ^= dice << 13;
	dice ^= dice >> 17;
	dice ^= dice << 5;
	return dice;
}

/* A copy of the very size, so that a sanitizer sees every byte past the end. */
static void run(const uint8_t *bytes, size_t n)
{
	uint8_t *exact = malloc(n ? n : 1);

	if (!exact)
		abort();
	memcpy(exact, bytes, n);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
}

static void run_mutations(uint8_t *bytes, size_t n)
{
	uint8_t *other = malloc(n ? n : 1);

	if (!other)
		abort();
	dice = 2463534242u;
	for (int i = 0; n && i < MUTATIONS; i++) {
		memcpy(other, bytes, n);
		for (uint32_t k = roll() % 4 + 1; k; k--)
			other[roll() % n] = (uint8_t)(roll() % 3 ? roll() : roll() % 2 ? 0 : 0xff);
		run(other, i % 4 ? n : roll() % n);
	}
	free(other);
}

static size_t slurp(const char *path, uint8_t *buf)
{
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(buf, 1, LARGEST, f) : 0;

	if (f)
		fclose(f);
	return n;
}

int main(int argc, char **argv)
{
	const char *top = getenv("top_srcdir"), *name = strstr(argv[0], "fuzz_");
	uint8_t *buf = malloc(LARGEST);
	char pattern[512];
	glob_t found;

	if (!buf || !name)
		return 99;
	for (int i = 1; i < argc; i++)
		run(buf, slurp(argv[i], buf));
	if (argc > 1)
		return free(buf), 0;
	snprintf(pattern, sizeof pattern, "%s/tests/corpus/%s/*", top ? top : ".", name + 5);
	if (glob(pattern, 0, NULL, &found))
		return printf("1..0 # SKIP no files like %s\n", pattern), free(buf), 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		size_t n = slurp(found.gl_pathv[i], buf);

		run(buf, n);
		run_mutations(buf, n);
		ok(1, "%s", strrchr(found.gl_pathv[i], '/') + 1);
	}
	globfree(&found);
	free(buf);
	done();
}
