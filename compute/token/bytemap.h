/* SPDX-License-Identifier: MIT */
/*
 * GPT-2's way to write bytes as printable characters: those printable in Latin-1 stand for themselves, the others, in
 * order, are U+0100 and up. So a space is U+0120.
 */
#ifndef BYTEMAP_H
#define BYTEMAP_H
#include <stdint.h>

enum { BYTEMAP_MOVED = 0x100, BYTEMAP_END = 0x144 };

static inline uint32_t bytemap_char(unsigned char b)
{
	if (b <= 0x20)
		return BYTEMAP_MOVED + b;
	if (b >= 0x7f && b <= 0xa0)
		return BYTEMAP_MOVED + 0x21 + (b - 0x7f);
	return b == 0xad ? BYTEMAP_END - 1 : b;
}

/* The byte that character c stands for, or -1. */
static inline int bytemap_byte(uint32_t c)
{
	if (c < BYTEMAP_MOVED)
		return bytemap_char((unsigned char)c) == c ? (int)c : -1;
	if (c <= BYTEMAP_MOVED + 0x20)
		return (int)(c - BYTEMAP_MOVED);
	if (c < BYTEMAP_END - 1)
		return (int)(c - BYTEMAP_MOVED - 0x21 + 0x7f);
	return c == BYTEMAP_END - 1 ? 0xad : -1;
}
#endif
