/* SPDX-License-Identifier: MIT */
#include "dropcache.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHUNK (UINT64_C(2) << 20) /* no piece of page cache is larger */
enum {
	LOOKED = 8, /* chunks that one look judges */
	AHEAD = 4,  /* chunks from a reader's that are to be judged before the system reads ahead into them */
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

/* Whether most of the pages from p on are in memory. */
static bool mostly_cached(const unsigned char *pages, size_t n)
{
	size_t cached = 0;

	for (size_t i = 0; i < n; i++)
		cached += pages[i] & 1;
	return 2 * cached > n;
}

/* Judges the chunks from first on that are not judged yet. What cannot be looked at counts as somebody else's. */
static void look(struct states *s, int fd, uint64_t first)
{
	static const size_t page = 4096;
	unsigned char pages[LOOKED * CHUNK / 4096];
	uint64_t n = s->chunks - first < LOOKED ? s->chunks - first : LOOKED, per_chunk = CHUNK / page;
	void *map = mmap(NULL, n * CHUNK, PROT_READ, MAP_SHARED, fd, (off_t)(first * CHUNK));
	bool seen = map != MAP_FAILED && !mincore(map, n * CHUNK, pages);

	for (uint64_t k = 0; k < n; k++)
		if (s->state[first + k] == UNKNOWN)
			s->state[first + k] =
				!seen || mostly_cached(pages + k * per_chunk, per_chunk) ? FOREIGN : ABSENT;
	if (map != MAP_FAILED)
		munmap(map, n * CHUNK);
}

static void look_ahead(struct states *s, int fd, uint64_t chunk)
{
	for (uint64_t k = chunk; k <= chunk + AHEAD && k < s->chunks; k++)
		if (s->state[k] == UNKNOWN) {
			look(s, fd, k);
			return;
		}
}

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
