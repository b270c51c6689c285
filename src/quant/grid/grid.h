/* SPDX-License-Identifier: MIT */
/* The code books of the IQ types: an entry holds the magnitudes (of IQ1 the signed values) of 8 or 4 neighbours. */
#ifndef GGUF_GRID_H
#define GGUF_GRID_H
#include <stdint.h>
extern const uint64_t grid_IQ1[2048], grid_IQ2_XXS[256], grid_IQ2_XS[512], grid_IQ2_S[1024];
extern const uint32_t grid_IQ3_XXS[256], grid_IQ3_S[512];
#endif
