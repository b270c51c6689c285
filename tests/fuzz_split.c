/* SPDX-License-Identifier: MIT */
/* A set of two shards on disk: two bytes with the length of the first, then both. */
#include "fuzz.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char dir[64], paths[2][96];

static void clean(void)
{
	unlink(paths[0]);
	unlink(paths[1]);
	rmdir(dir);
}

static void prepare(void)
{
	if (dir[0])
		return;
	snprintf(dir, sizeof dir, "%s/fuzz_split.XXXXXX", access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		exit(99);
	for (int i = 0; i < 2; i++)
		snprintf(paths[i], sizeof paths[i], "%s/m-%05d-of-00002.gguf", dir, i + 1);
	atexit(clean);
}

static void put(const char *path, const uint8_t *p, size_t n)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(p, 1, n, f) != n || fclose(f))
		exit(99);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gguf *g = NULL;
	struct gguf_error e = { 0 };
	size_t first;

	if (size < 2)
		return 0;
	prepare();
	first = data[0] | (size_t)data[1] << 8;
	if (first > size - 2)
		first = size - 2;
	put(paths[0], data + 2, first);
	put(paths[1], data + 2 + first, size - 2 - first);
	if (gguf_open(&g, paths[data[0] & 1], &e))
		return 0;
	fuzz_walk(g);
	gguf_close(g);
	return 0;
}
