/* SPDX-License-Identifier: MIT */
/*
 * The first touch of the weights: their pages are brought in a piece at a time, and with check each piece is searched
 * for NaN and Inf, as values or as scales of blocks. Whoever is about to read weights for the first time calls
 * finite_look, so that the search finds them in the cache or puts them there, and waiting for pages overlaps with the
 * arithmetic of other threads; finite_end does what is left. What is found does not depend on who looked where.
 */
#ifndef FINITE_H
#define FINITE_H
#include "source.h"
#include "team.h"

struct finite;
/* For the weights of s, which is mapped and outlives it. 0 or -ENOMEM. */
int finite_new(struct finite **out, struct source *s, bool check);
void finite_free(struct finite *f); /* NULL is fine */
/* Looks at the weights in the n bytes at p, unless they were looked at. Any thread of a team may call it. */
void finite_look(struct finite *f, const struct team *t, const void *p, size_t n);
/*
 * With check looks at all that nobody has looked at; not from inside a region. 0, or -EBADMSG naming the first tensor
 * with NaN or Inf and the place in it. Doing it again gives the same answer.
 */
int finite_end(struct finite *f, struct team_barrier *threads, struct gguf_error *e);
#endif
