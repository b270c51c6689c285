/* SPDX-License-Identifier: MIT */
#include "finite.h"
#include "error.h"
#include "load.h"
#include "quote.h"
#include "scan.h"
#include <errno.h>
#include <inttypes.h>
#include <omp.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Bytes: much less than a second-level cache, much more than a system call costs. */
enum { PIECE = 256 << 10 };

/* A weight that is looked at, in pieces of so many blocks. */
struct span {
	const struct weight *w;
	uint64_t blocks, step;
	size_t first; /* of its pieces among all */
};

struct finite {
	struct source *s;
	struct span *span; /* by address */
	size_t spans, pieces;
	atomic_uchar *seen;       /* of each piece: somebody looks or has looked at it */
	_Atomic uint64_t done;    /* bytes */
	uint64_t total;
	bool check;
	omp_lock_t lock;          /* of what follows: the first that is broken, weight NULL: none */
	const struct weight *weight;
	uint64_t block;
};

static int compare_spans(const void *a, const void *b)
{
	const char *x = ((const struct span *)a)->w->data, *y = ((const struct span *)b)->w->data;

	return (x > y) - (x < y);
}

static void list_spans(struct finite *f)
{
	for (size_t i = 0; i < source_weight_count(f->s); i++) {
		const struct weight *w = source_weight(f->s, i);
		size_t bytes = gguf_type_bytes(w->type);

		if (!bytes || w->put_off || w->size < bytes)
			continue;
		f->span[f->spans++] = (struct span){ .w = w, .blocks = w->size / bytes, .step = PIECE / bytes };
		f->total += w->size / bytes * bytes;
	}
	if (f->spans)
		qsort(f->span, f->spans, sizeof(*f->span), compare_spans);
	for (size_t i = 0; i < f->spans; i++) {
		f->span[i].first = f->pieces;
		f->pieces += (f->span[i].blocks + f->span[i].step - 1) / f->span[i].step;
	}
}

int finite_new(struct finite **out, struct source *s, bool check)
{
	struct finite *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	omp_init_lock(&f->lock);
	f->s = s;
	f->check = check;
	f->span = calloc(source_weight_count(s) + 1, sizeof(*f->span));
	if (f->span)
		list_spans(f);
	f->seen = calloc(f->pieces + 1, sizeof(*f->seen));
	if (!f->span || !f->seen) {
		finite_free(f);
		return -ENOMEM;
	}
	*out = f;
	return 0;
}

void finite_free(struct finite *f)
{
	if (!f)
		return;
	omp_destroy_lock(&f->lock);
	free(f->span);
	free((void *)f->seen);
	free(f);
}

/* Weights of a source lie in one array, in the order of the file. */
static void report(struct finite *f, const struct weight *w, uint64_t block)
{
	omp_set_lock(&f->lock);
	if (!f->weight || w < f->weight || (w == f->weight && block < f->block)) {
		f->weight = w;
		f->block = block;
	}
	omp_unset_lock(&f->lock);
}

static void look_at(struct finite *f, const struct span *s, size_t piece)
{
	size_t bytes = gguf_type_bytes(s->w->type);
	uint64_t from = piece * s->step, n = s->blocks - from < s->step ? s->blocks - from : s->step;
	const char *p = (const char *)s->w->data + from * bytes;
	struct tally found = TALLY_NONE;

	load_pages(p, n * bytes);
	if (f->check)
		scan_blocks(s->w->type, p, n * bytes, from, &found);
	if (found.nan || found.inf)
		report(f, s->w, found.first);
	atomic_fetch_add_explicit(&f->done, n * bytes, memory_order_relaxed);
}

static void look_once(struct finite *f, const struct span *s, size_t piece)
{
	atomic_uchar *seen = &f->seen[s->first + piece];

	/* most are seen: a look is cheaper than an exchange */
	if (!atomic_load_explicit(seen, memory_order_relaxed) &&
	    !atomic_exchange_explicit(seen, 1, memory_order_relaxed))
		look_at(f, s, piece);
}

/* Only one thread tells how far it is: the callback is not made for several at once. */
static void tell(struct finite *f, const struct team *t)
{
	if (!t->id)
		source_progress(f->s, atomic_load_explicit(&f->done, memory_order_relaxed), f->total);
}

/* The last span that begins at or before p, or NULL. */
static const struct span *find_span(const struct finite *f, const char *p)
{
	size_t low = 0, high = f->spans;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if ((const char *)f->span[middle].w->data <= p)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &f->span[low - 1] : NULL;
}

void finite_look(struct finite *f, const struct team *t, const void *p, size_t n)
{
	const struct span *s = find_span(f, p);
	size_t at = s ? (size_t)((const char *)p - (const char *)s->w->data) : 0, bytes;

	if (!s || !n || at >= s->w->size)
		return;
	n = n < s->w->size - at ? n : s->w->size - at;
	bytes = gguf_type_bytes(s->w->type) * s->step;
	for (size_t i = at / bytes; i <= (at + n - 1) / bytes; i++)
		look_once(f, s, i);
	tell(f, t);
}

static void look_at_rest(const struct team *t, void *ctx)
{
	struct finite *f = ctx;

	for (size_t i = 0; i < f->spans; i++) {
		const struct span *s = &f->span[i];
		size_t from, to;

		team_share(t, (s->blocks + s->step - 1) / s->step, 1, &from, &to);
		for (size_t piece = from; piece < to; piece++)
			look_once(f, s, piece);
		tell(f, t);
	}
}

int finite_end(struct finite *f, struct team_barrier *threads, struct gguf_error *e)
{
	char name[80];

	if (f->check && f->done < f->total)
		team_run(threads, 0, look_at_rest, f);
	source_progress(f->s, f->total, f->total);
	if (!f->weight)
		return 0;
	return gguf_fail(e, -EBADMSG, 0,
			 "tensor '%s': %s %" PRIu64 " is no number (NaN or Inf); --no-check runs it all the same",
			 gguf_quote(name, sizeof name, f->weight->name.p, f->weight->name.n),
			 scan_counts_blocks(f->weight->type) ? "the scale of block" : "value", f->block);
}
