/* SPDX-License-Identifier: MIT */
/* How many threads a batch is given, on machines that are made up: seconds of a batch, and those slept, for each number. */
#include "crew.h"
#include "tap.h"
#include <stdlib.h>

enum { MOST_THREADS = 4 };
struct machine { double seconds[MOST_THREADS + 1], slept[MOST_THREADS + 1]; };

static const struct machine idle = { { 0, 2, 1, 0.8, 0.7 }, { 0, 0, .01, .02, .03 } };
static const struct machine busy = { { 0, 2, 4.2, 8, 16 }, { 0, 0, 2.5, 12, 30 } };
static const struct machine small = { { 0, .15, 4, 8, 16 }, { 0, 0, 2.5, 12, 30 } };
static const struct machine uneven = { { 0, 2, 1.5, 1.4, 1.3 }, { 0, 0, .5, 1, 2 } };

static struct crew crew_of(unsigned threads, bool choose, double work)
{
	return (struct crew){ .threads = threads, .choose = choose, .work = work };
}

/* So many batches of one token, each a tenth faster or slower than it should be. Returns the seconds. */
static double run(struct crew *c, const struct machine *m, unsigned batches)
{
	double sum = 0;

	while (batches--) {
		unsigned n = crew_next(c, 1);
		double by = 0.9 + 0.2 * rand() / RAND_MAX;

		crew_took(c, m->seconds[n] * by, m->slept[n] * by);
		sum += m->seconds[n] * by;
	}
	return sum;
}

static void idle_machine(void)
{
	struct crew c = crew_of(2, false, 1e9);
	unsigned all = 0;

	for (unsigned i = 0; i < 1000; i++) {
		all += crew_next(&c, 1) == 2;
		run(&c, &idle, 1);
	}
	ok(all == 1000, "idle: two threads in %u of 1000 batches", all);
}

static void busy_machine(unsigned threads, unsigned soon)
{
	struct crew c = crew_of(threads, false, 1e9);
	double sum;

	run(&c, &busy, soon);
	ok(crew_next(&c, 1) == 1, "busy: %u threads become one within %u batches", threads, soon);
	sum = run(&c, &busy, 2000) / 2000;
	ok(sum < 2.1, "busy: %.2f seconds for the 2 of one thread, tries included", sum);
	run(&c, &idle, 300 * (threads - 1));
	ok(crew_next(&c, 1) == threads, "the others have gone: %u threads again", threads);
}

/* A batch of a small model is over long before a thread has its turn again. */
static void small_model(void)
{
	struct crew c = crew_of(2, false, 1e9);
	double sum;

	run(&c, &small, 8);
	sum = run(&c, &small, 20000) / 20000;
	ok(sum < 0.16, "busy, a small model: %.3f seconds for the 0.15 of one thread, tries included", sum);
}

static void uneven_threads(void)
{
	struct crew c = crew_of(2, false, 1e9);
	double sum = run(&c, &uneven, 2000) / 2000;

	ok(sum < 1.53, "threads that wait though two are faster: %.2f seconds for 1.5", sum);
}

static void other_batches(void)
{
	struct crew c = crew_of(2, false, 1e9);
	unsigned before;

	run(&c, &busy, 16);
	before = crew_next(&c, 1);
	ok(before == 1 && crew_next(&c, 512) == 2, "a batch of another size begins with all threads");
}

static void small_work(void)
{
	struct crew c = crew_of(4, true, 1), d = crew_of(4, true, 1e9), e = crew_of(4, false, 1);

	ok(crew_next(&c, 1) == 1 && crew_next(&d, 1) == 4 && crew_next(&e, 1) == 4,
	   "little work is for one thread, unless a number was given");
	ok(crew_next(&c, 1 << 30) == 4, "of very many tokens for all");
}

int main(void)
{
	srand(1);
	idle_machine();
	busy_machine(2, 8);
	busy_machine(4, 24);
	small_model();
	uneven_threads();
	other_batches();
	small_work();
	done();
}
