/* SPDX-License-Identifier: MIT */
#ifndef UTF8_H
#define UTF8_H
#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Bytes of a character by its first byte; 1 where that starts none. What follows is not looked at. */
static inline size_t utf8_length(char first)
{
	static const unsigned char by_nibble[16] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 4 };

	return by_nibble[(unsigned char)first >> 4];
}

/* Bytes of the whole and valid character at p, or 0: neither cut, overlong, a surrogate, nor beyond U+10FFFF. */
size_t utf8_valid(const char *p, size_t n);
/* The code point of a valid character of len bytes. */
uint32_t utf8_decode(const char *p, size_t len);
/* Writes code point c, 1 to 4 bytes; returns how many. */
size_t utf8_encode(uint32_t c, char *out);
/* How many bytes at the beginning are valid characters. */
size_t utf8_valid_prefix(const char *p, size_t n);

/*
 * Text that comes in pieces which may end inside a character. What comes out is whole, valid characters only: the
 * beginning of one is held back until the rest is there, and a byte that can be part of none becomes U+FFFD.
 * Starts as all zeros.
 */
struct utf8_hold {
	char byte[4];
	unsigned n;
};
/* Takes n bytes; out has room for 3 * (n + 3). Returns the bytes written there. */
size_t utf8_hold(struct utf8_hold *h, const char *p, size_t n, char *out);
/* At the end: U+FFFD for each byte still held. out has room for 9 bytes. */
size_t utf8_hold_end(struct utf8_hold *h, char *out);
#endif
