/* SPDX-License-Identifier: MIT */
/* Ordering candidates: the few best by a heap, all of them by a radix sort. */
#include "sampler.h"
#include <float.h>
#include <math.h>
#include <string.h>

static float clean(float x)
{
	if (isnan(x))
		return -INFINITY;
	return x > FLT_MAX ? FLT_MAX : x;
}

void cands_load(struct cands *s, const float *logits)
{
	s->raw = logits;
	s->c = s->all;
	s->n = s->vocab;
	s->ranked = 0;
	s->sorted = false;
}

static void fill(struct cands *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		s->c[i] = (struct cand){ .id = (int32_t)i, .logit = clean(s->raw[i]) };
}

void cands_spread(struct cands *s)
{
	if (s->raw)
		fill(s, s->n);
	s->raw = NULL;
}

struct cand *cands_open(struct cands *s)
{
	cands_spread(s);
	s->ranked = 0;
	s->sorted = false;
	return s->c;
}

static bool better(const struct cand *a, const struct cand *b)
{
	return a->logit > b->logit || (a->logit == b->logit && a->id < b->id);
}

/* A heap with the worst of n on top. */
static void sink(struct cand *h, size_t n, size_t i)
{
	struct cand moved = h[i];

	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && better(&h[child], &h[child + 1]))
			child++;
		if (!better(&moved, &h[child]))
			break;
		h[i] = h[child];
	}
	h[i] = moved;
}

static void heap_make(struct cand *h, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sink(h, n, i);
}

/* A heap becomes a falling sequence. */
static void heap_sort(struct cand *h, size_t n)
{
	while (n > 1) {
		struct cand worst = h[0];

		h[0] = h[--n];
		h[n] = worst;
		sink(h, n, 0);
	}
}

/* The first k of n become the largest, in falling order. */
static void partial_sort(struct cand *c, size_t n, size_t k)
{
	heap_make(c, k);
	for (size_t i = k; i < n; i++)
		if (better(&c[i], &c[0])) {
			struct cand better_one = c[i];

			c[i] = c[0];
			c[0] = better_one;
			sink(c, k, 0);
		}
	heap_sort(c, k);
}

/* partial_sort straight from the logits, for who will forget the rest. */
static void top_of_raw(struct cands *s, size_t k)
{
	const float *x = s->raw;

	fill(s, k);
	heap_make(s->c, k);
	for (size_t i = k; i < s->vocab; i++)
		if (x[i] > s->c[0].logit) { /* of equals the first stays; false for NaN */
			s->c[0] = (struct cand){ .id = (int32_t)i, .logit = clean(x[i]) };
			sink(s->c, k, 0);
		}
	heap_sort(s->c, k);
	s->raw = NULL;
	s->n = s->ranked = k;
}

/* Unsigned numbers that rise as the logit falls. */
static uint32_t falling_key(float logit)
{
	uint32_t u;

	logit += 0.0f; /* -0 is 0 */
	memcpy(&u, &logit, sizeof u);
	return u >> 31 ? u : ~u & 0x7fffffffU;
}

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

static void radix_pass(struct cand *to, const struct cand *from, size_t n, unsigned shift)
{
	uint32_t at[DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[falling_key(from[i].logit) >> shift & (DIGITS - 1)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		uint32_t count = at[d];

		at[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[at[falling_key(from[i].logit) >> shift & (DIGITS - 1)]++] = from[i];
}

/* All of n in falling order, in linear time; equals are put in the order of their ids after that. */
static void full_sort(struct cand *c, struct cand *spare, size_t n)
{
	radix_pass(spare, c, n, 0);
	radix_pass(c, spare, n, DIGIT_BITS);
	radix_pass(spare, c, n, 2 * DIGIT_BITS);
	memcpy(c, spare, n * sizeof *c);
	for (size_t i = 0, run; i < n; i += run) {
		run = 1;
		while (i + run < n && c[i + run].logit == c[i].logit)
			run++;
		heap_make(c + i, run);
		heap_sort(c + i, run);
	}
}

void cands_rank(struct cands *s, size_t k)
{
	enum { HEAP_MAX = 2048 }; /* beyond it the heap costs more than sorting everything */
	struct cand *rest;

	cands_spread(s);
	if (k > s->n)
		k = s->n;
	if (k <= s->ranked)
		return;
	rest = s->c + s->ranked;
	if (k - s->ranked <= HEAP_MAX) {
		partial_sort(rest, s->n - s->ranked, k - s->ranked);
	} else {
		full_sort(rest, s->spare, s->n - s->ranked);
		k = s->n;
	}
	s->ranked = k;
}

struct cand *cands_at(struct cands *s, size_t i)
{
	if (i >= s->ranked)
		cands_rank(s, i < 256 ? 256 : i * 8);
	return &s->c[i];
}

void cands_keep(struct cands *s, size_t n)
{
	if (n == s->n) {
		cands_spread(s);
	} else if (s->raw) {
		top_of_raw(s, n);
	} else {
		cands_rank(s, n);
		s->n = n;
	}
	s->sorted = true;
}

float cands_max(struct cands *s)
{
	float max;

	cands_spread(s);
	max = s->c[0].logit;
	if (s->ranked)
		return max;
	for (size_t i = 1; i < s->n; i++)
		if (s->c[i].logit > max)
			max = s->c[i].logit;
	return max;
}

/* Where all logits are -inf there is nothing to tell them apart: the first gets everything. */
static void all_to_first(struct cands *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->c[i].p = i == 0;
}

float cands_softmax(struct cands *s)
{
	float max = cands_max(s), sum = 0;

	if (max == -INFINITY) {
		all_to_first(s);
		return 1;
	}
	for (size_t i = 0; i < s->n; i++) {
		s->c[i].p = expf(s->c[i].logit - max);
		sum += s->c[i].p;
	}
	for (size_t i = 0; i < s->n; i++)
		s->c[i].p /= sum;
	return sum;
}

size_t cands_draw(struct cands *s, struct mt *m)
{
	double sum = 0, run = 0, target;
	float max = cands_max(s);

	if (s->n == 1 || max == -INFINITY)
		return 0;
	for (size_t i = 0; i < s->n; i++) {
		s->c[i].p = expf(s->c[i].logit - max);
		sum += s->c[i].p;
	}
	target = sum * mt_double(m);
	for (size_t i = 0; i < s->n; i++) {
		run += (s->sorted ? cands_at(s, i) : &s->c[i])->p;
		if (run >= target)
			return i;
	}
	return s->n - 1;
}

size_t cands_draw_p(struct cands *s, struct mt *m)
{
	double sum = 0, run = 0, target;

	if (s->n == 1)
		return 0;
	for (size_t i = 0; i < s->n; i++)
		sum += s->c[i].p;
	target = mt_double(m);
	for (size_t i = 0; i < s->n; i++) {
		run += cands_at(s, i)->p / sum;
		if (run >= target)
			return i;
	}
	return s->n - 1;
}
