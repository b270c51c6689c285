/* SPDX-License-Identifier: MIT */
#ifndef FUZZ_H
#define FUZZ_H
#include "gguf.h"
/* What a fuzzer calls, or fuzz_main.c with the files of the corpus. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Reads all that a model offers, and writes it again. */
void fuzz_walk(const struct gguf *g);
#endif
