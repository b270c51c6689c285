/* SPDX-License-Identifier: MIT */
/* The stages that look back on what was said. */
#define _GNU_SOURCE
#include "sampler.h"
#include "token/token.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void apply_penalties(struct sampler *s)
{
	const struct sampler_options *o = &s->o;
	struct cand *c = cands_open(&s->cands);

	for (size_t i = 0; i < s->cands.n; i++) {
		uint32_t count = s->count[c[i].id];

		if (!count)
			continue;
		if (c[i].logit <= 0)
			c[i].logit *= o->penalty_repeat;
		else
			c[i].logit /= o->penalty_repeat;
		c[i].logit -= (float)count * o->penalty_freq + o->penalty_present;
	}
}

/* ---- dry: what would go on with a repetition is punished by its length ---- */

enum { BREAKER_BYTES = 40, TAIL_TOKENS = 20 };

/* A way to write a breaker: a token, then these. Those that start with the same token are a list. */
struct breaker {
	int32_t next; /* -1 ends */
	uint32_t n;
	int32_t tail[TAIL_TOKENS];
};

struct dry {
	int32_t *head;       /* for each token its first breaker, -1: none */
	struct breaker *breakers;
	size_t n, room;
	int32_t *longest;    /* for each token: 1 + the longest repetition that it would go on with, 0: none */
	int32_t *back;       /* what was said, last first */
	int32_t *match;      /* of each place in back: how much of its start stands there too */
	size_t window;       /* tokens looked at */
};

bool dry_active(const struct sampler_options *o)
{
	return o->dry_multiplier != 0 && o->dry_base >= 1 && o->dry_penalty_last_n != 0;
}

static int add_breaker(struct dry *d, int32_t head, const int32_t *tail, size_t n)
{
	struct breaker *b = d->breakers;

	if (d->n == d->room) {
		d->room = d->room ? 2 * d->room : 64;
		b = reallocarray(b, d->room, sizeof *b);
		if (!b)
			return -ENOMEM;
		d->breakers = b;
	}
	b += d->n;
	b->n = (uint32_t)(n < TAIL_TOKENS ? n : TAIL_TOKENS);
	b->next = d->head[head];
	if (b->n)
		memcpy(b->tail, tail, b->n * sizeof *tail);
	d->head[head] = (int32_t)d->n++;
	return 0;
}

/* A token whose text ends with the first same bytes of text: the rest is tokenized. */
static int add_split(struct dry *d, const struct vocab *v, int32_t id, const char *text, size_t same)
{
	struct tokens rest = { 0 };
	int err = vocab_encode(v, text + same, strnlen(text, BREAKER_BYTES) - same, 0, &rest);

	if (!err)
		err = add_breaker(d, id, rest.id, rest.n);
	free(rest.id);
	return err;
}

static int add_token(struct dry *d, const struct vocab *v, int32_t id, const char *text)
{
	size_t n = strnlen(text, BREAKER_BYTES);
	struct gguf_bytes word = vocab_piece(v, id, true);
	int err = 0;

	if (memmem(word.p, word.n, text, n))
		return add_breaker(d, id, NULL, 0);
	for (size_t same = word.n < n ? word.n : n; same > 0 && !err; same--)
		if (!memcmp(word.p + word.n - same, text, same))
			err = add_split(d, v, id, text, same);
	return err;
}

static int add_breakers(struct dry *d, const struct vocab *v, const char *const *text, size_t n_vocab)
{
	size_t n = vocab_size(v) < n_vocab ? vocab_size(v) : n_vocab;
	int err = 0;

	for (; *text; text++)
		for (size_t id = 0; id < n && **text && !err; id++)
			err = add_token(d, v, (int32_t)id, *text);
	return err;
}

void dry_free(struct dry *d)
{
	if (!d)
		return;
	free(d->head);
	free(d->breakers);
	free(d->longest);
	free(d->back);
	free(d->match);
	free(d);
}

int dry_new(struct dry **out, const struct sampler_options *o, size_t n_vocab, const struct vocab *v, size_t room)
{
	struct dry *d = calloc(1, sizeof *d);
	int err = -ENOMEM;

	if (!d)
		return err;
	d->window = room;
	d->head = malloc(n_vocab * sizeof *d->head);
	d->longest = calloc(n_vocab, sizeof *d->longest);
	d->back = malloc(room * sizeof *d->back);
	d->match = malloc(room * sizeof *d->match);
	if (d->head && d->longest && d->back && d->match) {
		memset(d->head, 0xff, n_vocab * sizeof *d->head);
		err = v && o->dry_breakers ? add_breakers(d, v, o->dry_breakers, n_vocab) : 0;
	}
	if (err)
		dry_free(d);
	else
		*out = d;
	return err;
}

/* Longest tail of a breaker that starts with back[i] and goes on towards the present; -1: none. */
static int longest_breaker(const struct dry *d, size_t i)
{
	int longest = -1;

	for (int32_t at = d->head[d->back[i]]; at >= 0; at = d->breakers[at].next) {
		const struct breaker *b = &d->breakers[at];
		uint32_t k = 0;

		if (b->n > i || (int)b->n <= longest)
			continue;
		while (k < b->n && b->tail[k] == d->back[i - 1 - k])
			k++;
		if (k == b->n)
			longest = (int)b->n;
	}
	return longest;
}

/* How many tokens were said since the last breaker. */
static size_t since_breaker(const struct dry *d, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int tail = longest_breaker(d, i);

		if (tail >= 0)
			return i - (size_t)tail;
	}
	return n;
}

/* The Z function of back: how long each place's sequence equals the start's. Linear. */
static void match_all(struct dry *d, size_t n)
{
	size_t from = 0, to = 0; /* the match that reaches furthest: back[from, to) equals the start */

	for (size_t k = 1; k < n; k++) {
		size_t m = 0;

		if (k < to) {
			m = (size_t)d->match[k - from];
			if (m > to - k)
				m = to - k;
		}
		while (k + m < n && d->back[m] == d->back[k + m])
			m++;
		d->match[k] = (int32_t)m;
		if (k + m > to) {
			from = k;
			to = k + m;
		}
	}
}

static bool is_breaker(const struct dry *d, int32_t id)
{
	for (int32_t at = d->head[id]; at >= 0; at = d->breakers[at].next)
		if (!d->breakers[at].n)
			return true;
	return false;
}

static void punish(struct sampler *s)
{
	const struct sampler_options *o = &s->o;
	const struct dry *d = s->dry;
	int most = o->dry_base > 1.000001f ? (int)(88.7228391f /* log FLT_MAX */ / logf(o->dry_base)) : 0;
	struct cand *c = cands_open(&s->cands);

	for (size_t i = 0; i < s->cands.n; i++) {
		int over = d->longest[c[i].id] - 1 - o->dry_allowed_length;

		if (!d->longest[c[i].id] || is_breaker(d, c[i].id))
			continue;
		if (most > 0 && over > most)
			over = most;
		c[i].logit -= (float)(o->dry_multiplier * pow(o->dry_base, over));
	}
}

void apply_dry(struct sampler *s)
{
	struct dry *d = s->dry;
	size_t n = s->said_n < d->window ? s->said_n : d->window, limit;
	int32_t allowed = s->o.dry_allowed_length;

	if (allowed >= 0 && n <= (size_t)allowed)
		return;
	for (size_t i = 0; i < n; i++)
		d->back[i] = sampler_said(s, i);
	limit = since_breaker(d, n);
	if (allowed >= 0 && limit < (size_t)allowed)
		return;
	match_all(d, n);
	for (size_t k = 1; k < n; k++) {
		int32_t repeat = d->match[k] < (int32_t)limit ? d->match[k] : (int32_t)limit;
		int32_t *longest = &d->longest[d->back[k - 1]];

		if (repeat >= allowed && *longest < repeat + 1)
			*longest = repeat + 1;
	}
	punish(s);
	for (size_t k = 0; k < n; k++)
		d->longest[d->back[k]] = 0;
}
