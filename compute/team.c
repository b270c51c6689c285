/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "team.h"
#include "clock.h"
#include <errno.h>
#include <linux/futex.h>
#include <limits.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LINE = 64, LEAST_SPINS = 100, MOST_SPINS = 20000, YIELDS = 50 };

/* What is left of a thread's share, in steps. One word, so that owner and thieves agree by compare and swap. */
struct share {
	_Alignas(LINE) _Atomic uint64_t left; /* loop number : 16, first : 24, end : 24 */
	unsigned loops;                       /* begun by the owner; its own */
	unsigned spins;                       /* looks at a barrier before the owner sleeps; its own */
	double slept;                         /* seconds, in this region; its own */
};

struct team_barrier {
	unsigned threads;
	unsigned processors;
	bool crowded;                    /* more threads than these: spinning would only keep others away */
	_Alignas(LINE) atomic_uint here; /* arrived in this round */
	_Alignas(LINE) atomic_uint round;
	atomic_uint sleepers;
	struct share share[];
};

static unsigned processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

static void *stand_by(void *gate)
{
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return NULL;
}

/* Whether so many more threads can be at once: OpenMP ends the program where they cannot. 0 or -EAGAIN. */
static int try_threads(unsigned n)
{
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	pthread_t *made = calloc(n + 1, sizeof(*made));
	unsigned i;

	if (!made)
		return -ENOMEM;
	pthread_mutex_lock(&gate);
	for (i = 0; i < n; i++)
		if (pthread_create(&made[i], NULL, stand_by, &gate))
			break;
	pthread_mutex_unlock(&gate);
	for (unsigned j = 0; j < i; j++)
		pthread_join(made[j], NULL);
	free(made);
	return i < n ? -EAGAIN : 0;
}

static bool has_stack(void)
{
	pthread_attr_t a;
	size_t size = 0;

	if (pthread_getattr_np(pthread_self(), &a))
		return true;
	pthread_attr_getstacksize(&a, &size);
	pthread_attr_destroy(&a);
	return size >= TEAM_STACK;
}

static bool all_have_stacks(unsigned threads)
{
	bool all = true;

	#pragma omp parallel num_threads(threads) reduction(&& : all)
	all = has_stack();
	return all;
}

int team_new(struct team_barrier **out, unsigned threads)
{
	size_t size = sizeof(struct team_barrier) + threads * sizeof(struct share);
	struct team_barrier *b = aligned_alloc(LINE, size);

	int err = b ? try_threads(threads - 1) : -ENOMEM;

	if (err) {
		free(b);
		return err;
	}
	if (!all_have_stacks(threads)) {
		free(b);
		return -ENOBUFS;
	}
	b->threads = threads;
	b->processors = processors();
	atomic_init(&b->here, 0);
	atomic_init(&b->round, 0);
	atomic_init(&b->sleepers, 0);
	for (unsigned i = 0; i < threads; i++) {
		atomic_init(&b->share[i].left, 0);
		b->share[i].loops = 0;
		b->share[i].spins = MOST_SPINS;
	}
	*out = b;
	return 0;
}

void team_free(struct team_barrier *b)
{
	free(b);
}

enum { STEP_BITS = 24 };
#define STEP_MASK ((UINT64_C(1) << STEP_BITS) - 1)

static uint64_t pack(unsigned number, uint64_t first, uint64_t end)
{
	return (uint64_t)(uint16_t)number << 2 * STEP_BITS | first << STEP_BITS | end;
}

/* Threads that sat out earlier regions have not counted the loops there. */
static void catch_up(struct team_barrier *b)
{
	unsigned loops = b->share[0].loops;

	for (unsigned i = 0; i < b->threads; i++) {
		b->share[i].loops = loops;
		b->share[i].slept = 0;
		atomic_store_explicit(&b->share[i].left, pack(loops, 0, 0), memory_order_relaxed);
	}
}

double team_run(struct team_barrier *b, unsigned wanted, team_work_fn *work, void *ctx)
{
	unsigned n = wanted && wanted < b->threads ? wanted : b->threads;
	double slept = 0;

	catch_up(b);
	b->crowded = n > b->processors;
	#pragma omp parallel num_threads(n) reduction(+ : slept)
	{
		struct team t = { (unsigned)omp_get_thread_num(), (unsigned)omp_get_num_threads(), b, NULL };

		work(&t, ctx);
		slept = b->share[t.id].slept;
	}
	return slept;
}

static void relax(void)
{
#if defined __x86_64__
	__builtin_ia32_pause();
#elif defined __aarch64__
	__asm__ volatile("isb");
#endif
}

static void sleep_while(struct team_barrier *b, unsigned round)
{
	atomic_fetch_add(&b->sleepers, 1);
	while (atomic_load(&b->round) == round)
		syscall(SYS_futex, &b->round, FUTEX_WAIT_PRIVATE, round, NULL, NULL, 0);
	atomic_fetch_sub(&b->sleepers, 1);
}

/* Whether the round has ended within so many looks at it. */
static bool ends_soon(struct team_barrier *b, unsigned round, unsigned looks)
{
	for (unsigned i = 0; i < looks; i++) {
		if (atomic_load_explicit(&b->round, memory_order_acquire) != round)
			return true;
		if (b->crowded)
			sched_yield();
		else
			relax();
	}
	return false;
}

/*
 * On an idle machine it pays to spin: waking takes longer than most waits. When other programs want the processors it is
 * the worst one can do: the time is taken from this thread's next turn. So what it does follows what came of it before.
 */
static void wait_while(const struct team *t, unsigned round)
{
	struct team_barrier *b = t->barrier;
	struct share *own = &b->share[t->id];
	double start = b->crowded ? clock_now() : 0;

	if (ends_soon(b, round, b->crowded ? YIELDS : own->spins)) {
		own->spins = own->spins < MOST_SPINS / 2 ? own->spins * 2 : MOST_SPINS;
	} else {
		own->spins = own->spins / 2 > LEAST_SPINS ? own->spins / 2 : LEAST_SPINS;
		start = start > 0 ? start : clock_now();
		sleep_while(b, round);
	}
	if (start > 0)
		own->slept += clock_now() - start;
}

void team_barrier(const struct team *t)
{
	struct team_barrier *b = t->barrier;

	if (t->n == 1)
		return;
	unsigned round = atomic_load_explicit(&b->round, memory_order_relaxed);

	if (atomic_fetch_add(&b->here, 1) + 1 < t->n) {
		wait_while(t, round);
		return;
	}
	atomic_store_explicit(&b->here, 0, memory_order_relaxed);
	atomic_store(&b->round, round + 1);
	if (atomic_load(&b->sleepers))
		syscall(SYS_futex, &b->round, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static uint64_t whole_share(const struct team *t, const struct team_loop *l, unsigned owner)
{
	uint64_t steps = (l->n + l->step - 1) / l->step;

	return pack(l->number, steps * owner / t->n, steps * (owner + 1) / t->n);
}

struct team_loop team_loop(const struct team *t, size_t n, size_t step)
{
	while (n / step >= STEP_MASK)
		step *= 2;
	if (t->n == 1)
		return (struct team_loop){ n, n, 0, n == 0, false };
	return (struct team_loop){ n, step, ++t->barrier->share[t->id].loops, 0, false };
}

/*
 * Takes steps *from .. *to-1 of owner's share: one, or half of what is left of the thread's own. A share that still has the
 * number of an earlier loop is whole: its owner has not come so far. One that has a later number is done: nobody leaves a
 * loop before all its shares are empty.
 */
static bool take_from(const struct team *t, const struct team_loop *l, unsigned owner, uint64_t *from, uint64_t *to)
{
	_Atomic uint64_t *left = &t->barrier->share[owner].left;
	uint64_t seen = atomic_load_explicit(left, memory_order_relaxed), want;

	do {
		int16_t age = (int16_t)((uint16_t)l->number - (uint16_t)(seen >> 2 * STEP_BITS));
		uint64_t now = age > 0 ? whole_share(t, l, owner) : seen;
		uint64_t first = now >> STEP_BITS & STEP_MASK, end = now & STEP_MASK;

		if (age < 0 || (first == end && age == 0))
			return false;
		if (first == end) {
			*from = *to = end;
			want = now;
		} else if (owner == t->id) {
			*from = first;
			*to = l->halves ? first + (end - first + 1) / 2 : first + 1;
			want = pack(l->number, *to, end);
		} else {
			*from = end - 1;
			*to = end;
			want = pack(l->number, first, *from);
		}
	} while (!atomic_compare_exchange_weak_explicit(left, &seen, want, memory_order_relaxed, memory_order_relaxed));
	return *from < *to;
}

bool team_take(const struct team *t, struct team_loop *l, size_t *from, size_t *to)
{
	if (t->n == 1) {
		*from = 0;
		*to = l->n;
		return !l->looked++;
	}
	for (uint64_t first, end; l->looked < t->n; l->looked++) {
		if (!take_from(t, l, (t->id + l->looked) % t->n, &first, &end))
			continue;
		*from = first * l->step;
		*to = end * l->step < l->n ? end * l->step : l->n;
		return true;
	}
	return false;
}
