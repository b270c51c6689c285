/* SPDX-License-Identifier: MIT */
#ifndef CLOCK_H
#define CLOCK_H
#include <time.h>

/* Seconds on the monotonic clock. */
static inline double clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
#endif
