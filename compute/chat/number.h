/* SPDX-License-Identifier: MIT */
/* Numbers to text and back, as Python writes and reads them. */
#ifndef NUMBER_H
#define NUMBER_H
#include "value.h"

/* A number literal of the template language at p, its length, or 0 for an integer out of range. */
size_t number_literal(const char *p, size_t n, struct value *v);
/* int(text, base) and float(text): false where Python raises ValueError (or where an int is out of range). */
bool number_int(const struct str *s, int base, int64_t *v);
bool number_float(const struct str *s, double *v);
/* repr(float): the shortest text that reads back. 32 bytes are enough. */
void number_repr(char out[32], double f);
/* 0, or the sign of a - b compared exactly. Not for NaN. */
int number_order(struct value a, struct value b);
bool is_number(struct value v); /* bool, int or float */
double number_double(struct value v);
#endif
