/* SPDX-License-Identifier: MIT */
#ifndef GGUF_QUOTE_H
#define GGUF_QUOTE_H
#include <stddef.h>
/*
 * n bytes of a stranger's text, made safe for a terminal and a line: control characters, bytes that are no UTF-8 and
 * characters that change the direction of writing become \xNN; a backslash is doubled. What passes size ends in "...".
 * size >= 8. Returns out, terminated.
 */
const char *gguf_quote(char *out, size_t size, const char *p, size_t n);
/* The same, but backslashes stay as they are: for a sentence whose parts may be quoted already. */
const char *gguf_quote_sentence(char *out, size_t size, const char *p, size_t n);
/* The length of the valid UTF-8 character at p, and its number, or 0. */
size_t gguf_utf8(const char *p, size_t n, unsigned *point);
#endif
