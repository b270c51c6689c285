/* SPDX-License-Identifier: MIT */
/*
 * The threads of one parallel region. A forward pass is one OpenMP region: every thread calls every function with its
 * own struct team and does its share; team_barrier stands between steps that depend on each other.
 */
#ifndef TEAM_H
#define TEAM_H
#include <stddef.h>

struct team_barrier;
struct team {
	unsigned id, n; /* this thread, of so many */
	struct team_barrier *barrier;
};

/* Waits for all n. Spins: every member is expected within microseconds. */
void team_barrier(const struct team *t);

/* This thread's part [*from, *to) of n items, in multiples of step. */
static inline void team_share(const struct team *t, size_t n, size_t step, size_t *from, size_t *to)
{
	size_t steps = (n + step - 1) / step;

	*from = steps * t->id / t->n * step;
	*to = t->id + 1 == t->n ? n : steps * (t->id + 1) / t->n * step;
}
#endif
