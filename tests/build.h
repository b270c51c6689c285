/* SPDX-License-Identifier: MIT */
/*
 * Makes GGUF files in memory, whole or spoiled, from a script of words:
 *
 *   hdr V T K            magic, version V (with a b behind it: big-endian), counts of tensors and keys
 *   key NAME TYPE        a key's name and type; its value follows
 *   u8 u16 u32 u64 N, i8 i16 i32 i64 N, bool N, f32 f64 X, str TEXT
 *   arr TYPE N           head of an array; items follow
 *   len N                a length as wide as the version says
 *   ten NAME D E,E.. TYPE OFFSET   a row of the table; D is the number of dimensions that it claims
 *   pad N, zero N, fill N BYTE, raw HEX, cut N
 *
 * Numbers are decimal, 0x.., negative, or sums like 2^63-1. TEXT and NAME: %XX is a byte, @N is N letters n, a lone
 * % is the empty text. TYPE is a name (u32, string, Q4_0) or a number.
 */
#ifndef BUILD_H
#define BUILD_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
struct build {
	uint8_t *p;
	size_t n, room;
	unsigned version;
	bool big_endian;
};
/* Appends what the script says; ends the program at a word that it does not know. */
void build(struct build *b, const char *script);
void build_bytes(struct build *b, const void *p, size_t n);
void build_number(struct build *b, uint64_t v, unsigned width);
void build_zeros(struct build *b, size_t n);
/* A string with its length before it. */
void build_string(struct build *b, const char *p, size_t n);
void build_free(struct build *b);
#endif
