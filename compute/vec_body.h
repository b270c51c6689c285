/* SPDX-License-Identifier: MIT */
/*
 * The functions of struct vec. Included between KERNEL_BEGIN and KERNEL_END by a file that defines, for its ISA:
 *
 *	VEC(name)                 the name of a function there (vec_type.h has the types)
 *	fma16(a, b, c)            a * b + c, rounded once
 *	half16(const uint16_t *)  16 halves as floats
 *	put_half16(uint16_t *, v) the other way, rounded to even
 *	FUSED_ROWS                queries that the registers have room for at once
 *
 * Built without contraction of floating-point expressions: what is not fma16 is rounded after each operation.
 */

INLINE v16 load16(const float *p)
{
	v16 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

INLINE void store16(float *p, v16 v)
{
	memcpy(p, &v, sizeof(v));
}

/* The first n values (less than 16), zeros after them. */
INLINE v16 load_some(const float *p, size_t n)
{
	v16 v = { 0 };

	memcpy(&v, p, n * sizeof(float));
	return v;
}

INLINE void store_some(float *p, v16 v, size_t n)
{
	memcpy(p, &v, n * sizeof(float));
}

INLINE v16 splat(float x)
{
	return x - (v16){ 0 };
}

INLINE v16 pick(i16 mask, v16 a, v16 b)
{
	return (v16)((mask & (i16)a) | (~mask & (i16)b));
}

INLINE v16 most16(v16 a, v16 b)
{
	return pick(a > b, a, b);
}

INLINE float sum_lanes(v16 v)
{
	float a[16];

	store16(a, v);
	for (int half = 8; half; half /= 2)
		for (int i = 0; i < half; i++)
			a[i] = a[i] + a[i + half];
	return a[0];
}

INLINE float most_of_lanes(v16 v)
{
	v = most16(v, __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
	v = most16(v, __builtin_shufflevector(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
	v = most16(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
	v = most16(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
	return v[0];
}

/*
 * exp(x), to 2 units in the last place. 2^k times a polynomial of what is left, as Cephes does it; 0 where the result
 * would be subnormal. The constant 1.5 * 2^23 rounds to whole numbers by the addition.
 */
INLINE v16 exp16(v16 x)
{
	const v16 magic = splat(0x1.8p23f);
	v16 top = pick(x > splat(88.0f), splat(88.0f), x);
	v16 t = fma16(top, splat(0x1.715476p0f), magic), k = t - magic;
	v16 r = fma16(k, splat(0x1.bd0106p-13f), fma16(k, splat(-0.693359375f), top));
	v16 p = fma16(splat(0x1.a0d2cep-13f), r, splat(0x1.6e879cp-10f));
	i16 scale = ((i16)t - 0x4b400000 + 127) << 23;

	p = fma16(p, r, splat(0x1.1112aap-7f));
	p = fma16(p, r, splat(0x1.5553f4p-5f));
	p = fma16(p, r, splat(0x1.555554p-3f));
	p = fma16(p, r, splat(0x1p-1f));
	p = fma16(p, r * r, r) + splat(1);
	return pick(x < splat(-87.0f), splat(0), p * (v16)scale);
}

INLINE v16 sigmoid16(v16 x)
{
	return splat(1) / (splat(1) + exp16(-x));
}

/* To about a unit of 1, not of the result: enough for what is added to 1 or capped. */
INLINE v16 tanh16(v16 x)
{
	return splat(1) - splat(2) / (splat(1) + exp16(x + x));
}

static void VEC(norm_rms)(float *y, const float *x, const float *w, size_t n, float eps)
{
	v16 sum = { 0 }, scale;
	size_t i;

	for (i = 0; i + 16 <= n; i += 16)
		sum = fma16(load16(x + i), load16(x + i), sum);
	if (i < n)
		sum = fma16(load_some(x + i, n - i), load_some(x + i, n - i), sum);
	scale = splat(1 / sqrtf(sum_lanes(sum) / (float)n + eps));
	for (i = 0; i + 16 <= n; i += 16)
		store16(y + i, load16(x + i) * scale * load16(w + i));
	if (i < n)
		store_some(y + i, load_some(x + i, n - i) * scale * load_some(w + i, n - i), n - i);
}

INLINE float mean_of(const float *x, size_t n)
{
	v16 sum = { 0 };
	size_t i;

	for (i = 0; i + 16 <= n; i += 16)
		sum = sum + load16(x + i);
	if (i < n)
		sum = sum + load_some(x + i, n - i);
	return sum_lanes(sum) / (float)n;
}

/* What the first n lanes are away from mean; nothing in the others. */
INLINE v16 away_some(const float *x, float mean, size_t n)
{
	float d[16];

	store16(d, load_some(x, n) - splat(mean));
	return load_some(d, n);
}

INLINE float variance_of(const float *x, float mean, size_t n)
{
	v16 sum = { 0 };
	size_t i;

	for (i = 0; i + 16 <= n; i += 16) {
		v16 d = load16(x + i) - splat(mean);

		sum = fma16(d, d, sum);
	}
	if (i < n) {
		v16 d = away_some(x + i, mean, n - i);

		sum = fma16(d, d, sum);
	}
	return sum_lanes(sum) / (float)n;
}

static void VEC(norm_layer)(float *y, const float *x, const float *w, const float *b, size_t n, float eps)
{
	float mean = mean_of(x, n), scale = 1 / sqrtf(variance_of(x, mean, n) + eps);

	for (size_t i = 0; i < n; i += 16) {
		size_t some = n - i < 16 ? n - i : 16;
		v16 v = (load_some(x + i, some) - splat(mean)) * splat(scale) * load_some(w + i, some);

		store_some(y + i, b ? v + load_some(b + i, some) : v, some);
	}
}

static void VEC(add)(float *y, const float *b, size_t n)
{
	size_t i;

	for (i = 0; i + 16 <= n; i += 16)
		store16(y + i, load16(y + i) + load16(b + i));
	for (; i < n; i++)
		y[i] = y[i] + b[i];
}

static void VEC(add_scaled)(float *x, const float *y, float scale, size_t n)
{
	size_t i;

	for (i = 0; i + 16 <= n; i += 16)
		store16(x + i, load16(x + i) + load16(y + i) * splat(scale));
	for (; i < n; i++)
		x[i] = x[i] + y[i] * scale;
}

static void VEC(scale)(float *y, float scale, size_t n)
{
	size_t i;

	for (i = 0; i + 16 <= n; i += 16)
		store16(y + i, load16(y + i) * splat(scale));
	for (; i < n; i++)
		y[i] = y[i] * scale;
}

INLINE v16 silu16(v16 g)
{
	return g * sigmoid16(g);
}

/* x * (1 + tanh(u)) / 2 is x * sigmoid(2u) */
INLINE v16 gelu16(v16 g)
{
	v16 u = splat(0x1.9884533p-1f) * g * (splat(1) + splat(0.044715f) * g * g);

	return g * sigmoid16(u + u);
}

INLINE v16 clamped16(v16 g)
{
	v16 c = pick(g > splat(7), splat(7), g);

	return c * sigmoid16(splat(1.702f) * c);
}

INLINE v16 clamped_up16(v16 u)
{
	v16 c = pick(u > splat(7), splat(7), u);

	return pick(c < splat(-7), splat(-7), c) + splat(1);
}

#define GATED(name, f, up)                                                                \
	static void VEC(name)(float *g, const float *u, size_t n)                         \
	{                                                                                 \
		size_t i;                                                                 \
                                                                                          \
		for (i = 0; i + 16 <= n; i += 16) {                                       \
			v16 y = f(load16(g + i));                                         \
                                                                                          \
			store16(g + i, u ? y * up(load16(u + i)) : y);                    \
		}                                                                         \
		if (i < n) {                                                              \
			v16 y = f(load_some(g + i, n - i));                               \
                                                                                          \
			store_some(g + i, u ? y * up(load_some(u + i, n - i)) : y, n - i); \
		}                                                                         \
	}
GATED(silu, silu16, )
GATED(gelu, gelu16, )
GATED(clamped, clamped16, clamped_up16)
#undef GATED

static void VEC(soft_cap)(float *x, float cap, size_t n)
{
	for (size_t i = 0; i < n; i += 16) {
		size_t some = n - i < 16 ? n - i : 16;

		store_some(x + i, splat(cap) * tanh16(load_some(x + i, some) / splat(cap)), some);
	}
}

static void VEC(sigmoid)(float *x, size_t n)
{
	for (size_t i = 0; i < n; i += 16) {
		size_t some = n - i < 16 ? n - i : 16;

		store_some(x + i, sigmoid16(load_some(x + i, some)), some);
	}
}

static void VEC(softmax)(float *x, size_t n)
{
	v16 sum = { 0 };
	float most = x[0];

	for (size_t i = 1; i < n; i++)
		most = x[i] > most ? x[i] : most;
	for (size_t i = 0; i < n; i += 16) {
		size_t some = n - i < 16 ? n - i : 16;
		v16 p = exp16(load_some(x + i, some) - splat(most));

		store_some(x + i, p, some);
		sum = sum + load_some(x + i, some);
	}
	VEC(scale)(x, 1 / sum_lanes(sum), n);
}

INLINE v16 within_half(v16 v)
{
	v = pick(v > splat(65504), splat(65504), v);
	return pick(v < splat(-65504), splat(-65504), v);
}

static void VEC(to_half)(uint16_t *y, const float *x, size_t n)
{
	uint16_t last[16];
	size_t i;

	for (i = 0; i + 16 <= n; i += 16)
		put_half16(y + i, within_half(load16(x + i)));
	if (i < n) {
		put_half16(last, within_half(load_some(x + i, n - i)));
		memcpy(y + i, last, (n - i) * sizeof(*y));
	}
}

/* ---- attention ---- */

INLINE v16 bytes16(const int8_t *p)
{
	i8x16 b;

	memcpy(&b, p, sizeof(b));
	return __builtin_convertvector(b, v16);
}

/* Positions that are taken at once: their scores share one maximum. */
enum { VEC(GROUP) = 2 * CACHE_BLOCK };

/* Dimension i of a block's keys, at 16 positions. */
INLINE v16 key16(enum cache_type type, const char *block, size_t i)
{
	const char *group = block + i / 32 * CACHE_BLOCK * 34;

	if (type == CACHE_F32)
		return load16((const float *)block + i * CACHE_BLOCK);
	if (type == CACHE_F16)
		return half16((const uint16_t *)block + i * CACHE_BLOCK);
	return half16((const uint16_t *)group) * bytes16((const int8_t *)group + 32 + i % 32 * CACHE_BLOCK);
}

/* Sixteen dimensions of one position's value; those past its end are zero. */
INLINE v16 value16(enum cache_type type, const char *row, size_t at)
{
	const char *group = row + at / 32 * 34;
	uint16_t scale;

	if (type == CACHE_F32)
		return load16((const float *)row + at);
	if (type == CACHE_F16)
		return half16((const uint16_t *)row + at);
	memcpy(&scale, group, sizeof(scale));
	return splat(half_value(scale)) * bytes16((const int8_t *)group + 2 + at % 32);
}

/*
 * Scores of n queries from first on with a group of positions; each sums over the dimensions in order. n and type are
 * constants where this is inlined. The next group is called in, for it is memory that one query waits for.
 */
INLINE void scores(const struct attend_tile *t, enum cache_type type, const char *keys, size_t block, size_t first,
		   int n, v16 (*s)[2])
{
	v16 sum[8][2] = { { { 0 } } };

	for (size_t i = 0; i < t->key_len; i++) {
		v16 a = key16(type, keys, i), b = key16(type, keys + block, i);

		if (n <= 2 && i % 2 == 0)
			__builtin_prefetch(keys + 2 * block + i / 2 * 64 * (type == CACHE_F32 ? 2 : 1));
		if (n <= 2 && i % 2 && type != CACHE_Q8_0)
			__builtin_prefetch(keys + 3 * block + i / 2 * 64 * (type == CACHE_F32 ? 2 : 1));
UNROLL
		for (int r = 0; r < n; r++) {
			v16 q = splat(t->q[first + (size_t)r][i]);

			sum[r][0] = fma16(q, a, sum[r][0]);
			sum[r][1] = fma16(q, b, sum[r][1]);
		}
	}
UNROLL
	for (int r = 0; r < n; r++) {
		s[first + (size_t)r][0] = sum[r][0];
		s[first + (size_t)r][1] = sum[r][1];
	}
}

INLINE void scores_of_type(const struct attend_tile *t, enum cache_type type, const char *keys, size_t block, size_t first,
			   v16 (*s)[2])
{
	size_t r = first;

	for (; r + FUSED_ROWS <= t->rows; r += FUSED_ROWS)
		scores(t, type, keys, block, r, FUSED_ROWS, s);
	for (; r + 2 <= t->rows; r += 2)
		scores(t, type, keys, block, r, 2, s);
	for (; r < t->rows; r++)
		scores(t, type, keys, block, r, 1, s);
}

INLINE void unpack_keys(const struct attend_tile *t, enum cache_type type, const char *keys, size_t block, float *room)
{
	for (size_t i = 0; i < t->key_len; i++) {
		store16(room + i * 16, key16(type, keys, i));
		store16(room + (t->key_len + i) * 16, key16(type, keys + block, i));
	}
}

INLINE void unpack_values(const struct attend_tile *t, enum cache_type type, const char *values, size_t row, int count,
			  float *room, size_t stride)
{
	for (int j = 0; j < count; j++)
		for (size_t at = 0; at < t->value_len; at += 16)
			store16(room + (size_t)j * stride + at, value16(type, values + (size_t)j * row, at));
}

/* Many queries: the group is made floats once. */
INLINE void all_scores(const struct attend_tile *t, const char *keys, size_t block, float *room, v16 (*s)[2])
{
	if (t->k_type == CACHE_F32) {
		scores_of_type(t, CACHE_F32, keys, block, 0, s);
		return;
	}
	if (t->rows <= 2 && t->k_type == CACHE_F16) {
		scores_of_type(t, CACHE_F16, keys, block, 0, s);
		return;
	}
	if (t->k_type == CACHE_F16)
		unpack_keys(t, CACHE_F16, keys, block, room);
	else
		unpack_keys(t, CACHE_Q8_0, keys, block, room);
	scores_of_type(t, CACHE_F32, (const char *)room, t->key_len * 16 * sizeof(float), 0, s);
}

/* acc += p[j] * v[j], the positions in order, for n queries and 32 (or, wide 1, 16) dimensions. */
INLINE void gather(float *acc, size_t stride, enum cache_type type, const char *values, size_t row, size_t at, int wide,
		   int count, float (*p)[VEC(GROUP)], int n)
{
	v16 sum[8][2];

UNROLL
	for (int r = 0; r < n; r++) {
		sum[r][0] = load16(acc + (size_t)r * stride + at);
		sum[r][1] = wide > 1 ? load16(acc + (size_t)r * stride + at + 16) : splat(0);
	}
	for (int j = 0; j < count; j++, values += row) {
		v16 a = value16(type, values, at), b = wide > 1 ? value16(type, values, at + 16) : splat(0);

UNROLL
		for (int r = 0; r < n; r++) {
			v16 w = splat(p[r][j]);

			sum[r][0] = fma16(w, a, sum[r][0]);
			if (wide > 1)
				sum[r][1] = fma16(w, b, sum[r][1]);
		}
	}
UNROLL
	for (int r = 0; r < n; r++) {
		store16(acc + (size_t)r * stride + at, sum[r][0]);
		if (wide > 1)
			store16(acc + (size_t)r * stride + at + 16, sum[r][1]);
	}
}

INLINE void gather_n(float *acc, size_t stride, enum cache_type type, const char *values, size_t row, size_t len,
		     int count, float (*p)[VEC(GROUP)], int n)
{
	size_t at = 0;

	for (; at + 16 < len; at += 32)
		gather(acc, stride, type, values, row, at, 2, count, p, n);
	if (at < len)
		gather(acc, stride, type, values, row, at, 1, count, p, n);
}

INLINE void gather_rows(const struct attend_tile *t, float *acc, size_t stride, enum cache_type type, const char *values,
			size_t row, int count, float (*p)[VEC(GROUP)])
{
	size_t r = 0;

	for (; r + FUSED_ROWS <= t->rows; r += FUSED_ROWS)
		gather_n(acc + r * stride, stride, type, values, row, t->value_len, count, p + r, FUSED_ROWS);
	for (; r + 2 <= t->rows; r += 2)
		gather_n(acc + r * stride, stride, type, values, row, t->value_len, count, p + r, 2);
	for (; r < t->rows; r++)
		gather_n(acc + r * stride, stride, type, values, row, t->value_len, count, p + r, 1);
}

INLINE void all_values(const struct attend_tile *t, float *acc, size_t stride, const char *values, size_t row, int count,
		       float *room, float (*p)[VEC(GROUP)])
{
	if (t->v_type == CACHE_F32) {
		gather_rows(t, acc, stride, CACHE_F32, values, row, count, p);
		return;
	}
	if (t->rows <= 2 && t->v_type == CACHE_F16) {
		gather_rows(t, acc, stride, CACHE_F16, values, row, count, p);
		return;
	}
	if (t->v_type == CACHE_F16)
		unpack_values(t, CACHE_F16, values, row, count, room, stride);
	else
		unpack_values(t, CACHE_Q8_0, values, row, count, room, stride);
	gather_rows(t, acc, stride, CACHE_F32, (const char *)room, stride * sizeof(float), count, p);
}

struct VEC(softmax_row) {
	float most;
	v16 sum;
};

/* Scores that a query may not see become the least. */
INLINE v16 mask(const struct attend_tile *t, size_t r, uint32_t first, v16 s, i16 *seen)
{
	const i16 lane = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	i16 at = lane + (int32_t)first;

	*seen = (at >= (int32_t)t->from[r]) & (at < (int32_t)t->to[r]);
	if (t->cap != 0)
		s = splat(t->cap) * tanh16(s / splat(t->cap));
	return pick(*seen, s, splat(-INFINITY));
}

/* Turns the scores of a group into weights, relative to the greatest score so far; what was summed before follows. */
INLINE void weigh(const struct attend_tile *t, size_t r, uint32_t first, const v16 *s, struct VEC(softmax_row) *m,
		  float *acc, float *p)
{
	i16 seen[2];
	v16 a = mask(t, r, first, s[0], &seen[0]), b = mask(t, r, first + CACHE_BLOCK, s[1], &seen[1]);
	float most = most_of_lanes(most16(a, b));

	if (!(most <= m->most)) {
		v16 shrink = exp16(splat(m->most - most));

		m->sum = m->sum * shrink;
		for (size_t i = 0; i < t->value_len; i += 16)
			store16(acc + i, load16(acc + i) * shrink);
		m->most = most;
	}
	a = pick(seen[0], exp16(a - splat(m->most)), splat(0));
	b = pick(seen[1], exp16(b - splat(m->most)), splat(0));
	m->sum = m->sum + a + b;
	store16(p, a);
	store16(p + CACHE_BLOCK, b);
}

/* Divides by the sum of the weights; the sink has one too. */
INLINE void finish(const struct attend_tile *t, size_t r, const struct VEC(softmax_row) *m, const float *acc)
{
	float sum = sum_lanes(m->sum), scale = 1;

	if (t->sink[r]) {
		float most = *t->sink[r] > m->most ? *t->sink[r] : m->most;
		float shrunk[16], sink[16];

		store16(shrunk, exp16(splat(m->most - most)));
		store16(sink, exp16(splat(*t->sink[r] - most)));
		scale = shrunk[0];
		sum = sum * scale + sink[0];
	}
	scale = scale / sum;
	for (size_t i = 0; i < t->value_len; i += 16) {
		v16 y = load16(acc + i) * splat(scale);

		if (t->value_len - i < 16)
			store_some(t->out[r] + i, y, t->value_len - i);
		else
			store16(t->out[r] + i, y);
	}
}

static void VEC(attend)(const struct attend_tile *t)
{
	size_t stride = (t->value_len + 31) / 32 * 32, block = kv_key_block(t->k_type, t->key_len);
	size_t row = kv_value_row(t->v_type, t->value_len);
	float *keys = t->scratch, *values = keys + VEC(GROUP) * t->key_len, *acc = values + VEC(GROUP) * stride;
	float p[ATTEND_ROWS][VEC(GROUP)];
	struct VEC(softmax_row) m[ATTEND_ROWS];
	v16 s[ATTEND_ROWS][2];
	uint32_t from = UINT32_MAX, to = 0;

	for (size_t r = 0; r < t->rows; r++) {
		m[r] = (struct VEC(softmax_row)){ .most = -INFINITY };
		memset(acc + r * stride, 0, stride * sizeof(float));
		from = t->from[r] < from ? t->from[r] : from;
		to = t->to[r] > to ? t->to[r] : to;
	}
	for (uint32_t first = from / VEC(GROUP) * VEC(GROUP); first < to; first += VEC(GROUP)) {
		int count = to - first < VEC(GROUP) ? (int)(to - first) : VEC(GROUP);

		all_scores(t, t->keys + first / CACHE_BLOCK * block, block, keys, s);
		for (size_t r = 0; r < t->rows; r++)
			weigh(t, r, first, s[r], &m[r], acc + r * stride, p[r]);
		all_values(t, acc, stride, t->values + first * row, row, count, values, p);
	}
	for (size_t r = 0; r < t->rows; r++)
		finish(t, r, &m[r], acc + r * stride);
}
