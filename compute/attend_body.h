/* SPDX-License-Identifier: MIT */
/*
 * Attention of struct vec; follows vec_body.h. The cache is gone through once, a group of positions at a time: scores
 * of all queries of the tile, their weights (struct softmax_row says relative to what), what the weights make of the
 * values. A group starts at a multiple of its size and a sum goes over positions in order, so that the result is the
 * same whatever else is in the tile.
 *
 * Over a cache of integers queries and weights become integers, too: attend_pairs.h.
 */

/* Positions that are taken at once. */
enum { GROUP = CACHE_GROUP, GROUP_PARTS = GROUP / LANES };

#include "attend_read.h"

/*
 * A group of positions on its way: keys and values as cached, or as floats. Queries row .. end-1 of the tile see
 * something of it. While it is computed the one that follows is called in, steps of so many bytes at a time.
 */
struct group {
	const char *keys, *values;
	const float *units;        /* of keys, and then of values: CACHE_I16 */
	size_t block, stride;      /* bytes of a block of keys, of a position's value */
	uint32_t first;
	int count, parts;          /* positions that are in use, and parts of LANES of these, even */
	size_t row, end;
	const char *next_keys, *next_values;
	size_t step_keys, step_values;
};

INLINE void call_bytes(const char *from, size_t each, size_t step)
{
	for (size_t at = 0; at < each; at += 64)
		__builtin_prefetch(from + step * each + at);
}

INLINE void call_in(const struct group *g, size_t step)
{
	call_bytes(g->next_keys, g->step_keys, step);
	call_bytes(g->next_values, g->step_values, step);
}

/* Scores of n queries from r0 on with parts v and v + 1 of a group, each a sum over the dimensions in order. */
INLINE void scores(const struct attend_tile *t, const struct group *g, enum cache_type type, size_t r0, int n, int v,
		   float (*s)[GROUP])
{
	vf sum[8][2] = { { { 0 } } };

	for (size_t i = 0; i < t->kv->key_len; i++) {
		vf a = key_v(type, g->keys, g->block, i, v), b = key_v(type, g->keys, g->block, i, v + 1);

		if (type != CACHE_F32)
			call_in(g, (size_t)v / 2 * t->kv->key_len + i);
UNROLL
		for (int r = 0; r < n; r++) {
			vf q = splat(t->q[r0 + (size_t)r][i]);

			sum[r][0] = fma_v(q, a, sum[r][0]);
			sum[r][1] = fma_v(q, b, sum[r][1]);
		}
	}
UNROLL
	for (int r = 0; r < n; r++) {
		store(s[r0 + (size_t)r] + v * LANES, sum[r][0]);
		store(s[r0 + (size_t)r] + v * LANES + LANES, sum[r][1]);
	}
}

/* How many of a group's positions, from first on, are before to. */
INLINE int count_of(uint32_t first, uint32_t to)
{
	return to - first < GROUP ? (int)(to - first) : GROUP;
}

/* Positions of the group that any of the n queries from r0 on sees: later queries see no less. */
INLINE int seen_of(const struct attend_tile *t, const struct group *g, size_t r0, int n)
{
	return count_of(g->first, t->to[r0 + (size_t)n - 1]);
}

INLINE void scores_for(const struct attend_tile *t, const struct group *g, size_t r0, int n, int v, float (*s)[GROUP])
{
	if (v * LANES < seen_of(t, g, r0, n))
		scores(t, g, CACHE_F32, r0, n, v, s);
}

static void VEC(all_scores)(const struct attend_tile *t, const struct group *g, float (*s)[GROUP])
{
	for (int v = 0; v < g->parts; v += 2) {
		size_t r = g->row;

		for (; r + FUSED_ROWS <= g->end; r += FUSED_ROWS)
			scores_for(t, g, r, FUSED_ROWS, v, s);
		for (; r + 4 <= g->end; r += 4)
			scores_for(t, g, r, 4, v, s);
		for (; r + 2 <= g->end; r += 2)
			scores_for(t, g, r, 2, v, s);
		for (; r < g->end; r++)
			scores_for(t, g, r, 1, v, s);
	}
}

INLINE void unpack_keys(const struct attend_tile *t, const struct group *g, enum cache_type type, float *room)
{
	for (int v = 0; v < g->parts; v += 2)
		for (size_t i = 0; i < t->kv->key_len; i++) {
			call_in(g, (size_t)v / 2 * t->kv->key_len + i);
UNROLL
			for (int k = v; k < v + 2; k++) {
				size_t block = (size_t)(k * LANES / CACHE_BLOCK) * t->kv->key_len;
				size_t lane = (size_t)(k * LANES % CACHE_BLOCK);

				store(room + (block + i) * CACHE_BLOCK + lane, key_v(type, g->keys, g->block, i, k));
			}
		}
}

INLINE void unpack_values(const struct attend_tile *t, const struct group *g, enum cache_type type, float *room,
			  size_t stride)
{
	for (int j = 0; j < g->count; j++)
		for (size_t at = 0; at < t->kv->value_len; at += LANES)
			store(room + (size_t)j * stride + at, value_v(type, g->values, g->stride, j, at));
}

/*
 * acc += p[j] * v[j], the first count positions in order, for n queries and the dimensions of wide registers. n, type
 * and wide are constants where it is inlined.
 */
INLINE void gather(float *acc, size_t stride, const struct group *g, enum cache_type type, size_t at, int wide,
		   float (*p)[GROUP], int n, int count)
{
	vf sum[8][4];

UNROLL
	for (int r = 0; r < n; r++)
UNROLL
		for (int k = 0; k < wide; k++)
			sum[r][k] = load(acc + (size_t)r * stride + at + k * LANES);
	for (int j = 0; j < count; j++) {
		vf v[4];

UNROLL
		for (int k = 0; k < wide; k++)
			v[k] = value_v(type, g->values, g->stride, j, at + (size_t)k * LANES);
UNROLL
		for (int r = 0; r < n; r++) {
			vf w = splat(p[r][j]);

UNROLL
			for (int k = 0; k < wide; k++)
				sum[r][k] = fma_v(w, v[k], sum[r][k]);
		}
	}
UNROLL
	for (int r = 0; r < n; r++)
UNROLL
		for (int k = 0; k < wide; k++)
			store(acc + (size_t)r * stride + at + k * LANES, sum[r][k]);
}

INLINE void gather_for(const struct attend_tile *t, const struct group *g, float *acc, size_t stride, size_t at,
		       size_t r0, int n, float (*p)[GROUP])
{
	gather(acc + r0 * stride, stride, g, CACHE_F32, at, 2, p + r0, n, seen_of(t, g, r0, n));
}

static void VEC(all_values)(const struct attend_tile *t, const struct group *g, float *acc, size_t stride,
			    float (*p)[GROUP])
{
	for (size_t at = 0; at < stride; at += 2 * LANES) {
		size_t r = g->row;

		for (; r + FUSED_ROWS <= g->end; r += FUSED_ROWS)
			gather_for(t, g, acc, stride, at, r, FUSED_ROWS, p);
		for (; r + 4 <= g->end; r += 4)
			gather_for(t, g, acc, stride, at, r, 4, p);
		for (; r + 2 <= g->end; r += 2)
			gather_for(t, g, acc, stride, at, r, 2, p);
		for (; r < g->end; r++)
			gather_for(t, g, acc, stride, at, r, 1, p);
	}
}

/*
 * Weights are exp(score - most), where most need not be the greatest score: it follows where one is more than SLACK
 * above it, which after a few groups hardly ever happens.
 */
enum { SLACK = 8 };
struct softmax_row {
	float most;
	vf sum[PARTS];
};

INLINE vf most_of(const float *s)
{
	vf most = load(s);

UNROLL
	for (int v = 1; v < GROUP_PARTS; v++)
		most = max_v(load(s + v * LANES), most);
	return most;
}

/* What of LANES positions from first on a query may see. */
INLINE vi seen(const struct attend_tile *t, size_t r, uint32_t first)
{
	vi at;

	for (int i = 0; i < LANES; i++)
		at[i] = (int32_t)first + i;
	return (at >= (int32_t)t->from[r]) & (at < (int32_t)t->to[r]);
}

/* Scores that a query may not see become the least. */
INLINE void mask(const struct attend_tile *t, size_t r, uint32_t first, float *s)
{
	for (int v = 0; v < GROUP; v += LANES)
		store(s + v, pick(seen(t, r, first + (uint32_t)v), load(s + v), splat(-INFINITY)));
}

INLINE void shrink(struct softmax_row *m, float most, float *acc, size_t stride)
{
	vf by = exp_v(splat(m->most - most));

UNROLL
	for (int k = 0; k < PARTS; k++)
		m->sum[k] = m->sum[k] * by;
	for (size_t i = 0; i < stride; i += LANES)
		store(acc + i, load(acc + i) * by);
	m->most = most;
}

/* exp(x) for x not above SLACK, to 18 bits: a weight that is to be rounded to 15 needs no more. Never 0. */
INLINE vf exp_below(vf x)
{
	const vf magic = splat(0x1.8p23f);
	vf y = max_v(splat(-64), x), t = fma_v(y, splat(0x1.715476p0f), magic);
	vf f = fma_v(y, splat(0x1.715476p0f), magic - t), p = fma_v(f, splat(0x1.3a02ccp-7f), splat(0x1.c9fc46p-5f));

	p = fma_v(p, f, splat(0x1.ec0378p-3f));
	p = fma_v(p, f, splat(0x1.62e12cp-1f));
	p = fma_v(p, f, splat(1));
	return (vf)((vu)p + ((vu)t << 23));
}

/*
 * Scores of a group that a query may not see become the least, and what weights are relative to follows one that is
 * far above it. Returns whether the query sees the whole group.
 */
INLINE bool settle_scores(const struct attend_tile *t, size_t r, uint32_t first, float *s, struct softmax_row *m,
			  float *acc, size_t stride)
{
	bool whole = first >= t->from[r] && first + GROUP <= t->to[r];
	vf most;

	if (t->cap != 0)
		VEC(soft_cap)(s, t->cap, GROUP);
	if (!whole)
		mask(t, r, first, s);
	most = most_of(s);
	if (is_above(most, m->most + SLACK))
		shrink(m, max_lane(most), acc, stride);
	return whole;
}

/* Turns the scores of a group into weights. */
INLINE void weigh(const struct attend_tile *t, size_t r, uint32_t first, float *s, struct softmax_row *m, float *acc,
		  size_t stride)
{
	bool whole = settle_scores(t, r, first, s, m, acc, stride);

UNROLL
	for (int v = 0; v < GROUP_PARTS; v++) {
		vf p = exp_v(load(s + v * LANES) - splat(m->most));

		if (!whole)
			p = pick(seen(t, r, first + (uint32_t)(v * LANES)), p, splat(0));
		m->sum[v % PARTS] = m->sum[v % PARTS] + p;
		store(s + v * LANES, p);
	}
}

/* Divides by the sum of the weights; the sink has one too. */
INLINE void finish(const struct attend_tile *t, size_t r, const struct softmax_row *m, const float *acc)
{
	float sum = sum_parts(m->sum), scale = 1;

	if (t->sink[r]) {
		float most = *t->sink[r] > m->most ? *t->sink[r] : m->most;
		vf shrunk = exp_v(splat(m->most - most)), sink = exp_v(splat(*t->sink[r] - most));

		scale = shrunk[0];
		sum = sum * scale + sink[0];
	}
	scale = scale / sum;
	for (size_t i = 0; i < t->kv->value_len; i += LANES) {
		size_t some = t->kv->value_len - i < LANES ? t->kv->value_len - i : LANES;

		store_some(t->out[r] + i, load(acc + i) * splat(scale), some);
	}
}

/* The queries that see something of a group. */
INLINE void find_rows(const struct attend_tile *t, struct group *g)
{
	g->end = t->rows;
	while (g->row < g->end && (t->to[g->row] <= g->first || t->from[g->row] >= g->first + GROUP))
		g->row++;
	while (g->row < g->end && (t->to[g->end - 1] <= g->first || t->from[g->end - 1] >= g->first + GROUP))
		g->end--;
}

/* The group from first on, of positions before to. */
INLINE struct group group_at(const struct attend_tile *t, uint32_t first, uint32_t to)
{
	const struct kv *c = t->kv;
	size_t steps = c->key_len * GROUP_PARTS / 2;
	const char *at = t->head + kv_group(c, first);
	struct group g = {
		.keys = at, .values = at + c->values, .units = (const float *)(at + c->units),
		.block = c->key_block, .stride = c->value_row, .first = first, .count = count_of(first, to),
		.next_keys = at + c->group, .next_values = at + c->group + c->values,
		.step_keys = c->values / steps, .step_values = GROUP * c->value_row / steps,
	};

	g.parts = (g.count + 2 * LANES - 1) / (2 * LANES) * 2;
	find_rows(t, &g);
	return g;
}

INLINE void weigh_all(const struct attend_tile *t, const struct group *g, float *acc, size_t stride,
		      struct softmax_row *m, float (*s)[GROUP])
{
	for (size_t r = g->row; r < g->end; r++)
		weigh(t, r, g->first, s[r], &m[r], acc + r * stride, stride);
}

/* n queries, one or two, as a token alone has them: halves are read as they lie. */
INLINE void few_rows(const struct attend_tile *t, const struct group *g, float *acc, size_t stride,
		     struct softmax_row *m, float (*s)[GROUP], int n)
{
	for (int v = 0; v < g->parts; v += 2)
		scores(t, g, CACHE_F16, 0, n, v, s);
	weigh_all(t, g, acc, stride, m, s);
	for (size_t at = 0; at < stride; at += 4 * LANES)
		gather(acc, stride, g, CACHE_F16, at, 4, s, n, g->count);
}

INLINE bool takes_few(const struct attend_tile *t)
{
	const struct kv *c = t->kv;

	return t->rows <= 2 && c->k_type == CACHE_F16 && c->v_type == CACHE_F16 && c->value_len % (4 * LANES) == 0;
}

/* Many queries: the group is made floats once, in room, keys first and then values. */
INLINE void many_rows(const struct attend_tile *t, const struct group *g, float *acc, size_t stride,
		      struct softmax_row *m, float (*s)[GROUP], float *room)
{
	struct group plain = *g;

	if (t->kv->k_type != CACHE_F32) {
		if (t->kv->k_type == CACHE_F16)
			unpack_keys(t, g, CACHE_F16, room);
		else
			unpack_keys(t, g, CACHE_Q8_0, room);
		plain.keys = (const char *)room;
		plain.block = t->kv->key_len * CACHE_BLOCK * sizeof(float);
	}
	VEC(all_scores)(t, &plain, s);
	weigh_all(t, g, acc, stride, m, s);
	if (t->kv->v_type != CACHE_F32 || t->kv->value_len % 32) {
		if (t->kv->v_type == CACHE_F32)
			unpack_values(t, g, CACHE_F32, room, stride);
		else if (t->kv->v_type == CACHE_F16)
			unpack_values(t, g, CACHE_F16, room, stride);
		else
			unpack_values(t, g, CACHE_Q8_0, room, stride);
		plain.values = (const char *)room;
		plain.stride = stride * sizeof(float);
	}
	VEC(all_values)(t, &plain, acc, stride, s);
}

INLINE void one_group(const struct attend_tile *t, const struct group *g, float *acc, size_t stride,
		      struct softmax_row *m, float (*s)[GROUP], float *room)
{
	int few = takes_few(t) && g->end - g->row == t->rows ? (int)t->rows : 0;

	if (few == 2)
		few_rows(t, g, acc, stride, m, s, 2);
	else if (few == 1)
		few_rows(t, g, acc, stride, m, s, 1);
	else
		many_rows(t, g, acc, stride, m, s, room);
}

/* Positions that any query of the tile sees. */
struct span { uint32_t from, to; };

INLINE struct span begin_rows(const struct attend_tile *t, struct softmax_row *m, float *acc, size_t stride)
{
	struct span s = { UINT32_MAX, 0 };

	memset(acc, 0, t->rows * stride * sizeof(*acc));
	for (size_t r = 0; r < t->rows; r++) {
		m[r] = (struct softmax_row){ .most = -INFINITY };
		s.from = t->from[r] < s.from ? t->from[r] : s.from;
		s.to = t->to[r] > s.to ? t->to[r] : s.to;
	}
	return s;
}

/* The parts of a tile's scratch: sums of the values, a group as floats, queries as integers. */
INLINE float *sums_of(const struct attend_tile *t)
{
	return t->scratch;
}

INLINE float *room_of(const struct attend_tile *t)
{
	return sums_of(t) + ATTEND_ROWS * attend_stride(t->kv->value_len);
}

INLINE float *queries_of(const struct attend_tile *t)
{
	return room_of(t) + attend_room(t->kv->key_len, t->kv->value_len);
}

INLINE void attend_groups(const struct attend_tile *t)
{
	size_t stride = attend_stride(t->kv->value_len);
	float *acc = sums_of(t), s[ATTEND_ROWS][GROUP];
	struct softmax_row m[ATTEND_ROWS];
	const struct span all = begin_rows(t, m, acc, stride);

	for (uint32_t first = all.from / GROUP * GROUP; first < all.to; first += GROUP) {
		struct group g = group_at(t, first, all.to);

		one_group(t, &g, acc, stride, m, s, room_of(t));
	}
	for (size_t r = 0; r < t->rows; r++)
		finish(t, r, &m[r], acc + r * stride);
}

#include "attend_pairs.h"

static void VEC(attend)(const struct attend_tile *t)
{
	if (t->kv->k_type == CACHE_I16)
		attend_pairs(t);
	else
		attend_groups(t);
}
