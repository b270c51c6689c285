/* SPDX-License-Identifier: MIT */
#ifndef FINITE_H
#define FINITE_H
#include "source.h"
#include "team.h"
/* Whether no weight has NaN or Inf, as a value or as the scale of a block: 0, or -EINVAL naming the first that has. */
int finite_check(struct source *s, struct team_barrier *threads, struct gguf_error *e);
#endif
