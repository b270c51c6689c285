/* SPDX-License-Identifier: MIT */
#include "stats.h"
#include "floats.h"
#include "number.h"
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

enum {
	PIECE = 16384, /* values at once */
	BINS = 64,
	NAME_WIDTH = 8, VALUE_WIDTH = 26, /* bytes of a line before the newline */
};

struct stats {
	uint64_t count, zeros, nan, inf; /* count: of the finite values, from which the rest follows */
	float min, max;
	double sum, mean, squares; /* squares: of the distances from the mean */
	uint64_t bins[BINS];       /* of equal width from min to max */
};

struct stats_cache {
	pthread_mutex_t lock; /* held while one is made, so that nobody makes it twice */
	size_t tensors;
	struct stats **made;
};

int stats_cache_new(struct stats_cache **out, size_t tensors)
{
	struct stats_cache *c = calloc(1, sizeof *c);

	if (c)
		c->made = calloc(tensors + 1, sizeof *c->made);
	if (!c || !c->made) {
		free(c);
		return -ENOMEM;
	}
	c->tensors = tensors;
	pthread_mutex_init(&c->lock, NULL);
	*out = c;
	return 0;
}

void stats_cache_free(struct stats_cache *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->tensors; i++)
		free(c->made[i]);
	pthread_mutex_destroy(&c->lock);
	free(c->made);
	free(c);
}

/* ---- counting ---- */

/* The first pass: all but what needs the mean and the borders. */
static void count_values(struct stats *s, const float *v, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		s->zeros += v[k] == 0;
		s->nan += isnan(v[k]) != 0;
		s->inf += isinf(v[k]) != 0;
		if (!isfinite(v[k]))
			continue;
		s->min = s->count ? fminf(s->min, v[k]) : v[k];
		s->max = s->count ? fmaxf(s->max, v[k]) : v[k];
		s->sum += (double)v[k];
		s->count++;
	}
}

/* The second pass: distances from the mean, and bins between the borders. */
static void spread_values(struct stats *s, const float *v, size_t n)
{
	double width = (double)s->max - (double)s->min, per_bin = width > 0 ? BINS / width : 0;

	for (size_t k = 0; k < n; k++) {
		double off = (double)v[k] - s->mean, bin = ((double)v[k] - (double)s->min) * per_bin;

		if (!isfinite(v[k]))
			continue;
		s->squares += off * off;
		s->bins[bin < BINS ? (size_t)bin : BINS - 1]++;
	}
}

/* Calls each with all values of tensor i, a piece at a time and in order. */
static int for_values(const struct mtree *t, uint64_t i, struct stats *s,
		      void (*each)(struct stats *s, const float *v, size_t n))
{
	uint64_t values = gguf_tensor(t->g, i)->values;
	float v[PIECE];
	int err = 0;

	for (uint64_t first = 0; first < values && !err; first += PIECE) {
		size_t n = values - first < PIECE ? (size_t)(values - first) : PIECE;

		err = mtree_stops(t) ? -EINTR : floats_values(t, i, v, n, first);
		if (!err)
			each(s, v, n);
	}
	return err;
}

/* *out is to be freed. */
static int stats_make(const struct mtree *t, uint64_t i, struct stats **out)
{
	struct stats *s = calloc(1, sizeof *s);
	int err = s ? for_values(t, i, s, count_values) : -ENOMEM;

	if (!err) {
		s->mean = s->count ? s->sum / (double)s->count : 0;
		err = for_values(t, i, s, spread_values);
	}
	if (err)
		free(s);
	else
		*out = s;
	return err;
}

/* ---- the text: lines of one width ---- */

static void put_line(struct out *o, const char *name, const char *value, size_t n)
{
	out_printf(o, "%-*s%*.*s\n", NAME_WIDTH, name, VALUE_WIDTH - NAME_WIDTH, (int)n, value);
}

static void put_count(struct out *o, const char *name, uint64_t v)
{
	char text[NUMBER_SIZE];

	put_line(o, name, text, number_u64(text, v));
}

static void put_number(struct out *o, const char *name, double v)
{
	char text[NUMBER_SIZE];

	put_line(o, name, text, number_f32(text, (float)v));
}

/* A bar for each bin, of eight heights; what holds any value at all is seen. An empty one is as many bytes. */
static void put_bins(struct out *o, const uint64_t *bins)
{
	static const char bar[][4] = { "\u2003", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	uint64_t most = 1;

	for (int k = 0; k < BINS; k++)
		most = bins[k] > most ? bins[k] : most;
	for (int k = 0; k < BINS; k++)
		out_string(o, bar[bins[k] ? 1 + (size_t)(7 * ((double)bins[k] / (double)most)) : 0]);
	out_put(o, "\n", 1);
}

static void stats_print(const struct stats *s, struct out *o)
{
	double std = s->count ? sqrt(s->squares / (double)s->count) : 0;

	put_count(o, "values", s->count + s->nan + s->inf);
	put_number(o, "min", (double)s->min);
	put_number(o, "max", (double)s->max);
	put_number(o, "mean", s->mean);
	put_number(o, "std", std);
	put_count(o, "zeros", s->zeros);
	put_count(o, "nan", s->nan);
	put_count(o, "inf", s->inf);
	put_bins(o, s->bins);
}

int stats_size(const struct mtree *t, uint64_t i, uint64_t *size)
{
	static const struct stats none;
	struct out o = { 0 };

	(void)t;
	(void)i;
	stats_print(&none, &o);
	*size = o.total;
	return 0;
}

int stats_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset)
{
	struct out o = { .buf = buf, .room = n, .skip = offset };
	struct stats_cache *c = t->stats;
	int err = 0;

	pthread_mutex_lock(&c->lock);
	if (!c->made[i])
		err = stats_make(t, i, &c->made[i]);
	pthread_mutex_unlock(&c->lock);
	if (!err)
		stats_print(c->made[i], &o);
	return err;
}
