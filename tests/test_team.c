/* SPDX-License-Identifier: MIT */
/* The barrier and the shared loop: every item once, whatever the number of threads and however unequal they are. */
#include "team.h"
#include "tap.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 300, ITEMS = 1000 };

struct job {
	atomic_uint taken[ITEMS];
	atomic_uint early, outside;
	atomic_uint members;
	size_t items, step;
	bool unequal;
};

static void take_all(const struct team *t, struct job *j)
{
	struct team_loop l = team_loop(t, j->items, j->step);

	for (size_t from, to; team_take(t, &l, &from, &to);) {
		if (from % j->step || to > j->items || from >= to)
			atomic_fetch_add(&j->outside, 1);
		for (size_t i = from; i < to && i < ITEMS; i++)
			atomic_fetch_add(&j->taken[i], 1);
		if (j->unequal && t->id == 0)
			usleep(50);
	}
}

static void work(const struct team *t, void *ctx)
{
	struct job *j = ctx;

	atomic_fetch_add(&j->members, 1);
	for (unsigned round = 0; round < ROUNDS; round++) {
		take_all(t, j);
		take_all(t, j);
		team_barrier(t);
		for (size_t i = 0; i < j->items; i++)
			if (atomic_load(&j->taken[i]) != 2 * (round + 1))
				atomic_fetch_add(&j->early, 1);
		team_barrier(t);
	}
}

static void check(unsigned threads, size_t items, size_t step, bool unequal)
{
	struct job *j = calloc(1, sizeof *j);
	struct team_barrier *b;

	if (!j || team_new(&b, threads)) {
		ok(0, "memory");
		free(j);
		return;
	}
	j->items = items;
	j->step = step;
	j->unequal = unequal;
	team_run(b, 0, work, j);
	ok(j->members == threads && !j->early && !j->outside, "%u threads, %zu items by %zu%s: each item once a loop", threads,
	   items, step, unequal ? ", one thread slow" : "");
	team_free(b);
	free(j);
}

/* One team, regions with more and with fewer threads, of which those that sat out know nothing. */
static void check_regions(void)
{
	static const struct { unsigned wanted, members; } regions[] = { { 2, 2 }, { 1, 1 }, { 3, 3 }, { 1, 1 }, { 2, 2 }, { 9, 3 },
									 { 0, 3 } };
	struct job *j = calloc(1, sizeof *j);
	struct team_barrier *b;

	if (!j || team_new(&b, 3)) {
		ok(0, "memory");
		free(j);
		return;
	}
	for (size_t i = 0; i < sizeof regions / sizeof *regions; i++) {
		*j = (struct job){ .items = ITEMS, .step = 16 };
		team_run(b, regions[i].wanted, work, j);
		ok(j->members == regions[i].members && !j->early && !j->outside, "region %zu of one team, %u threads wanted", i,
		   regions[i].wanted);
	}
	team_free(b);
	free(j);
}

int main(void)
{
	for (unsigned threads = 1; threads <= 5; threads++) {
		check(threads, ITEMS, 1, false);
		check(threads, ITEMS - 1, 16, false);
		check(threads, 3, 16, false);
		check(threads, 0, 16, false);
	}
	check(2, ITEMS, 64, true);
	check(3, ITEMS, 64, true);
	check_regions();
	done();
}
