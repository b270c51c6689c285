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
