/* SPDX-License-Identifier: MIT */
/*
 * Attention over a cache of integers (CACHE_I16) by products of pairs; included by attend_body.h. A few queries at
 * a time go through a whole group: scores, weights, values. What they need of it is in the first cache then.
 *
 * A query becomes integers like a key. A group's softmax weights, each multiplied with its value's unit, do, too,
 * with a unit for each query: as large as their sum allows (INT16_WEIGHTS), so that a group of little weight has as
 * many bits as another. Sums of integers are exact within a group, in whatever order; floats are added group by
 * group.
 *
 * The file for the ISA defines, behind vec_body.h:
 *
 *	PAIR_WIDE                registers of positions or dimensions whose sums for PAIR_ROWS queries find room
 *	PAIR_PRODUCTS            where there is an instruction for them, and then
 *	pairs_add(sum, a, b)     sum + the two products of each of LANES pairs
 */

/* Queries that are taken at once. */
enum { PAIR_ROWS = 6 };

/* A tile on its way. */
struct pairs {
	const struct attend_tile *t;
	const int16_t *q; /* rows of so many */
	size_t q_len, stride;
	size_t ahead_keys, ahead_values; /* bytes that are called in at a step of values and of scores */
	float *acc, unit[ATTEND_ROWS]; /* of the queries */
	struct softmax_row m[ATTEND_ROWS];
};

#ifndef PAIR_PRODUCTS
/* Unsigned: numbers that are no longer meant (of NaN) may be too large. */
INLINE vi pairs_add(vi sum, vi a, vi b)
{
	vu first = (vu)(a << 16 >> 16) * (vu)(b << 16 >> 16), second = (vu)(a >> 16) * (vu)(b >> 16);

	return (vi)((vu)sum + first + second);
}
#endif

INLINE vi load_pairs(const char *p)
{
	vi v;

	memcpy(&v, p, sizeof(v));
	return v;
}

INLINE vi splat_pair(const int16_t *p)
{
	int32_t pair;

	memcpy(&pair, p, sizeof(pair));
	return pair - (vi){ 0 };
}

INLINE vf floats_v(vi v)
{
	return __builtin_convertvector(v, vf);
}

/* Part v of a group's keys, pair i of dimensions. */
INLINE vi key_pairs(const struct group *g, size_t i, int v)
{
	size_t block = (size_t)(v * LANES / CACHE_BLOCK), lane = (size_t)(v * LANES % CACHE_BLOCK);

	return load_pairs(g->keys + block * g->block + (i * CACHE_BLOCK + lane) * 4);
}

/*
 * Scores of n queries from r0 on with PAIR_WIDE parts of a group from first on. Where they are the tile's only
 * ones, the group's values are called in beside, and pair_values calls in the next group's keys: half a group
 * ahead.
 */
INLINE void pair_scores(const struct pairs *p, const struct group *g, size_t r0, int n, int first, bool alone,
			float (*s)[GROUP])
{
	const int16_t *q = p->q + r0 * p->q_len;
	size_t pairs = (p->t->kv->key_len + 1) / 2;
	vi sum[PAIR_ROWS][PAIR_WIDE] = { { { 0 } } };

	for (size_t i = 0; i < pairs; i++) {
		vi k[PAIR_WIDE];

		if (alone)
			call_bytes(g->values, p->ahead_values, (size_t)(first / PAIR_WIDE) * pairs + i);
UNROLL
		for (int v = 0; v < PAIR_WIDE; v++)
			k[v] = key_pairs(g, i, first + v);
UNROLL
		for (int r = 0; r < n; r++) {
			vi x = splat_pair(q + (size_t)r * p->q_len + 2 * i);

UNROLL
			for (int v = 0; v < PAIR_WIDE; v++)
				sum[r][v] = pairs_add(sum[r][v], k[v], x);
		}
	}
UNROLL
	for (int v = 0; v < PAIR_WIDE; v++) {
		vf unit = load(g->units + (first + v) * LANES);

UNROLL
		for (int r = 0; r < n; r++)
			store(s[r] + (first + v) * LANES, floats_v(sum[r][v]) * (unit * splat(p->unit[r0 + (size_t)r])));
	}
}

/* What the weights of n queries, w in units of unit, make of the dimensions of wide registers is added to acc. */
INLINE void pair_values(const struct pairs *p, const struct group *g, float *acc, size_t at, int wide,
			int16_t (*w)[GROUP], const float *unit, int n, int count, bool alone)
{
	const char *values = g->values + at * 4;
	vi sum[PAIR_ROWS][PAIR_WIDE] = { { { 0 } } };

	for (int j = 0; j < (count + 1) / 2; j++, values += 2 * g->stride) {
		vi v[PAIR_WIDE];

		if (alone)
			call_bytes(g->next_keys, p->ahead_keys, at / (PAIR_WIDE * LANES) * (GROUP / 2) + (size_t)j);
UNROLL
		for (int k = 0; k < wide; k++)
			v[k] = load_pairs(values + k * LANES * 4);
UNROLL
		for (int r = 0; r < n; r++) {
			vi x = splat_pair(w[r] + 2 * j);

UNROLL
			for (int k = 0; k < wide; k++)
				sum[r][k] = pairs_add(sum[r][k], v[k], x);
		}
	}
UNROLL
	for (int r = 0; r < n; r++)
UNROLL
		for (int k = 0; k < wide; k++) {
			float *to = acc + (size_t)r * p->stride + at + k * LANES;

			store(to, fma_v(floats_v(sum[r][k]), splat(unit[r]), load(to)));
		}
}

/* Weights that were multiplied with their values' units become integers. Returns what they are in units of. */
INLINE float put_weights(int16_t *w, const vf *x)
{
	vf sum[PARTS] = { { 0 } }, most = { 0 }, per;
	float unit, top;

UNROLL
	for (int v = 0; v < GROUP_PARTS; v++) {
		sum[v % PARTS] = sum[v % PARTS] + x[v];
		most = max_v(x[v], most);
	}
	unit = sum_parts(sum) * (1.0f / INT16_WEIGHTS);
	top = max_lane(most) * (1.0f / INT16_MOST);
	if (top > unit)
		unit = top;
	per = splat(unit > 1e-35f ? 1 / unit : 0);
UNROLL
	for (int v = 0; v < GROUP_PARTS; v++) {
		vs some = __builtin_convertvector(whole_v(x[v], per), vs);

		memcpy(w + v * LANES, &some, sizeof(some));
	}
	return unit;
}

/* weigh, and the weights become integers w. Returns their unit. */
INLINE float weigh_pairs(const struct pairs *p, const struct group *g, size_t r, float *s, struct softmax_row *m,
			 float *acc, int16_t *w)
{
	bool whole = settle_scores(p->t, r, g->first, s, m, acc, p->stride);
	vf x[GROUP_PARTS];

UNROLL
	for (int v = 0; v < GROUP_PARTS; v++) {
		vf one = exp_below(load(s + v * LANES) - splat(m->most));

		x[v] = one * load(g->units + GROUP + v * LANES);
		if (!whole) {
			vi sees = seen(p->t, r, g->first + (uint32_t)(v * LANES));

			one = pick(sees, one, splat(0));
			x[v] = pick(sees, x[v], splat(0));
		}
		m->sum[v % PARTS] = m->sum[v % PARTS] + one;
	}
	return put_weights(w, x);
}

/* n queries from r0 on through a group. Those before the group's first one see nothing of it. */
INLINE void pair_block(struct pairs *p, const struct group *g, size_t r0, int n, bool alone)
{
	enum { STEP = PAIR_WIDE * LANES, REST = STEP > 32 ? 32 / LANES : 0 };
	float s[PAIR_ROWS][GROUP], unit[PAIR_ROWS] = { 0 }, *acc = p->acc + r0 * p->stride;
	int16_t w[PAIR_ROWS][GROUP];
	int count = seen_of(p->t, g, r0, n);
	size_t at = 0;

	for (int v = 0; v < GROUP_PARTS; v += PAIR_WIDE)
		pair_scores(p, g, r0, n, v, alone, s);
	for (int r = 0; r < n; r++)
		if (r0 + (size_t)r >= g->row)
			unit[r] = weigh_pairs(p, g, r0 + (size_t)r, s[r], &p->m[r0 + (size_t)r],
					      acc + (size_t)r * p->stride, w[r]);
		else
			memset(w[r], 0, sizeof(w[r]));
	for (; at + STEP <= p->stride; at += STEP)
		pair_values(p, g, acc, at, PAIR_WIDE, w, unit, n, count, alone);
	if (REST > 0 && at < p->stride)
		pair_values(p, g, acc, at, REST, w, unit, n, count, alone);
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
	size_t keys = GROUP / CACHE_BLOCK * g->block, values = GROUP * g->stride;

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

/* The queries as integers, zeros behind them. */
INLINE void take_queries(struct pairs *p, int16_t *q)
{
	const struct attend_tile *t = p->t;

	p->q = q;
	for (size_t r = 0; r < t->rows; r++, q += p->q_len) {
		p->unit[r] = VEC(int16_unit)(t->q[r], t->kv->key_len, INT16_FACTOR);
		VEC(to_int16)(q, t->q[r], t->kv->key_len, p->unit[r]);
		memset(q + t->kv->key_len, 0, (p->q_len - t->kv->key_len) * sizeof(*q));
	}
}

static void attend_pairs(const struct attend_tile *t)
{
	struct pairs p = {
		.t = t, .q_len = attend_query(t->kv->key_len), .stride = attend_stride(t->kv->value_len), .acc = sums_of(t),
	};
	const struct span all = begin_rows(t, p.m, p.acc, p.stride);
	size_t score_steps = (t->kv->key_len + 1) / 2 * GROUP_PARTS / PAIR_WIDE;
	size_t value_steps = (p.stride + PAIR_WIDE * LANES - 1) / (PAIR_WIDE * LANES) * GROUP / 2;

	p.ahead_values = GROUP * t->kv->value_row / score_steps;
	p.ahead_keys = t->kv->values / value_steps;
	take_queries(&p, (int16_t *)queries_of(t));
	for (uint32_t first = all.from / GROUP * GROUP; first < all.to; first += GROUP) {
		struct group g = group_at(t, first, all.to);

		pair_group(&p, &g);
	}
	for (size_t r = 0; r < t->rows; r++)
		finish(t, r, &p.m[r], p.acc + r * p.stride);
}
