/* SPDX-License-Identifier: MIT */
#ifndef GGUF_IDENTIFY_H
#define GGUF_IDENTIFY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
/* What a file that is no GGUF file is, from its first n bytes and its size; fits behind "this is". */
const char *gguf_identify(const void *head, size_t n, uint64_t size);
/*
 * Whether a name is that of one piece of a file that was cut without regard to its format: x.gguf.part1of2, x-split-a.
 */
bool gguf_is_piece(const char *path);
#endif
