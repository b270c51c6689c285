/* SPDX-License-Identifier: MIT */
/*
 * What bench_mount.sh measures with. Prints seconds, or a count:
 *
 *   bench_read copy FILE OUT      dd of FILE into OUT in 1 MiB blocks, which is overwritten
 *   bench_read plain FILE         reads FILE in 1 MiB blocks
 *   bench_read direct FILE        the same with O_DIRECT
 *   bench_read map FILE           adds up FILE's words over a map; the second time over, so that it is warm
 *   bench_read open LIST TIMES    opens, reads and closes each file named in LIST
 *   bench_read cached FILE        MiB of FILE in the page cache
 *   bench_read drop FILE          takes FILE out of the page cache
 */
#include "config.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BLOCK = 1 << 20 };

static void die(const char *what)
{
	fprintf(stderr, "bench_read: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int open_or_die(const char *path, int flags)
{
	int fd = open(path, flags, 0600);

	if (fd < 0)
		die(path);
	return fd;
}

static void *map_or_die(const char *path, size_t *size)
{
	int fd = open_or_die(path, O_RDONLY);
	struct stat st;
	void *map;

	if (fstat(fd, &st))
		die(path);
	*size = (size_t)st.st_size;
	map = mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		die(path);
	close(fd);
	return map;
}

/* Reads from in; writes to out where that is not -1. */
static double transfer(const char *path, int flags, int out)
{
	int in = open_or_die(path, O_RDONLY | flags);
	void *buf = aligned_alloc(BLOCK, BLOCK);
	double start = now();
	ssize_t n;

	while ((n = read(in, buf, BLOCK)) > 0)
		if (out >= 0 && write(out, buf, (size_t)n) != n)
			die("write");
	if (n < 0)
		die(path);
	close(in);
	free(buf);
	return now() - start;
}

static double copy(char **argv)
{
	return transfer(argv[0], 0, open_or_die(argv[1], O_WRONLY | O_CREAT | O_TRUNC));
}

static double plain(char **argv)
{
	return transfer(argv[0], 0, -1);
}

static double direct(char **argv)
{
	return transfer(argv[0], O_DIRECT, -1);
}

static uint64_t sum(const uint64_t *p, size_t n)
{
	uint64_t a = 0, b = 0, c = 0, d = 0;

	for (size_t i = 0; i + 3 < n; i += 4) {
		a += p[i];
		b += p[i + 1];
		c += p[i + 2];
		d += p[i + 3];
	}
	return a + b + c + d;
}

static double map(char **argv)
{
	size_t size;
	const uint64_t *p = map_or_die(argv[0], &size);
	volatile uint64_t sink = sum(p, size / 8);
	double best = 1e9;

	for (int i = 0; i < 3; i++) {
		double start = now();

		sink = sum(p, size / 8);
		if (now() - start < best)
			best = now() - start;
	}
	(void)sink;
	return best;
}

static char **read_list(const char *path, size_t *n)
{
	FILE *f = fopen(path, "r");
	char **names = NULL, *line = NULL;
	size_t room = 0;

	if (!f)
		die(path);
	for (*n = 0; getline(&line, &room, f) > 0; (*n)++) {
		line[strcspn(line, "\n")] = '\0';
		names = realloc(names, (*n + 1) * sizeof *names);
		names[*n] = strdup(line);
	}
	fclose(f);
	return names;
}

/* The first pass fills caches and does not count. */
static double open_all(char **argv)
{
	size_t n;
	char **names = read_list(argv[0], &n), buf[4096];
	double start = 0;

	for (int pass = 0; pass <= atoi(argv[1]); pass++) {
		if (pass == 1)
			start = now();
		for (size_t i = 0; i < n; i++) {
			int fd = open_or_die(names[i], O_RDONLY);

			if (read(fd, buf, sizeof buf) < 0)
				die(names[i]);
			close(fd);
		}
	}
	return now() - start;
}

static double cached(char **argv)
{
	size_t size, pages, in = 0;
	void *p = map_or_die(argv[0], &size);
	unsigned char *v = malloc(pages = (size + 4095) / 4096);

	if (mincore(p, size, v))
		die(argv[0]);
	for (size_t i = 0; i < pages; i++)
		in += v[i] & 1;
	return (double)in / 256;
}

static double drop(char **argv)
{
	int fd = open_or_die(argv[0], O_RDONLY);

	fdatasync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
	return 0;
}

static const struct command {
	const char *name;
	int args;
	double (*run)(char **argv);
} commands[] = {
	{ "copy", 2, copy }, { "plain", 1, plain }, { "direct", 1, direct }, { "map", 1, map },
	{ "open", 2, open_all }, { "cached", 1, cached }, { "drop", 1, drop },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(argv[1], commands[i].name) && argc == 2 + commands[i].args) {
			printf("%.6f\n", commands[i].run(argv + 2));
			return 0;
		}
	fprintf(stderr, "usage: bench_read copy|plain|direct|map|open|cached|drop ...\n");
	return 2;
}
