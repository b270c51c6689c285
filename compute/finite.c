/* SPDX-License-Identifier: MIT */
/*
 * The search for NaN and Inf. It is the first touch of the weights: each thread has the pages of a piece brought in and
 * then looks at it, so a check costs little over the loading that has to be done anyway. Which block is reported does not
 * depend on the number of threads.
 */
#include "finite.h"
#include "error.h"
#include "load.h"
#include "quote.h"
#include "scan.h"
#include <errno.h>
#include <inttypes.h>
#include <omp.h>

enum { PIECE = 2 << 20 /* bytes */ };

struct search {
	struct source *s;
	omp_lock_t lock;
	size_t weight; /* the first broken one, or SIZE_MAX; with block guarded by lock */
	uint64_t block;
};

static void report(struct search *f, size_t weight, uint64_t block)
{
	omp_set_lock(&f->lock);
	if (weight < f->weight || (weight == f->weight && block < f->block)) {
		f->weight = weight;
		f->block = block;
	}
	omp_unset_lock(&f->lock);
}

/* Blocks from to to of weight i, a piece at a time: its pages are brought in just before it is looked at. */
static void search_blocks(struct search *f, size_t i, uint64_t from, uint64_t to)
{
	const struct weight *w = source_weight(f->s, i);
	size_t bytes = gguf_type_bytes(w->type), step = PIECE / bytes;
	struct tally found = TALLY_NONE;

	for (uint64_t at = from, n; at < to && !found.nan && !found.inf; at += n) {
		const char *p = (const char *)w->data + at * bytes;

		n = to - at < step ? to - at : step;
		load_pages(p, n * bytes);
		scan_blocks(w->type, p, n * bytes, at, &found);
	}
	if (found.nan || found.inf)
		report(f, i, found.first);
}

static void search_share(const struct team *t, void *ctx)
{
	struct search *f = ctx;

	for (size_t i = 0; i < source_weight_count(f->s); i++) {
		const struct weight *w = source_weight(f->s, i);
		size_t bytes = gguf_type_bytes(w->type), from, to;

		if (!bytes || w->put_off)
			continue;
		team_share(t, w->size / bytes, 256, &from, &to);
		search_blocks(f, i, from, to);
	}
}

int finite_check(struct source *s, struct team_barrier *threads, struct gguf_error *e)
{
	struct search f = { .s = s, .weight = SIZE_MAX, .block = UINT64_MAX };
	const struct weight *w;
	char name[80];

	omp_init_lock(&f.lock);
	team_run(threads, search_share, &f);
	omp_destroy_lock(&f.lock);
	if (f.weight == SIZE_MAX)
		return 0;
	w = source_weight(s, f.weight);
	return gguf_fail(e, -EINVAL, 0,
			 "tensor '%s': %s %" PRIu64 " is no number (NaN or Inf); --no-check runs it all the same",
			 gguf_quote(name, sizeof name, w->name.p, w->name.n),
			 scan_counts_blocks(w->type) ? "the scale of block" : "value", f.block);
}
