/* SPDX-License-Identifier: MIT */
/* The matrix kernels alone, on weights that are too many for the caches. */
#include "bench.h"
#include "clock.h"
#include "matmul.h"
#include "gguf.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { IN = 1024, OUT = 3072, BYTES = 256 << 20, MOST_TOKENS = 512, PARTS = 12, FEW = 8 };
static const size_t batches[] = { 1, 2, 4, 8, 16, 32, MOST_TOKENS };
enum { BATCHES = sizeof batches / sizeof *batches };

struct kernel_job {
	struct mat w; /* the first of many in memory */
	size_t mats, tokens;
	struct act *a;
	float *x, *y;
};

static void multiply(const struct team *t, void *ctx)
{
	struct kernel_job *j = ctx;
	size_t bytes = j->w.row_bytes * OUT;

	act_load(j->a, t, act_form(j->w.type), j->x, IN, NULL, j->tokens, IN);
	team_barrier(t);
	for (size_t i = 0; i < j->mats; i++) {
		struct mat w = j->w;

		w.data = (const char *)w.data + i * bytes;
		mat_mul(&w, j->a, j->y, OUT, t);
		team_barrier(t);
	}
}

/* Seconds for one of several parts of the matrices, the best of all parts. */
static double time_of(struct team_barrier *b, struct kernel_job *j, size_t parts)
{
	struct kernel_job part = *j;
	double best = HUGE_VAL;

	for (size_t i = 0; i < parts; i++) {
		double start = clock_now();

		part.w.data = (const char *)j->w.data + i * j->mats * j->w.row_bytes * OUT;
		team_run(b, 0, multiply, &part);
		double s = clock_now() - start;

		best = s < best ? s : best;
	}
	return best;
}

static void print_type(struct team_barrier *b, struct kernel_job *j, uint32_t type)
{
	size_t row = IN / gguf_type_values(type) * gguf_type_bytes(type), all = BYTES / (row * OUT);
	size_t parts = all < PARTS ? all : PARTS;

	j->w = (struct mat){ j->w.data, IN, OUT, row, type };
	printf("| %-8s", gguf_type_name(type));
	for (size_t i = 0; i < BATCHES; i++) {
		j->tokens = batches[i];
		j->mats = j->tokens <= FEW ? all / parts : 1;
		double s = time_of(b, j, parts), mats = (double)j->mats;

		printf(" | %6.1f %6.1f", mats * (double)(row * OUT) / s * 1e-9,
		       mats * (double)j->tokens * IN * OUT / s * 1e-9);
		fflush(stdout);
	}
	puts(" |");
}

static int print_all(struct team_barrier *b, struct kernel_job *j, const char *type)
{
	int only = type ? gguf_type_find(type) : -1;

	if (type && only < 0)
		return only;
	printf("| GB/s GMAC/s");
	for (size_t i = 0; i < BATCHES; i++)
		printf(" | %zu token%s", batches[i], batches[i] == 1 ? "" : "s");
	puts(" |");
	for (uint32_t t = 0; t < GGUF_TYPE_LIMIT; t++)
		if (mat_type_ok(t) && (only < 0 || (uint32_t)only == t))
			print_type(b, j, t);
	return 0;
}

int bench_kernels(unsigned threads, const char *type)
{
	uint32_t *memory = malloc(BYTES);
	struct kernel_job j = { .w.data = memory, .x = calloc(MOST_TOKENS * IN, sizeof *j.x),
				.y = calloc(MOST_TOKENS * OUT, sizeof *j.y) };
	struct team_barrier *b = NULL;
	int err = memory && j.x && j.y ? act_new(&j.a, MOST_TOKENS, IN) : -ENOMEM;

	if (!err)
		err = team_new(&b, threads);
	if (err)
		goto out;
	for (size_t i = 0; i < BYTES / sizeof *memory; i++)
		memory[i] = (uint32_t)i * 2654435761u & 0xbfffbfff; /* no scale is infinite */
	for (size_t i = 0; i < MOST_TOKENS * IN; i++)
		j.x[i] = (float)(i * 7 % 101) - 50;
	err = print_all(b, &j, type);
out:
	team_free(b);
	act_free(j.a);
	free(memory);
	free(j.x);
	free(j.y);
	return err;
}
