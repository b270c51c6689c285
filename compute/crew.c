/* SPDX-License-Identifier: MIT */
#include "crew.h"

/*
 * WORK multiply-adds of one token between two barriers take some microseconds, many times what a barrier does. Among many
 * tokens FASTER are done in that time. STEPS: of a layer, between barriers.
 */
enum { WORK = 128 << 10, FASTER = 4, STEPS = 6 };

/*
 * A try is TRY batches; FIRST come before the first one with fewer threads, and LEAST before one with more. What did not pay
 * is tried again when RARE times as long has passed as it took, which is after LEAST to MOST batches. HELD: the part of the
 * time from which on threads are held up.
 */
enum { TRY = 3, FIRST = 4, LEAST = 32, RARE = 32, MOST = 4096 };
static const double HELD = 0.125;

static double layer_work(const struct hyper *h, const struct layer *l)
{
	double heads = 2.0 * l->heads * h->key_len + (double)l->kv_heads * (h->key_len + h->value_len);
	double ffn = l->experts ? (double)l->used * l->expert_ffn + l->shared_ffn : l->ffn;

	return h->width * (heads + 3 * ffn);
}

void crew_new(struct crew *c, const struct model *m, unsigned threads, bool choose)
{
	*c = (struct crew){ .threads = threads, .choose = choose };
	for (uint32_t i = 0; i < m->h.layers; i++)
		c->work += layer_work(&m->h, &m->layer[i]) / m->h.layers;
}

static unsigned worth(const struct crew *c, size_t tokens)
{
	double work = c->work * ((double)(tokens + FASTER - 1) / FASTER) / STEPS / WORK;

	if (!c->choose || work >= c->threads)
		return c->threads;
	return work < 1 ? 1 : (unsigned)work;
}

unsigned crew_next(struct crew *c, size_t tokens)
{
	if (tokens != c->tokens) {
		c->tokens = tokens;
		c->most = c->now = worth(c, tokens);
		c->tried = c->passes = 0;
		c->fewer = FIRST;
		c->more = LEAST;
		c->time = c->waited = 0;
	}
	return c->tried ? c->tried : c->now;
}

static void average(double *mean, double x)
{
	*mean += (x - *mean) / 4;
}

/* Fewer threads where some are held up; else as many as before, now and then. 0: nothing is to be tried. */
static unsigned worth_a_try(const struct crew *c)
{
	if (c->waited > HELD && c->now > 1 && c->passes >= c->fewer)
		return c->now - 1;
	return c->now < c->most && c->passes >= c->more ? c->now + 1 : 0;
}

static void end_try(struct crew *c)
{
	unsigned *patience = c->tried < c->now ? &c->fewer : &c->more;
	double time = c->tries / TRY, rest = c->tries / c->time * RARE;

	if (time < c->time) {
		c->now = c->tried;
		c->time = time;
		c->waited = 0;
		c->fewer = FIRST;
		c->more = LEAST;
	} else {
		*patience = rest < LEAST ? LEAST : rest < MOST ? (unsigned)rest : MOST;
	}
	c->tried = c->passes = 0;
}

void crew_took(struct crew *c, double seconds, double slept)
{
	c->passes++;
	if (c->tried) {
		c->tries += seconds;
		if (c->passes == TRY)
			end_try(c);
		return;
	}
	average(&c->waited, seconds > 0 ? slept / seconds : 0);
	c->time = c->time > 0 ? c->time : seconds;
	average(&c->time, seconds);
	c->tried = worth_a_try(c);
	if (c->tried) {
		c->passes = 0;
		c->tries = 0;
	}
}
