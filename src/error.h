/* SPDX-License-Identifier: MIT */
#ifndef GGUF_ERROR_H
#define GGUF_ERROR_H
#include "gguf.h"
/* Fills *e, where e is not NULL, and returns code. What is no line of text for a terminal, from a file, is escaped. */
__attribute__((format(printf, 4, 5)))
int gguf_fail(struct gguf_error *e, int code, uint64_t offset, const char *fmt, ...);
#endif
