/* SPDX-License-Identifier: MIT */
/* The parts of gguf-bench. */
#ifndef BENCH_H
#define BENCH_H
#include <stdint.h>

/* Seconds from some moment on. */
double bench_now(void);

/* What this machine reached with so many threads, best of several short runs. */
struct bench_limits {
	double read;       /* bytes a second from memory */
	double ints, fmas; /* multiply-adds a second of the kernels' instructions */
};
int bench_limits(struct bench_limits *l, unsigned threads);
/* Prints rates of the matrix kernels alone, for each type and number of tokens. Returns 0 or -errno. */
int bench_kernels(unsigned threads, const char *type);
#endif
