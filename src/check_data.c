/* SPDX-License-Identifier: MIT */
/* Reads all data once, in pieces that any thread takes: values are judged, digests made, progress told. */
#include "check.h"
#include "quote.h"
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	BUFFER = 256 << 10, /* stays in the second cache between reading and judging */
	PIECE = 16 << 20,   /* of a tensor, where no digest asks for the whole in order */
};

/* What is known of one tensor so far; guarded by run.lock. */
struct found {
	struct tally tally;
	int err;
	uint64_t err_at; /* offset within the tensor */
};

struct run {
	const struct gguf *g;
	const struct deep *d;
	struct found *found;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	size_t files; /* items before the tensors: the files, where they get digests */
	/* the next piece; guarded by lock */
	size_t item;
	uint64_t at;
	unsigned busy; /* threads that run; guarded by lock */
	int err;       /* of the run, guarded by lock */
	atomic_uint_fast64_t done;
	uint64_t total;
};

struct piece {
	size_t item;
	uint64_t at, n;
};

static bool is_file(const struct run *run, size_t item)
{
	return item < run->files;
}

static const struct gguf_tensor *tensor_of(const struct run *run, size_t item)
{
	return is_file(run, item) ? NULL : &run->g->tensors[item - run->files];
}

static uint64_t item_size(const struct run *run, size_t item)
{
	return is_file(run, item) ? run->g->files[item].about.size : tensor_of(run, item)->size;
}

static size_t item_count(const struct run *run)
{
	return run->files + run->g->tensor_count;
}

/* Hands out the next piece. False when there is none, or the run ends. */
static bool next_piece(struct run *run, struct piece *p)
{
	bool more;

	pthread_mutex_lock(&run->lock);
	more = !run->err && !*run->d->stop && run->item < item_count(run);
	if (more) {
		uint64_t size = item_size(run, run->item), block = 0;

		if (!run->d->hash)
			block = gguf_type_bytes(tensor_of(run, run->item)->type);
		*p = (struct piece){ run->item, run->at, size - run->at };
		if (block && p->n > PIECE)
			p->n = PIECE / block * block;
		run->at += p->n;
		if (run->at == size) {
			run->item++;
			run->at = 0;
		}
	}
	pthread_mutex_unlock(&run->lock);
	return more;
}

static void merge(struct run *run, size_t tensor, const struct tally *t, int err, uint64_t err_at)
{
	struct found *f = &run->found[tensor];

	pthread_mutex_lock(&run->lock);
	f->tally.nan += t->nan;
	f->tally.inf += t->inf;
	f->tally.huge += t->huge;
	if (t->first < f->tally.first)
		f->tally.first = t->first;
	if (t->first_huge < f->tally.first_huge)
		f->tally.first_huge = t->first_huge;
	if (err && !f->err) {
		f->err = err;
		f->err_at = err_at;
	}
	pthread_mutex_unlock(&run->lock);
}

/* A big-endian tensor of a type that cannot be turned round is read as it lies there. */
static bool is_turned(const struct run *run, const struct gguf_tensor *t)
{
	return !run->g->files[t->shard].about.big_endian || !swap_blocks(t->type, NULL, 0);
}

static int read_item(const struct run *run, size_t item, void *buf, size_t n, uint64_t offset)
{
	const struct gguf_tensor *t = tensor_of(run, item);

	if (!t)
		return gguf_shard_read(run->g, item, buf, n, offset);
	if (is_turned(run, t))
		return gguf_tensor_read(run->g, item - run->files, buf, n, offset);
	return gguf_shard_read(run->g, t->shard, buf, n, t->offset + offset);
}

static struct digest *digest_of(const struct run *run, size_t item)
{
	return is_file(run, item) ? &run->d->files[item] : &run->d->tensors[item - run->files];
}

/* Whole blocks of a tensor, or as much as fits of anything else. */
static size_t step_of(const struct gguf_tensor *t)
{
	size_t block = t ? gguf_type_bytes(t->type) : 0;

	return block ? BUFFER / block * block : BUFFER;
}

static int do_piece(struct run *run, const struct piece *p, uint8_t *buf)
{
	struct tally tally = TALLY_NONE;
	const struct gguf_tensor *t = tensor_of(run, p->item);
	bool scan = t && run->d->scan && gguf_type_bytes(t->type) && is_turned(run, t);
	size_t step = step_of(t);
	struct hash *h = run->d->hash ? hash_new() : NULL;
	uint64_t done = 0;
	int err = run->d->hash && !h ? -ENOMEM : 0;

	while (done < p->n && !err && !*run->d->stop) {
		size_t n = p->n - done < step ? (size_t)(p->n - done) : step;

		err = read_item(run, p->item, buf, n, p->at + done);
		if (err)
			break;
		if (h)
			hash_add(h, buf, n);
		if (scan)
			scan_blocks(t->type, buf, n, (p->at + done) / gguf_type_bytes(t->type), &tally);
		done += n;
		atomic_fetch_add(&run->done, n);
	}
	if (h)
		hash_end(h, digest_of(run, p->item));
	if (t)
		merge(run, p->item - run->files, &tally, err, p->at + done);
	return t && err == -EIO ? 0 : err;
}

static void *work(void *arg)
{
	struct run *run = arg;
	uint8_t *buf = malloc(BUFFER);
	struct piece p;
	int err = buf ? 0 : -ENOMEM;

	while (!err && next_piece(run, &p))
		err = do_piece(run, &p, buf);
	free(buf);
	pthread_mutex_lock(&run->lock);
	if (err && !run->err)
		run->err = err;
	run->busy--;
	pthread_cond_signal(&run->ended);
	pthread_mutex_unlock(&run->lock);
	return NULL;
}

/* Until all threads have ended; tells progress ten times a second. */
static void wait_for(struct run *run)
{
	struct timespec when;

	pthread_mutex_lock(&run->lock);
	while (run->busy) {
		clock_gettime(CLOCK_REALTIME, &when);
		when.tv_nsec += 100000000;
		when.tv_sec += when.tv_nsec / 1000000000;
		when.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&run->ended, &run->lock, &when);
		pthread_mutex_unlock(&run->lock);
		if (run->d->progress)
			run->d->progress(run->d->ctx, atomic_load(&run->done), run->total);
		pthread_mutex_lock(&run->lock);
	}
	pthread_mutex_unlock(&run->lock);
}

static void run_threads(struct run *run)
{
	pthread_t threads[64];
	unsigned n = run->d->threads > 64 ? 64 : run->d->threads, started = 0;

	run->busy = n;
	if (n == 1 && !run->d->progress) {
		work(run);
		return;
	}
	for (; started < n; started++)
		if (pthread_create(&threads[started], NULL, work, run))
			break;
	pthread_mutex_lock(&run->lock);
	run->busy -= n - started;
	pthread_mutex_unlock(&run->lock);
	if (!started) {
		run->busy = 1;
		work(run);
	}
	wait_for(run);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

static void say_tally(struct report *r, const struct gguf_tensor *t, const struct tally *y)
{
	const char *what = scan_counts_blocks(t->type) ? "blocks whose scale is" : "values that are";
	const char *unit = scan_counts_blocks(t->type) ? "block" : "value";
	uint64_t first = y->nan || y->inf ? y->first : y->first_huge;
	uint64_t at = t->offset + first * gguf_type_bytes(t->type);
	char where[WHERE];

	where_tensor(where, t);
	if (y->nan || y->inf)
		check_say(r, ERROR, where, at,
			  "%" PRIu64 " %s no number (NaN %" PRIu64 ", Inf %" PRIu64 "), the first is %s %" PRIu64,
			  y->nan + y->inf, what, y->nan, y->inf, unit, first);
	else if (y->huge)
		check_say(r, WARNING, where, at, "%" PRIu64 " %s absurdly large, the first is %s %" PRIu64, y->huge,
			  what, unit, first);
}

static void say_found(struct report *r, const struct run *run)
{
	char where[WHERE];

	for (size_t i = 0; i < run->g->tensor_count; i++) {
		const struct gguf_tensor *t = &run->g->tensors[i];
		const struct found *f = &run->found[i];

		if (f->err)
			check_say(r, ERROR, where_tensor(where, t), t->offset + f->err_at, "cannot be read: %s",
				  strerror(-f->err));
		say_tally(r, t, &f->tally);
	}
}

int check_data(struct report *r, const struct gguf *g, const struct deep *d)
{
	struct run run = { .g = g, .d = d, .files = d->hash ? g->file_count : 0,
			   .lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER };

	if (d->hash) {
		struct hash *probe = hash_new();
		struct digest none;

		if (!probe)
			return -ENOTSUP;
		hash_end(probe, &none);
	}
	run.found = calloc(g->tensor_count + 1, sizeof *run.found);
	if (!run.found)
		return -ENOMEM;
	for (size_t i = 0; i < g->tensor_count; i++)
		run.found[i].tally = (struct tally)TALLY_NONE;
	for (size_t i = 0; i < item_count(&run); i++)
		run.total += item_size(&run, i);
	run_threads(&run);
	if (!run.err && *d->stop)
		run.err = -ECANCELED;
	say_found(r, &run);
	free(run.found);
	return run.err;
}
