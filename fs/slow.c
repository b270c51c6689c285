/* SPDX-License-Identifier: MIT */
#include "slow.h"
#include "node.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct asked {
	fuse_req_t req;
	fuse_ino_t ino;
	size_t size;
	off_t offset;
	struct asked *next;
};

struct slow {
	struct mtree *tree;
	pthread_mutex_t lock; /* for all below */
	pthread_cond_t change;
	struct asked *first, **end;
};

int slow_new(struct slow **out, struct mtree *t)
{
	struct slow *s = calloc(1, sizeof *s);

	if (!s)
		return -ENOMEM;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->change, NULL);
	s->tree = t;
	s->end = &s->first;
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

int slow_read(struct slow *s, fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset)
{
	struct asked *a = malloc(sizeof *a);

	if (!a)
		return -ENOMEM;
	*a = (struct asked){ req, ino, size, offset, NULL };
	pthread_mutex_lock(&s->lock);
	*s->end = a;
	s->end = &a->next;
	pthread_cond_signal(&s->change);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

void slow_end(struct slow *s)
{
	s->tree->stop = true;
	pthread_mutex_lock(&s->lock);
	pthread_cond_signal(&s->change);
	pthread_mutex_unlock(&s->lock);
}

/* The next one, or NULL at the end. */
static struct asked *take(struct slow *s)
{
	struct asked *a;

	pthread_mutex_lock(&s->lock);
	while (!s->first && !s->tree->stop)
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
	struct asked *a;

	while ((a = take(s))) {
		ops_read_now(a->req, a->ino, a->size, a->offset);
		free(a);
	}
	ops_thread_end();
}
