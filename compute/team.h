/* SPDX-License-Identifier: MIT */
/*
 * The threads of one parallel region. A forward pass is one OpenMP region: every thread calls every function with its
 * own struct team and does its share; team_barrier stands between steps that depend on each other.
 */
#ifndef TEAM_H
#define TEAM_H
#include <stdbool.h>
#include <stddef.h>

struct team_barrier;
struct finite;
struct team {
	unsigned id, n; /* this thread, of so many; alone it needs no barrier */
	struct team_barrier *barrier;
	struct finite *look; /* what is shown weights before they are read (finite.h); NULL: nothing is */
};

/*
 * What a team of up to so many threads needs. 0, -ENOMEM, -EAGAIN where there cannot be so many, or -ENOBUFS where one of
 * the threads that OpenMP gives (the calling one is the first) has a stack of less than TEAM_STACK bytes: kernels keep
 * panels of weights there.
 */
enum { TEAM_STACK = 512 << 10 };
int team_new(struct team_barrier **out, unsigned threads);
void team_free(struct team_barrier *b); /* NULL is fine */
/*
 * One OpenMP region: each of its threads calls work. There are as many as wanted (0: as team_new was told), or fewer.
 * Returns the seconds that they waited at barriers longer than is to be expected, all in all.
 */
typedef void team_work_fn(const struct team *t, void *ctx);
double team_run(struct team_barrier *b, unsigned wanted, team_work_fn *work, void *ctx);

/* Waits for all n. Spins at first: every member is expected within microseconds; sleeps when one stays away. */
void team_barrier(const struct team *t);

/* This thread's part [*from, *to) of n items, in multiples of step. */
static inline void team_share(const struct team *t, size_t n, size_t step, size_t *from, size_t *to)
{
	size_t steps = (n + step - 1) / step;

	*from = steps * t->id / t->n * step;
	*to = t->id + 1 == t->n ? n : steps * (t->id + 1) / t->n * step;
}

/*
 * The same for threads that may be held up: each takes its own share step by step, from the front, and then what others
 * have left of theirs, from the back. All threads of the team go through the same loops in the same order:
 *
 *	struct team_loop l = team_loop(t, n, step);
 *	for (size_t from, to; team_take(t, &l, &from, &to);)
 */
struct team_loop {
	size_t n, step;
	unsigned number; /* of this loop, in the life of the team */
	unsigned looked; /* shares found empty */
	bool halves;     /* a thread takes half of what is left of its own share at once: for steps of a microsecond */
};
struct team_loop team_loop(const struct team *t, size_t n, size_t step);
bool team_take(const struct team *t, struct team_loop *l, size_t *from, size_t *to);
#endif
