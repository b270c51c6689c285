/* SPDX-License-Identifier: MIT */
/* The parts of gguf-bench. */
#ifndef BENCH_H
#define BENCH_H
#include "error.h"
#include "llm.h"
#include "opt.h"
#include "source.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_LIST = 64, BENCH_TESTS = 3 * BENCH_LIST };

struct bench_list {
	uint32_t v[BENCH_LIST];
	unsigned n;
};

struct bench_models {
	const char *path[BENCH_LIST];
	unsigned n;
};

struct bench_model {
	const char *path;
	char what[64];          /* architecture and main type */
	double size, values;    /* bytes, parameters */
	double read;            /* bytes of weights that a token needs */
	double macs, head_macs; /* multiply-adds for a token, and for its logits */
};

/* What this machine reached with so many threads and the kernels' instructions, best of several short runs. */
struct bench_limits {
	unsigned threads;
	double at;                /* when that was */
	double read;              /* bytes a second from memory */
	double ints, fmas, pairs; /* multiply-adds a second: in bytes, floats, BFloat16 (0: there is no such instruction) */
};

struct bench_test {
	unsigned prompt, generate, depth, threads;
	double rate, spread; /* tokens a second: mean and standard deviation */
	double bytes, macs;  /* a second; bytes only when generating */
	const struct bench_limits *limits; /* of the same minute */
};

struct bench_format {
	const char *name;
	void (*begin)(void);
	void (*row)(const struct bench_model *m, const struct bench_test *t, bool first);
	void (*end)(const struct bench_limits *l, unsigned n); /* of n numbers of threads; those with 0 threads: none */
};

struct bench {
	bool help, version, kernels;
	const char *type;
	struct bench_models models;
	struct bench_list prompt, generate, depth, threads;
	struct bench_list both; /* of prompts and what follows them, by turns */
	unsigned batch, runs, rows;
	enum cache_type k, v;
	struct overrides overrides;
	enum load_mode mode;
	const struct bench_format *format;
	struct bench_limits limits[BENCH_LIST]; /* of each number of threads, the last ones measured; threads 0: none */
};

/* bench_options.c: rows for struct bench, and what stands for lists that are not given */
extern const struct opt bench_options[];
/* One more of a struct bench_models: NULL, or what is wrong. */
const char *bench_add_model(void *models, const char *path);
void bench_defaults(struct bench *b);
/* bench_table.c: NULL for a name there is not */
const struct bench_format *bench_format(const char *name);
/* bench_weigh.c: fills all but path */
struct source;
void bench_weigh(struct source *s, struct bench_model *m);
/* Measures limits with so many threads, unless l has them of the last half minute. 0 or -errno. */
int bench_limits(struct bench_limits *l, unsigned threads);
/* Prints rates of the matrix kernels alone, for each type and number of tokens. Returns 0 or -errno. */
int bench_kernels(unsigned threads, const char *type);
#endif
