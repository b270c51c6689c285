/* SPDX-License-Identifier: MIT */
/*
 * 16 rows of integer weights, unpacked for many tokens: a vector has four successive values of each row, so that one
 * instruction multiplies all the rows with the same four activations.
 */
#ifndef KERNEL_PANEL_H
#define KERNEL_PANEL_H
#include "block.h"
#include "kernel.h"

enum { PANEL_ROWS = 16, PANEL_BLOCKS = 64 };

struct panel {
	_Alignas(64) uint8_t q[PANEL_BLOCKS][8][PANEL_ROWS][4]; /* as the ISA wants them: q + 128, or q */
	float d[PANEL_BLOCKS][PANEL_ROWS];
	float m[PANEL_BLOCKS][PANEL_ROWS];
	float s[PANEL_BLOCKS][2][PANEL_ROWS], o[PANEL_BLOCKS][2][PANEL_ROWS]; /* for the kinds in pairs */
	_Alignas(32) int16_t pair[PANEL_BLOCKS][PANEL_ROWS][2]; /* s, where the ISA wants it as integers */
};

/* Rows of weights: up to 16, the last one standing for those that are missing. */
struct panel_rows {
	const uint8_t *base;
	size_t at[PANEL_ROWS]; /* bytes from base */
	size_t count;
	const uint8_t *next; /* the rows after these, to be fetched meanwhile; NULL: none */
};

/* The rows from number row on that end before to; next: those ahead rows later, where the matrix has them. */
struct panel_rows panel_rows_at(const struct mat *w, size_t row, size_t to, size_t ahead);

/* n blocks of rows, from block number first, to the front of the panel. */
typedef void panel_unpack_fn(struct panel *p, const struct panel_rows *rows, size_t first, size_t n);
/* In plain C, for any integer type; flip is 0x80 for q + 128. */
void panel_unpack_any(struct panel *p, const struct panel_rows *rows, uint32_t type, size_t first, size_t n, uint8_t flip);

/* The panel, which has n blocks from number first on, times one to PANEL_TOKENS tokens; out has what came before. */
enum { PANEL_TOKENS = 3 };
typedef void panel_tile_fn(float *out, const struct panel *p, const struct act *a, size_t token, size_t first, size_t n);
/* The same for the panel's first count rows and all tokens, by tiles of one, two and three tokens. */
void panel_mul(const struct panel *p, const struct act *a, float *y, size_t stride, size_t count, size_t first, size_t n,
	       panel_tile_fn *const tiles[PANEL_TOKENS]);
#endif
