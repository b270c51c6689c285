/* SPDX-License-Identifier: MIT */
/*
 * 16 rows of integer weights, unpacked for many tokens: a vector has four successive values of each row, so that one
 * instruction multiplies all the rows with the same four activations.
 */
#ifndef KERNEL_PANEL_H
#define KERNEL_PANEL_H
#include "block.h"
#include <stddef.h>

enum { PANEL_ROWS = 16, PANEL_BLOCKS = 64 };

struct panel {
	_Alignas(64) uint8_t q[PANEL_BLOCKS][8][PANEL_ROWS][4]; /* as the ISA wants them: q + 128, or q */
	float d[PANEL_BLOCKS][PANEL_ROWS];
	float m[PANEL_BLOCKS][PANEL_ROWS];
	float s[PANEL_BLOCKS][2][PANEL_ROWS], o[PANEL_BLOCKS][2][PANEL_ROWS]; /* for the kinds in pairs */
};

/* Rows of weights: up to 16, the last one standing for those that are missing. */
struct panel_rows {
	const uint8_t *base;
	_Alignas(64) int32_t at[PANEL_ROWS]; /* bytes from base */
	size_t count;
	const uint8_t *next; /* the rows after these, to be fetched meanwhile; NULL: none */
};

/* n blocks of rows, from block number first, to the front of the panel. */
typedef void panel_unpack_fn(struct panel *p, const struct panel_rows *rows, size_t first, size_t n);
/* In plain C, for any integer type; flip is 0x80 for q + 128. */
void panel_unpack_any(struct panel *p, const struct panel_rows *rows, uint32_t type, size_t first, size_t n, uint8_t flip);
#endif
