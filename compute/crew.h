/* SPDX-License-Identifier: MIT */
/*
 * How many threads a batch is given: as many as it is worth, and fewer while that is faster, because other programs want
 * the processors, too. A thread that has to wait for its turn holds up all others at the next barrier, and a token has
 * hundreds of these.
 */
#ifndef CREW_H
#define CREW_H
#include "network.h"
#include <stdbool.h>

struct crew {
	unsigned threads; /* at most */
	bool choose;      /* fewer where a batch is not worth so many */
	double work;      /* multiply-adds of a layer's matrices for a token */
	/* What batches of so many tokens took of late. */
	size_t tokens;
	unsigned most, now, tried;  /* threads they are worth, have, and have for a try (0: none is on) */
	unsigned passes;            /* since the last try, or of it */
	unsigned fewer, more;       /* so many come before a try with one thread fewer, or more */
	double time, waited;        /* seconds of a batch, and the part of them that threads slept at barriers: both averages */
	double tries;               /* seconds of a try so far */
};

void crew_new(struct crew *c, const struct model *m, unsigned threads, bool choose);
/* Threads for a batch of so many tokens. */
unsigned crew_next(struct crew *c, size_t tokens);
/* What became of it: seconds it took, and those that its threads slept at barriers, all in all. */
void crew_took(struct crew *c, double seconds, double slept);
#endif
