/* SPDX-License-Identifier: MIT */
/*
 * Attention over a cache of BFloat16 by products of pairs; included by attend_body.h where the ISA has them. A few
 * queries at a time go through a whole group: scores, weights, values. What they need of it is in the first cache then.
 * The file for the ISA defines, behind vec_body.h:
 *
 *	PAIR_PRODUCTS
 *	pairs_add(sum, a, b)            sum + a * b for the first of each pair, then for the second
 *	load_pairs(p), splat_pair(p)    LANES pairs; one pair in all lanes
 *	put_weights(float *s, vf *p)    a group's weights as pairs
 *	round_query(uint32_t *q, x, n)  a query's values as pairs, zeros at the end
 */

/* Queries whose sums for four registers of positions or dimensions find room in the registers. */
enum { PAIR_ROWS = 6, PAIR_WIDE = 4 };

/* A tile on its way. */
struct pairs {
	const struct attend_tile *t;
	const uint32_t *q; /* rows of so many pairs */
	size_t q_len, stride;
	float *acc;
	struct softmax_row m[ATTEND_ROWS];
};

/*
 * Scores of n queries from r0 on with all positions of a group, each a sum over pairs of dimensions in order. Where they
 * are the tile's only ones, what follows is called in beside.
 */
INLINE void pair_scores(const struct pairs *p, const struct group *g, size_t r0, int n, bool alone, float (*s)[GROUP])
{
	const uint32_t *q = p->q + r0 * p->q_len;
	vf sum[PAIR_ROWS][PAIR_WIDE] = { { { 0 } } };

	for (size_t i = 0; i < (p->t->key_len + 1) / 2; i++) {
		vf k[PAIR_WIDE];

		if (alone) {
			call_in(g, 2 * i);
			call_in(g, 2 * i + 1);
		}
UNROLL
		for (int v = 0; v < PAIR_WIDE; v++)
			k[v] = load_pairs(g->keys + (size_t)v * g->block + i * 64);
UNROLL
		for (int r = 0; r < n; r++) {
			vf x = splat_pair(q + (size_t)r * p->q_len + i);

UNROLL
			for (int v = 0; v < PAIR_WIDE; v++)
				sum[r][v] = pairs_add(sum[r][v], k[v], x);
		}
	}
UNROLL
	for (int r = 0; r < n; r++)
UNROLL
		for (int v = 0; v < PAIR_WIDE; v++)
			store(s[r] + v * LANES, sum[r][v]);
}

/* acc += what the weights of n queries make of the dimensions of wide registers, over pairs of positions in order. */
INLINE void pair_values(float *acc, size_t stride, const struct group *g, size_t at, int wide, float (*s)[GROUP], int n,
			int count)
{
	const char *values = g->values + at * 4;
	vf sum[PAIR_ROWS][PAIR_WIDE];

UNROLL
	for (int r = 0; r < n; r++)
UNROLL
		for (int k = 0; k < wide; k++)
			sum[r][k] = load(acc + (size_t)r * stride + at + k * LANES);
	for (int j = 0; j < count / 2; j++, values += 2 * g->stride) {
		vf v[PAIR_WIDE];

UNROLL
		for (int k = 0; k < wide; k++)
			v[k] = load_pairs(values + k * 64);
UNROLL
		for (int r = 0; r < n; r++) {
			vf x = splat_pair((const uint32_t *)s[r] + j);

UNROLL
			for (int k = 0; k < wide; k++)
				sum[r][k] = pairs_add(sum[r][k], v[k], x);
		}
	}
UNROLL
	for (int r = 0; r < n; r++)
UNROLL
		for (int k = 0; k < wide; k++)
			store(acc + (size_t)r * stride + at + k * LANES, sum[r][k]);
}

/* n queries from r0 on through a group. Those before the group's first one see nothing of it. */
INLINE void pair_block(struct pairs *p, const struct group *g, size_t r0, int n, bool alone)
{
	float s[PAIR_ROWS][GROUP], *acc = p->acc + r0 * p->stride;
	int count = seen_of(p->t, g, r0, n);
	size_t at = 0;

	pair_scores(p, g, r0, n, alone, s);
	for (int r = 0; r < n; r++)
		if (r0 + (size_t)r >= g->row)
			weigh(p->t, CACHE_BF16, r0 + (size_t)r, g->first, s[r], &p->m[r0 + (size_t)r],
			      acc + (size_t)r * p->stride, p->stride);
		else
			memset(s[r], 0, sizeof(s[r]));
	for (; at + PAIR_WIDE * LANES <= p->stride; at += PAIR_WIDE * LANES)
		pair_values(acc, p->stride, g, at, PAIR_WIDE, s, n, count);
	if (at < p->stride)
		pair_values(acc, p->stride, g, at, 2, s, n, count);
}

static void few_pairs(struct pairs *p, const struct group *g, size_t r0, size_t n)
{
	switch (n) {
	case 1:
		pair_block(p, g, r0, 1, p->t->rows == 1);
		return;
	case 2:
		pair_block(p, g, r0, 2, p->t->rows == 2);
		return;
	case 3:
		pair_block(p, g, r0, 3, p->t->rows == 3);
		return;
	case 4:
		pair_block(p, g, r0, 4, p->t->rows == 4);
		return;
	default:
		pair_block(p, g, r0, 5, p->t->rows == 5);
	}
}

/* A part of the group that follows is called into the second cache. */
INLINE void call_part(const struct group *g, size_t part, size_t parts)
{
	size_t keys = (size_t)(g->next_keys - g->keys), values = (size_t)(g->next_values - g->values);

	for (size_t at = keys * part / parts; at < keys * (part + 1) / parts; at += 64)
		__builtin_prefetch(g->next_keys + at, 0, 2);
	for (size_t at = values * part / parts; at < values * (part + 1) / parts; at += 64)
		__builtin_prefetch(g->next_values + at, 0, 2);
}

static void pair_group(struct pairs *p, const struct group *g)
{
	size_t r = g->row / PAIR_ROWS * PAIR_ROWS, parts = (g->end - r + PAIR_ROWS - 1) / PAIR_ROWS, part = 0;

	for (; r + PAIR_ROWS <= g->end; r += PAIR_ROWS, part++) {
		call_part(g, part, parts);
		pair_block(p, g, r, PAIR_ROWS, false);
	}
	if (r == g->end)
		return;
	if (part)
		call_part(g, part, parts);
	few_pairs(p, g, r, g->end - r);
}

static void attend_pairs(const struct attend_tile *t)
{
	struct pairs p = {
		.t = t, .q = (const uint32_t *)queries_of(t), .q_len = attend_query(t->key_len) / 2,
		.stride = attend_stride(t->value_len), .acc = sums_of(t),
	};
	const struct span all = begin_rows(t, p.m, p.acc, p.stride);

	for (size_t r = 0; r < t->rows; r++)
		round_query((uint32_t *)queries_of(t) + r * p.q_len, t->q[r], t->key_len);
	for (uint32_t first = all.from / GROUP * GROUP; first < all.to; first += GROUP) {
		struct group g = group_at(t, first, all.to);

		pair_group(&p, &g);
	}
	for (size_t r = 0; r < t->rows; r++)
		finish(t, r, &p.m[r], p.acc + r * p.stride);
}
