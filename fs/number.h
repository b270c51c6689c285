/* SPDX-License-Identifier: MIT */
/*
 * Numbers as text: the fewest digits that read back to the same value of the same width, and of those the nearest.
 * Written plainly from 0.0001 up to 1e16, else as 1.5e-7. "nan", "inf", "-inf"; zero keeps its sign.
 */
#ifndef FS_NUMBER_H
#define FS_NUMBER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NUMBER_SIZE = 32 }; /* room for any number */

/* Write to text, not terminated, and return how many bytes. */
size_t number_u64(char *text, uint64_t v);
size_t number_i64(char *text, int64_t v);
size_t number_f32(char *text, float v);
size_t number_f64(char *text, double v);
#endif
