/* SPDX-License-Identifier: MIT */
/* Text of models on terminals: it may hold anything, escape sequences among it. */
#ifndef SAFE_H
#define SAFE_H
#include <stddef.h>
#include <stdio.h>

/*
 * Prints n bytes; newline and tab as they are, other control characters (C0, DEL, and C1 in UTF-8) as \xNN. Bytes that
 * are no UTF-8 are not looked at.
 */
void safe_print(FILE *f, const char *p, size_t n);
#endif
