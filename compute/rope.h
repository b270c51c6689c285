/* SPDX-License-Identifier: MIT */
#ifndef ROPE_H
#define ROPE_H
#include "network.h"
#include "vec.h"

/* dims / 2 cosines of position and as many sines, magnitude included. A negative position turns back. */
void rope_table(float *table, const struct rope *r, int64_t position);
/* Turns the dims values at x. */
void rope_turn(const struct vec *v, float *x, const float *table, unsigned dims, enum rope_kind kind);
#endif
