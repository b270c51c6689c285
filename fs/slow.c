/* SPDX-License-Identifier: MIT */
#include "slow.h"
#include "node.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { LOOK_AFTER = 256 }; /* pieces, some milliseconds, from one look at the reader to the next */

struct asked {
	struct slow *slow;
	fuse_req_t req;
	fuse_ino_t ino;
	size_t size;
	off_t offset;
	pid_t reader;         /* 0: not known here */
	atomic_bool unwanted; /* its reader was interrupted; set by a worker, as long as req has it */
	struct asked *next;
};

struct slow {
	struct mtree *tree;
	struct asked *now;     /* the one that is being read; the thread's own */
	unsigned pieces;       /* that it has */
	atomic_bool over;      /* the mount is gone */
	atomic_bool look;      /* one has become unwanted */
	pthread_mutex_t lock;  /* for all below */
	pthread_cond_t change;
	struct asked *first, **end;
};

/* Answers a, and has no more of it: only from here on no worker can know it. */
static void answer(struct asked *a, const char *buf, ssize_t n)
{
	fuse_req_interrupt_func(a->req, NULL, NULL);
	ops_reply(a->req, buf, n);
	free(a);
}

/* Takes those that nobody waits for out of the queue: a killed reader hangs until it has its answer. */
static void drop_unwanted(struct slow *s)
{
	struct asked *dropped = NULL, *a;

	pthread_mutex_lock(&s->lock);
	for (struct asked **p = &s->first; (a = *p);) {
		if (a->unwanted) {
			*p = a->next;
			a->next = dropped;
			dropped = a;
		} else {
			p = &a->next;
		}
		s->end = p;
	}
	pthread_mutex_unlock(&s->lock);
	while ((a = dropped)) {
		dropped = a->next;
		answer(a, NULL, -EINTR);
	}
}

/*
 * Of a read into the page cache the kernel does not say that its reader is gone. Should others wait for the same pages,
 * they will ask for themselves.
 */
static bool is_gone(pid_t reader)
{
	return reader > 0 && kill(reader, 0) < 0 && errno == ESRCH;
}

/* The tree asks so between two pieces of what is being read. */
static bool stops(void *slow)
{
	struct slow *s = slow;

	if (atomic_exchange(&s->look, false))
		drop_unwanted(s);
	if (s->over || s->now->unwanted)
		return true;
	return ++s->pieces % LOOK_AFTER == 0 && is_gone(s->now->reader);
}

int slow_new(struct slow **out, struct mtree *t)
{
	struct slow *s = calloc(1, sizeof *s);

	if (!s)
		return -ENOMEM;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->change, NULL);
	s->tree = t;
	s->end = &s->first;
	t->stops = stops;
	t->stops_ctx = s;
	*out = s;
	return 0;
}

void slow_free(struct slow *s)
{
	if (!s)
		return;
	pthread_cond_destroy(&s->change);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* Called by a worker, which then knows nothing of the thread's doings: it leaves a note. */
static void on_interrupt(fuse_req_t req, void *asked)
{
	struct asked *a = asked;

	(void)req;
	a->unwanted = true;
	a->slow->look = true;
}

int slow_read(struct slow *s, fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset)
{
	struct asked *a = malloc(sizeof *a);

	if (!a)
		return -ENOMEM;
	*a = (struct asked){
		.slow = s, .req = req, .ino = ino, .size = size, .offset = offset, .reader = fuse_req_ctx(req)->pid
	};
	fuse_req_interrupt_func(req, on_interrupt, a); /* first: once in the queue it is the thread's */
	pthread_mutex_lock(&s->lock);
	*s->end = a;
	s->end = &a->next;
	pthread_cond_signal(&s->change);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

void slow_end(struct slow *s)
{
	s->over = true;
	pthread_mutex_lock(&s->lock);
	pthread_cond_signal(&s->change);
	pthread_mutex_unlock(&s->lock);
}

/* The next one, or NULL at the end. */
static struct asked *take(struct slow *s)
{
	struct asked *a;

	pthread_mutex_lock(&s->lock);
	while (!s->first && !s->over)
		pthread_cond_wait(&s->change, &s->lock);
	a = s->first;
	if (a)
		s->first = a->next;
	if (!s->first)
		s->end = &s->first;
	pthread_mutex_unlock(&s->lock);
	return a;
}

void slow_run(struct slow *s)
{
	char *buf;
	ssize_t n;

	while ((s->now = take(s))) {
		n = ops_read(s->now->req, s->now->ino, s->now->size, s->now->offset, &buf);
		answer(s->now, buf, n);
	}
	ops_thread_end();
}
