/* SPDX-License-Identifier: MIT */
/*
 * Decoded tensors through a mount, the model's file cached and the mount's own cache cold: f32 against raw of an F32
 * tensor of the same size, and with O_DIRECT against decoding in memory. Usage: bench_floats MOUNT.GGUF
 */
#include "config.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "gguf.h"

enum { VALUES = 8 << 20, ROUNDS = 5, READ = 1 << 20 };
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

static void run(const char *program, const char *a, const char *b)
{
	pid_t child = fork();
	int status;

	if (!child) {
		execlp(program, program, a, b, (char *)NULL);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
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

/* Seconds to decode the tensor, from memory to as much memory. */
static double time_decode(const struct gguf *g, size_t k, float *dst)
{
	const struct gguf_tensor *t = gguf_tensor(g, k);
	uint8_t *raw = malloc(t->size);

	if (!raw || gguf_tensor_read(g, k, raw, t->size, 0))
		fail("memory");
	double start = seconds();
	gguf_decode(t->type, dst, raw, t->values / gguf_type_values(t->type));
	double took = seconds() - start;
	free(raw);
	return took;
}

struct times {
	double cached, direct, memory;
};

static void keep_least(double *least, double now)
{
	if (*least == 0 || now < *least)
		*least = now;
}

static void measure(const char *program, const struct gguf *g, float *dst, struct times *times, double *raw)
{
	run(program, file, point);
	for (size_t k = 0; k < TYPES; k++) { /* leaves nothing cached, and the daemon warm */
		keep_least(&times[k].direct, time_read(types[k], "f32", O_DIRECT));
		keep_least(&times[k].memory, time_decode(g, k, dst));
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
	float *dst = malloc(sizeof *dst * VALUES);
	struct gguf *g;

	buffer = mmap(NULL, READ, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc != 2 || !dst || buffer == MAP_FAILED || !mkdtemp(dir))
		fail("usage: bench_floats MOUNT.GGUF");
	snprintf(point, sizeof point, "%s/m", dir);
	snprintf(file, sizeof file, "%s/model.gguf", dir);
	make_model();
	if (mkdir(point, 0700) || gguf_open(&g, file, NULL))
		fail(file);
	memset(dst, 1, sizeof *dst * VALUES);
	for (int i = 0; i < ROUNDS; i++)
		measure(argv[1], g, dst, times, &raw);
	printf("%d MiB of f32; raw of F32: %.2f GB/s\n", VALUES >> 18, bytes / raw);
	printf("%-8s %8s %8s %8s %8s %8s\n", "type", "GB/s", "x raw", "O_DIRECT", "memory", "ratio");
	for (size_t k = 0; k < TYPES; k++)
		printf("%-8s %8.2f %8.2f %8.2f %8.2f %8.2f\n", gguf_type_name(types[k]), bytes / times[k].cached,
		       raw / times[k].cached, bytes / times[k].direct, bytes / times[k].memory,
		       times[k].memory / times[k].direct);
	gguf_close(g);
	unlink(file);
	rmdir(point);
	rmdir(dir);
	return 0;
}
