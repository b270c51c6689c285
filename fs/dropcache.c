/* SPDX-License-Identifier: MIT */
#include "dropcache.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHUNK (UINT64_C(2) << 20) /* no piece of page cache is larger */
enum {
	PAGE_LEAST = 4096,
	AHEAD = 12, /* chunks from a reader's, judged before the system reads ahead into them: 8 MiB, twice */
	KEPT = 8,   /* chunks behind the readers that stay cached */
};

enum state {
	UNKNOWN,
	ABSENT,  /* was not cached: if it comes to be, the mount did it */
	FOREIGN, /* was cached already: somebody else's, or the mount's own from before */
	QUEUED,  /* brought in by the mount, to be dropped */
};

struct dropcache {
	const struct gguf *g;
	pthread_mutex_t lock; /* for all below */
	struct states {
		uint64_t chunks;
		uint8_t *state;
	} *shards;
	size_t shard_count;
	struct place {
		size_t shard;
		uint64_t chunk;
	} queue[KEPT]; /* oldest at next */
	unsigned next;
};

int dropcache_new(struct dropcache **out, const struct gguf *g)
{
	struct dropcache *d = calloc(1, sizeof *d);
	bool whole = d;

	if (!d)
		return -ENOMEM;
	pthread_mutex_init(&d->lock, NULL);
	d->g = g;
	d->shards = calloc(gguf_shard_count(g), sizeof *d->shards);
	for (; d->shards && d->shard_count < gguf_shard_count(g) && whole; d->shard_count++) {
		struct states *s = &d->shards[d->shard_count];

		s->chunks = gguf_shard(g, d->shard_count)->size / CHUNK + 1;
		s->state = calloc(s->chunks, 1);
		whole = s->state;
	}
	if (d->shards && whole) {
		*out = d;
		return 0;
	}
	dropcache_free(d);
	return -ENOMEM;
}

void dropcache_free(struct dropcache *d)
{
	if (!d)
		return;
	for (size_t i = 0; d->shards && i < d->shard_count; i++)
		free(d->shards[i].state);
	free(d->shards);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static uint64_t page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Bytes of a chunk in memory: cachestat(2), since Linux 6.5, counts them at a tenth of what mincore(2) costs. */
static int64_t count_cached(int fd, uint64_t chunk)
{
	struct {
		uint64_t offset, size;
	} range = { chunk * CHUNK, CHUNK };
	struct {
		uint64_t cached, dirty, writeback, evicted, recently_evicted; /* pages */
	} stat;

	return syscall(CACHESTAT_CALL, fd, &range, &stat, 0) < 0 ? -errno : (int64_t)(stat.cached * page_size());
}

/* The same by mincore(2). Both give -errno for a file that this process may not ask about. */
static int64_t look_at_pages(int fd, uint64_t chunk)
{
	unsigned char pages[CHUNK / PAGE_LEAST];
	void *map = mmap(NULL, CHUNK, PROT_READ, MAP_SHARED, fd, (off_t)(chunk * CHUNK));
	uint64_t page = page_size();
	int64_t cached = 0;

	if (map == MAP_FAILED)
		return -errno;
	if (mincore(map, CHUNK, pages) < 0)
		cached = -errno;
	for (size_t i = 0; cached >= 0 && i < CHUNK / page; i++)
		cached += pages[i] & 1 ? (int64_t)page : 0;
	munmap(map, CHUNK);
	return cached;
}

/* What cannot be looked at counts as somebody else's. */
static enum state judge(int fd, uint64_t chunk)
{
	int64_t cached = count_cached(fd, chunk);

	if (cached == -ENOSYS || cached == -EPERM)
		cached = look_at_pages(fd, chunk);
	return cached < 0 || (uint64_t)cached > CHUNK / 2 ? FOREIGN : ABSENT;
}

/* Judges what is near and not judged yet. */
static void look_ahead(struct states *s, int fd, uint64_t chunk)
{
	for (uint64_t k = chunk; k <= chunk + AHEAD && k < s->chunks; k++)
		if (s->state[k] == UNKNOWN)
			s->state[k] = judge(fd, k);
}

/* Takes a chunk out of the page cache; pages in use stay. */
static void drop(struct dropcache *d, const struct place *p)
{
	posix_fadvise(gguf_shard(d->g, p->shard)->fd, (off_t)(p->chunk * CHUNK), CHUNK, POSIX_FADV_DONTNEED);
	d->shards[p->shard].state[p->chunk] = UNKNOWN;
}

/* Puts a chunk into the queue; the oldest one there is far enough behind now. */
static void enqueue(struct dropcache *d, size_t shard, uint64_t chunk)
{
	struct place *p = &d->queue[d->next];

	if (d->shards[p->shard].state[p->chunk] == QUEUED)
		drop(d, p);
	*p = (struct place){ shard, chunk };
	d->shards[shard].state[chunk] = QUEUED;
	d->next = (d->next + 1) % KEPT;
}

void dropcache_note(struct dropcache *d, size_t shard, uint64_t offset, size_t n)
{
	const struct gguf_shard *file;
	struct states *s;

	if (!d || !n || (file = gguf_shard(d->g, shard))->fd < 0)
		return;
	s = &d->shards[shard];
	pthread_mutex_lock(&d->lock);
	for (uint64_t c = offset / CHUNK; c <= (offset + n - 1) / CHUNK && c < s->chunks; c++) {
		look_ahead(s, file->fd, c);
		if (s->state[c] == ABSENT)
			enqueue(d, shard, c);
		else if (s->state[c] == FOREIGN && offset + n >= (c + 1) * CHUNK)
			s->state[c] = UNKNOWN; /* to be judged anew by the next reader that passes */
	}
	pthread_mutex_unlock(&d->lock);
}
