/* SPDX-License-Identifier: MIT */
#include "panel.h"
#include <string.h>

static void put_block(struct panel *p, size_t b, size_t r, const struct block *w, uint8_t flip)
{
	for (int k = 0; k < 32; k++)
		p->q[b][k / 4][r][k % 4] = (uint8_t)w->q[k] ^ flip;
	p->d[b][r] = w->d;
	p->m[b][r] = w->m;
	for (int i = 0; i < 2; i++) {
		p->s[b][i][r] = w->s[i];
		p->o[b][i][r] = w->o[i];
	}
}

void panel_unpack_any(struct panel *p, const struct panel_rows *rows, uint32_t type, size_t first, size_t n, uint8_t flip)
{
	size_t parts = gguf_type_values(type) / 32, bytes = gguf_type_bytes(type);
	struct block w = { 0 };

	for (size_t b = 0; b < n; b++)
		for (size_t r = 0; r < PANEL_ROWS; r++) {
			const uint8_t *row = rows->base + rows->at[r];

			block_types[type].get(&w, row + (first + b) / parts * bytes, (unsigned)((first + b) % parts));
			put_block(p, b, r, &w, flip);
		}
}

struct panel_rows panel_rows_at(const struct mat *w, size_t row, size_t to, size_t ahead)
{
	struct panel_rows rows = { .base = (const uint8_t *)w->data + row * w->row_bytes, .count = to - row };

	rows.count = rows.count < PANEL_ROWS ? rows.count : PANEL_ROWS;
	for (size_t r = 0; r < PANEL_ROWS; r++)
		rows.at[r] = (r < rows.count ? r : rows.count - 1) * w->row_bytes;
	if (row + ahead + PANEL_ROWS <= w->out)
		rows.next = rows.base + ahead * w->row_bytes;
	return rows;
}

/* The tokens from number token on that one tile takes: all of one tile of the activations. */
static size_t tile_tokens(const struct act *a, size_t token)
{
	size_t first = token / a->tile * a->tile, left = first + act_tile_tokens(a, first) - token;

	return left < PANEL_TOKENS ? left : PANEL_TOKENS;
}

void panel_mul(const struct panel *p, const struct act *a, float *y, size_t stride, size_t count, size_t first, size_t n,
	       panel_tile_fn *const tiles[PANEL_TOKENS])
{
	for (size_t token = 0, tokens; token < a->tokens; token += tokens) {
		float out[PANEL_TOKENS * PANEL_ROWS] = { 0 };

		tokens = tile_tokens(a, token);
		for (size_t t = 0; t < tokens && first; t++)
			memcpy(out + t * PANEL_ROWS, y + (token + t) * stride, count * sizeof *y);
		tiles[tokens - 1](out, p, a, token, first, n);
		for (size_t t = 0; t < tokens; t++)
			memcpy(y + (token + t) * stride, out + t * PANEL_ROWS, count * sizeof *y);
	}
}
