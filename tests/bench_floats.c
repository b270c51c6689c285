/* SPDX-License-Identifier: MIT */
/*
 * Decoded tensors through a mount, the model's file cached and the mount's own cache cold: f32 against raw of an F32
 * tensor of the same size, and with O_DIRECT against the same decode by one thread in memory: of the whole tensor, and (in
 * cache) of 1 MiB after the other to the same place, as the reader has it. Usage: bench_floats MOUNT.GGUF
 */
#include "config.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "gguf.h"

enum { VALUES = 8 << 20, ROUNDS = 5, READ = 1 << 20, PASSES = 3 };
static const uint32_t types[] = { GGUF_TYPE_F32, GGUF_TYPE_F16, GGUF_TYPE_BF16, GGUF_TYPE_Q8_0, GGUF_TYPE_Q4_0,
				  GGUF_TYPE_Q4_K, GGUF_TYPE_Q6_K, GGUF_TYPE_IQ4_XS, GGUF_TYPE_IQ3_S };
#define TYPES (sizeof types / sizeof *types)
static char dir[] = "/tmp/bench_floats.XXXXXX", point[64], file[64];
static uint8_t *buffer;

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(const char *what)
{
	fprintf(stderr, "bench_floats: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* One tensor of each type, named after it; the bytes are a counter, so that all scales are finite. */
static void make_model(void)
{
	struct gguf_writer *w;
	const void *header;
	uint8_t some[61 * 1024];
	size_t size;
	FILE *f = fopen(file, "wb");

	if (!f || gguf_writer_new(&w))
		fail(file);
	for (size_t k = 0; k < TYPES; k++) {
		const char *name = gguf_type_name(types[k]);
		uint64_t extent[4] = { 4096, VALUES / 4096, 1, 1 };

		gguf_writer_tensor(w, name, strlen(name), types[k], 2, extent);
	}
	if (gguf_writer_header(w, &header, &size) || fwrite(header, 1, size, f) != size)
		fail(file);
	for (size_t k = 0; k < sizeof some; k++)
		some[k] = (uint8_t)(k % 61);
	for (uint64_t left = gguf_writer_file_size(w) - size; left;)
		left -= fwrite(some, 1, left < sizeof some ? (size_t)left : sizeof some, f);
	gguf_writer_free(w);
	if (fclose(f))
		fail(file);
}

/* Not by fork: what it shares with a child costs a fault a page at the next write, and would be measured. */
static void run(const char *program, const char *a, const char *b)
{
	char *args[] = { (char *)program, (char *)a, (char *)b, NULL };
	pid_t child;
	int status;

	if (posix_spawnp(&child, program, NULL, NULL, args, environ) || waitpid(child, &status, 0) != child || status)
		fail(program);
}

/* Seconds to read all of tensors/TYPE/NAME. */
static double time_read(uint32_t type, const char *name, int flags)
{
	char path[160];
	ssize_t n = 1;

	snprintf(path, sizeof path, "%s/tensors/%s/%s", point, gguf_type_name(type), name);
	double start = seconds();
	int fd = open(path, O_RDONLY | flags);
	if (fd < 0)
		fail(path);
	while (n > 0)
		n = read(fd, buffer, READ);
	if (n < 0)
		fail(path);
	close(fd);
	return seconds() - start;
}

/* Seconds to decode all of a tensor from raw to dst: at once, or piece values at a time to the same place. */
static double time_decode(const struct gguf_tensor *t, const uint8_t *raw, float *dst, uint64_t piece)
{
	size_t values = gguf_type_values(t->type);
	double start = seconds();

	for (uint64_t now, left = t->values; left; left -= now, raw += now / values * gguf_type_bytes(t->type)) {
		now = left < piece ? left : piece;
		gguf_decode(t->type, dst, raw, now / values);
	}
	return seconds() - start;
}

struct times {
	double cached, direct, memory, cache;
};

static void keep_least(double *least, double now)
{
	if (*least == 0 || now < *least)
		*least = now;
}

/* Some passes over each tensor: the first leaves the daemon with its buffers. */
static void measure(const char *program, const struct gguf *g, struct times *times, double *raw)
{
	static uint8_t bytes[sizeof(float) * VALUES];
	static float dst[VALUES];

	run(program, file, point);
	for (size_t k = 0; k < TYPES; k++) { /* leaves nothing in the mount's cache */
		const struct gguf_tensor *t = gguf_tensor(g, k);

		if (gguf_tensor_read(g, k, bytes, t->size, 0))
			fail(file);
		for (int pass = 0; pass < PASSES; pass++) {
			keep_least(&times[k].direct, time_read(types[k], "f32", O_DIRECT));
			keep_least(&times[k].memory, time_decode(t, bytes, dst, VALUES));
			keep_least(&times[k].cache, time_decode(t, bytes, dst, READ / sizeof *dst));
		}
	}
	keep_least(raw, time_read(GGUF_TYPE_F32, "raw", 0));
	for (size_t k = 0; k < TYPES; k++)
		keep_least(&times[k].cached, time_read(types[k], "f32", 0));
	run("fusermount3", "-u", point);
}

int main(int argc, char **argv)
{
	struct times times[TYPES] = { { 0 } };
	double raw = 0, bytes = 4.0 * VALUES / 1e9;
	struct gguf *g;

	buffer = mmap(NULL, READ, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc != 2 || buffer == MAP_FAILED || !mkdtemp(dir))
		fail("usage: bench_floats MOUNT.GGUF");
	snprintf(point, sizeof point, "%s/m", dir);
	snprintf(file, sizeof file, "%s/model.gguf", dir);
	make_model();
	if (mkdir(point, 0700) || gguf_open(&g, file, NULL))
		fail(file);
	for (int i = 0; i < ROUNDS; i++)
		measure(argv[1], g, times, &raw);
	printf("%d MiB of f32; raw of F32: %.2f GB/s\n", VALUES >> 18, bytes / raw);
	printf("%-8s %8s %8s %8s %8s %8s %8s\n", "type", "GB/s", "x raw", "O_DIRECT", "memory", "ratio", "cache");
	for (size_t k = 0; k < TYPES; k++)
		printf("%-8s %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f\n", gguf_type_name(types[k]), bytes / times[k].cached,
		       raw / times[k].cached, bytes / times[k].direct, bytes / times[k].memory,
		       times[k].memory / times[k].direct, bytes / times[k].cache);
	gguf_close(g);
	unlink(file);
	rmdir(point);
	rmdir(dir);
	return 0;
}
