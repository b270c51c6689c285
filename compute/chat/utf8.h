/* SPDX-License-Identifier: MIT */
/* Characters as Python sees them. A byte that is not UTF-8 counts as one character, UTF8_BAD + byte. */
#ifndef UTF8_H
#define UTF8_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UTF8_BAD = 0xdc00 };

/* The character at p (n > 0 bytes are there) and its length in *len. */
uint32_t utf8_get(const char *p, size_t n, size_t *len);
/* Writes c (at most 4 bytes), returns the length. A bad byte comes out as it came in. */
size_t utf8_put(char *p, uint32_t c);
size_t utf8_count(const char *p, size_t n);
/* Bytes of the first i characters. */
size_t utf8_skip(const char *p, size_t n, size_t i);
/* Length of the last character of n > 0 bytes. */
size_t utf8_last(const char *p, size_t n);

bool uc_space(uint32_t c);
bool uc_alpha(uint32_t c);
bool uc_decimal(uint32_t c);
bool uc_digit(uint32_t c);
bool uc_numeric(uint32_t c);
bool uc_printable(uint32_t c);
bool uc_lower(uint32_t c);
bool uc_upper(uint32_t c);
bool uc_title(uint32_t c);
bool uc_cased(uint32_t c);
/* Full case mappings: up to 3 characters; returns how many. */
unsigned uc_to_upper(uint32_t c, uint32_t out[3]);
unsigned uc_to_lower(uint32_t c, uint32_t out[3]);
unsigned uc_to_title(uint32_t c, uint32_t out[3]);
unsigned uc_fold(uint32_t c, uint32_t out[3]);
#endif
