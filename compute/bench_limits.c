/* SPDX-License-Identifier: MIT */
#include "bench.h"
#include "clock.h"
#include "kernel/kernel.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS = 12, PEAK_ROUNDS = 200000, MOST_BYTES = 512 << 20, RECENT = 30 };

struct limits_job {
	char *memory;
	size_t bytes;
	struct bench_limits best;
};

static void keep_best(double *best, double amount, double since)
{
	double rate = amount / (clock_now() - since);

	*best = rate > *best ? rate : *best;
}

/* One peak, by all threads; thread 0 keeps the time. */
static void run_peak(const struct team *t, uint64_t (*peak)(size_t n), size_t n, double *best)
{
	team_barrier(t);
	double start = clock_now();
	uint64_t done = peak(n);

	team_barrier(t);
	if (t->id == 0)
		keep_best(best, (double)done * t->n, start);
}

static void run_read(const struct team *t, const char *memory, size_t bytes, double *best)
{
	size_t from, to;

	team_share(t, bytes, 4096, &from, &to);
	team_barrier(t);
	double start = clock_now();

	kernel.limits->read(memory + from, to - from);
	team_barrier(t);
	if (t->id == 0)
		keep_best(best, (double)bytes, start);
}

static void measure(const struct team *t, void *ctx)
{
	struct limits_job *j = ctx;

	for (int i = 0; i < RUNS; i++) {
		run_read(t, j->memory, j->bytes, &j->best.read);
		run_peak(t, kernel.limits->int_peak, PEAK_ROUNDS, &j->best.ints);
		run_peak(t, kernel.limits->float_peak, PEAK_ROUNDS, &j->best.fmas);
		if (kernel.pair_peak)
			run_peak(t, kernel.pair_peak, PEAK_ROUNDS, &j->best.pairs);
	}
}

/* Many times the last cache, which would otherwise give a fifth of it, and no more than an eighth of the memory there is. */
static size_t read_bytes(void)
{
	uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	return all / 8 < MOST_BYTES ? (size_t)(all / 8) : MOST_BYTES;
}

int bench_limits(struct bench_limits *l, unsigned threads)
{
	struct limits_job j = { .bytes = read_bytes(), .best.threads = threads };
	struct team_barrier *b;
	int err;

	if (l->threads == threads && clock_now() - l->at < RECENT)
		return 0;
	j.memory = malloc(j.bytes);
	err = j.memory ? mat_init(NULL) : -ENOMEM;
	if (!err)
		err = team_new(&b, threads);
	if (err)
		goto out;
	memset(j.memory, 1, j.bytes);
	team_run(b, 0, measure, &j);
	team_free(b);
	j.best.at = clock_now();
	*l = j.best;
out:
	free(j.memory);
	return err;
}
