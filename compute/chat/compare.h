/* SPDX-License-Identifier: MIT */
/* Truth, equality, order and membership. */
#ifndef COMPARE_H
#define COMPARE_H
#include "value.h"

bool value_true(struct value v);
bool value_equal(struct job *j, struct value a, struct value b);
/* a is b */
bool value_same(struct value a, struct value b);
/*
 * Whether a OP b, OP being one of "<" "<=" ">" ">=". False in *able for values without an order, whose types are then
 * in *a and *b.
 */
bool value_ordered(struct job *j, struct value *a, struct value *b, const char *op, bool *able);
#endif
