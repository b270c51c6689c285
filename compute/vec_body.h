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
	float a[16];

	store16(a, v);
	for (int half = 8; half; half /= 2)
		for (int i = 0; i < half; i++)
			a[i] = a[i] > a[i + half] ? a[i] : a[i + half];
	return a[0];
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

/* A block's keys as floats, [dimension][position]. */
INLINE const float *block_keys(const struct attend_tile *t, const char *block, float *room)
{
	if (t->k_type == CACHE_F32)
		return (const float *)block;
	for (size_t i = 0; i < t->key_len; i++) {
		if (t->k_type == CACHE_F16) {
			store16(room + i * 16, half16((const uint16_t *)block + i * 16));
			continue;
		}
		const char *group = block + i / 32 * 16 * 34;

		store16(room + i * 16, half16((const uint16_t *)group) * bytes16((const int8_t *)group + 32 + i % 32 * 16));
	}
	return room;
}

/* A position's value as floats, filled up to whole 16s. */
INLINE const float *row_value(const struct attend_tile *t, const char *row, float *room)
{
	if (t->v_type == CACHE_F32)
		return (const float *)row;
	for (size_t i = 0; i < t->value_len; i += 16) {
		if (t->v_type == CACHE_F16) {
			store16(room + i, half16((const uint16_t *)row + i));
			continue;
		}
		const char *group = row + i / 32 * 34;
		uint16_t half;

		memcpy(&half, group, 2);
		store16(room + i, splat(half_value(half)) * bytes16((const int8_t *)group + 2 + i % 32));
	}
	return room;
}

/* Scores of n queries (a constant where this is inlined) with 16 positions; each sums over the dimensions in order. */
INLINE void scores(const struct attend_tile *t, const float *keys, size_t first, int n, v16 *s)
{
	v16 sum[8] = { { 0 } };

	for (size_t i = 0; i < t->key_len; i++) {
		v16 k = load16(keys + i * 16);

UNROLL
		for (int r = 0; r < n; r++)
			sum[r] = fma16(splat(t->q[first + r][i]), k, sum[r]);
	}
UNROLL
	for (int r = 0; r < n; r++)
		s[first + r] = sum[r];
}

INLINE void all_scores(const struct attend_tile *t, const float *keys, v16 *s)
{
	size_t r = 0;

	for (; r + FUSED_ROWS <= t->rows; r += FUSED_ROWS)
		scores(t, keys, r, FUSED_ROWS, s);
	for (; r + 2 <= t->rows; r += 2)
		scores(t, keys, r, 2, s);
	for (; r < t->rows; r++)
		scores(t, keys, r, 1, s);
}

/* out += p[j] * v[j], the positions in order, for n queries and 16 dimensions. */
INLINE void gather(float *acc, size_t stride, const float *const *values, size_t at, int count, float (*p)[16], int n)
{
	v16 sum[8];

UNROLL
	for (int r = 0; r < n; r++)
		sum[r] = load16(acc + r * stride);
	for (int j = 0; j < count; j++) {
		v16 v = load16(values[j] + at);

UNROLL
		for (int r = 0; r < n; r++)
			sum[r] = fma16(splat(p[r][j]), v, sum[r]);
	}
UNROLL
	for (int r = 0; r < n; r++)
		store16(acc + r * stride, sum[r]);
}

INLINE void gather_rows(float *acc, size_t stride, const float *const *values, size_t len, int count, float (*p)[16],
			size_t rows)
{
	size_t r = 0;

	for (; r + FUSED_ROWS <= rows; r += FUSED_ROWS)
		for (size_t at = 0; at < len; at += 16)
			gather(acc + r * stride + at, stride, values, at, count, p + r, FUSED_ROWS);
	for (; r + 2 <= rows; r += 2)
		for (size_t at = 0; at < len; at += 16)
			gather(acc + r * stride + at, stride, values, at, count, p + r, 2);
	for (; r < rows; r++)
		for (size_t at = 0; at < len; at += 16)
			gather(acc + r * stride + at, stride, values, at, count, p + r, 1);
}

struct VEC(softmax_row) {
	float most;
	v16 sum;
};

/* Turns the scores of a block into weights, relative to the greatest score so far; what was summed before follows. */
INLINE void weigh(const struct attend_tile *t, size_t r, uint32_t first, v16 s, struct VEC(softmax_row) *m, float *acc,
		  float *p)
{
	const i16 lane = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	i16 at = lane + (int32_t)first;
	i16 seen = (at >= (int32_t)t->from[r]) & (at < (int32_t)t->to[r]);
	float most;

	if (t->cap != 0)
		s = splat(t->cap) * tanh16(s / splat(t->cap));
	s = pick(seen, s, splat(-INFINITY));
	most = most_of_lanes(s);
	if (!(most <= m->most)) {
		v16 shrink = exp16(splat(m->most - most));

		m->sum = m->sum * shrink;
		for (size_t i = 0; i < t->value_len; i += 16)
			store16(acc + i, load16(acc + i) * shrink);
		m->most = most;
	}
	s = pick(seen, exp16(s - splat(m->most)), splat(0));
	m->sum = m->sum + s;
	store16(p, s);
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
	for (size_t i = 0; i < t->value_len; i++)
		t->out[r][i] = acc[i] * scale;
}

static void VEC(attend)(const struct attend_tile *t)
{
	size_t keys_room = (t->key_len + 31) / 32 * 32, stride = (t->value_len + 31) / 32 * 32;
	float *keys = t->scratch, *values = keys + CACHE_BLOCK * keys_room, *acc = values + CACHE_BLOCK * stride;
	size_t key_bytes = t->k_type == CACHE_F32 ? 64 * t->key_len : t->k_type == CACHE_F16 ? 32 * t->key_len :
			   (t->key_len + 31) / 32 * 16 * 34;
	size_t padded = (t->value_len + 15) / 16 * 16;
	size_t value_bytes = t->v_type == CACHE_F32 ? 4 * padded : t->v_type == CACHE_F16 ? 2 * padded :
			     (t->value_len + 31) / 32 * 34;
	struct VEC(softmax_row) m[ATTEND_ROWS];
	uint32_t from = UINT32_MAX, to = 0;
	float p[ATTEND_ROWS][16];
	v16 s[ATTEND_ROWS];

	for (size_t r = 0; r < t->rows; r++) {
		m[r] = (struct VEC(softmax_row)){ .most = -INFINITY };
		memset(acc + r * stride, 0, stride * sizeof(float));
		from = t->from[r] < from ? t->from[r] : from;
		to = t->to[r] > to ? t->to[r] : to;
	}
	for (uint32_t first = from / CACHE_BLOCK * CACHE_BLOCK; first < to; first += CACHE_BLOCK) {
		int count = to - first < CACHE_BLOCK ? (int)(to - first) : CACHE_BLOCK;
		const float *v[CACHE_BLOCK];

		all_scores(t, block_keys(t, t->keys + first / CACHE_BLOCK * key_bytes, keys), s);
		for (size_t r = 0; r < t->rows; r++)
			weigh(t, r, first, s[r], &m[r], acc + r * stride, p[r]);
		for (int j = 0; j < count; j++)
			v[j] = row_value(t, t->values + (first + (uint32_t)j) * value_bytes, values + (size_t)j * stride);
		gather_rows(acc, stride, v, t->value_len, count, p, t->rows);
	}
	for (size_t r = 0; r < t->rows; r++)
		finish(t, r, &m[r], acc + r * stride);
}
