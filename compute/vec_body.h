/* SPDX-License-Identifier: MIT */
/*
 * The functions of struct vec but for attention (attend_body.h). Included between KERNEL_BEGIN and KERNEL_END by a file
 * that defines, for its ISA:
 *
 *	VEC(name)                   the name of a function there (vec_type.h has the types)
 *	fma_v(a, b, c)              a * b + c, rounded once
 *	max_v(a, b)                 a > b ? a : b, in each lane
 *	max_lane(v)                 the greatest of the lanes
 *	is_above(v, float)          whether any lane is
 *	sum_lanes(v)                their sum: half of them added to the other half until one is left
 *	half_v(const uint16_t *)    LANES halves as floats
 *	put_half(uint16_t *, v)     the other way, rounded to even
 *	FUSED_ROWS                  queries whose sums the registers have room for, in two registers each
 *
 * Built without contraction of floating-point expressions: what is not fma_v is rounded after each operation.
 */

INLINE vf load(const float *p)
{
	vf v;

	memcpy(&v, p, sizeof(v));
	return v;
}

INLINE void store(float *p, vf v)
{
	memcpy(p, &v, sizeof(v));
}

/* The first n values (LANES at most), zeros after them. */
INLINE vf load_some(const float *p, size_t n)
{
	vf v = { 0 };

	if (n == LANES)
		return load(p);
	memcpy(&v, p, n * sizeof(float));
	return v;
}

INLINE void store_some(float *p, vf v, size_t n)
{
	if (n == LANES)
		store(p, v);
	else
		memcpy(p, &v, n * sizeof(float));
}

INLINE vf splat(float x)
{
	return x - (vf){ 0 };
}

INLINE vf pick(vi mask, vf a, vf b)
{
	return (vf)((mask & (vi)a) | (~mask & (vi)b));
}

/* 8 of 8 + 8, 4 of 4 + 4, ... */
INLINE float sum_parts(const vf *v)
{
	vf sum[PARTS];

UNROLL
	for (int i = 0; i < PARTS; i++)
		sum[i] = v[i];
UNROLL
	for (int half = PARTS / 2; half; half /= 2)
UNROLL
		for (int i = 0; i < half; i++)
			sum[i] = sum[i] + sum[i + half];
	return sum_lanes(sum[0]);
}

/*
 * exp(x), to 2 units in the last place. 2^k times a polynomial of what is left, as Cephes does it; 0 where the result
 * would be subnormal. The constant 1.5 * 2^23 rounds to whole numbers by the addition.
 */
INLINE vf exp_v(vf x)
{
	const vf magic = splat(0x1.8p23f);
	vf top = pick(x > splat(88.0f), splat(88.0f), x);
	vf t = fma_v(top, splat(0x1.715476p0f), magic), k = t - magic;
	vf r = fma_v(k, splat(0x1.bd0106p-13f), fma_v(k, splat(-0.693359375f), top));
	vf p = fma_v(splat(0x1.a0d2cep-13f), r, splat(0x1.6e879cp-10f));
	vu scale = ((vu)t - 0x4b400000 + 127) << 23; /* of what is replaced below it may be anything */

	p = fma_v(p, r, splat(0x1.1112aap-7f));
	p = fma_v(p, r, splat(0x1.5553f4p-5f));
	p = fma_v(p, r, splat(0x1.555554p-3f));
	p = fma_v(p, r, splat(0x1p-1f));
	p = fma_v(p, r * r, r) + splat(1);
	return pick(x < splat(-87.0f), splat(0), p * (vf)scale);
}

INLINE vf sigmoid_v(vf x)
{
	return splat(1) / (splat(1) + exp_v(-x));
}

/* To about a unit of 1, not of the result: enough for what is added to 1 or capped. */
INLINE vf tanh_v(vf x)
{
	return splat(1) - splat(2) / (splat(1) + exp_v(x + x));
}

/* Sum of (x - mean)^2. What fills up the last sixteen adds nothing. */
INLINE float squares(const float *x, float mean, size_t n)
{
	vf sum[PARTS] = { { 0 } };
	float last[16];
	size_t i;

	for (i = 0; i + 16 <= n; i += 16)
UNROLL
		for (int k = 0; k < PARTS; k++) {
			vf d = load(x + i + k * LANES) - splat(mean);

			sum[k] = fma_v(d, d, sum[k]);
		}
	if (i < n) {
		for (int k = 0; k < 16; k++)
			last[k] = i + (size_t)k < n ? x[i + (size_t)k] : mean;
UNROLL
		for (int k = 0; k < PARTS; k++) {
			vf d = load(last + k * LANES) - splat(mean);

			sum[k] = fma_v(d, d, sum[k]);
		}
	}
	return sum_parts(sum);
}

INLINE float total(const float *x, size_t n)
{
	vf sum[PARTS] = { { 0 } };
	float last[16] = { 0 };
	size_t i;

	for (i = 0; i + 16 <= n; i += 16)
UNROLL
		for (int k = 0; k < PARTS; k++)
			sum[k] = sum[k] + load(x + i + k * LANES);
	if (i < n) {
		memcpy(last, x + i, (n - i) * sizeof(*x));
UNROLL
		for (int k = 0; k < PARTS; k++)
			sum[k] = sum[k] + load(last + k * LANES);
	}
	return sum_parts(sum);
}

static void VEC(norm_rms)(float *y, const float *x, const float *w, size_t n, float eps)
{
	vf scale = splat(1 / sqrtf(squares(x, 0, n) / (float)n + eps));
	size_t i;

	for (i = 0; i + LANES <= n; i += LANES)
		store(y + i, load(x + i) * scale * load(w + i));
	if (i < n)
		store_some(y + i, load_some(x + i, n - i) * scale * load_some(w + i, n - i), n - i);
}

static void VEC(norm_layer)(float *y, const float *x, const float *w, const float *b, size_t n, float eps)
{
	float mean = total(x, n) / (float)n, scale = 1 / sqrtf(squares(x, mean, n) / (float)n + eps);

	for (size_t i = 0; i < n; i += LANES) {
		size_t some = n - i < LANES ? n - i : LANES;
		vf v = (load_some(x + i, some) - splat(mean)) * splat(scale) * load_some(w + i, some);

		store_some(y + i, b ? v + load_some(b + i, some) : v, some);
	}
}

static void VEC(add)(float *y, const float *b, size_t n)
{
	size_t i;

	for (i = 0; i + LANES <= n; i += LANES)
		store(y + i, load(y + i) + load(b + i));
	for (; i < n; i++)
		y[i] = y[i] + b[i];
}

static void VEC(add_scaled)(float *x, const float *y, float scale, size_t n)
{
	size_t i;

	for (i = 0; i + LANES <= n; i += LANES)
		store(x + i, load(x + i) + load(y + i) * splat(scale));
	for (; i < n; i++)
		x[i] = x[i] + y[i] * scale;
}

static void VEC(scale)(float *y, float scale, size_t n)
{
	size_t i;

	for (i = 0; i + LANES <= n; i += LANES)
		store(y + i, load(y + i) * splat(scale));
	for (; i < n; i++)
		y[i] = y[i] * scale;
}

INLINE vf silu_v(vf g)
{
	return g * sigmoid_v(g);
}

/* x * (1 + tanh(u)) / 2 is x * sigmoid(2u) */
INLINE vf gelu_v(vf g)
{
	vf u = splat(0x1.9884533p-1f) * g * (splat(1) + splat(0.044715f) * g * g);

	return g * sigmoid_v(u + u);
}

INLINE vf clamped_v(vf g)
{
	vf c = pick(g > splat(7), splat(7), g);

	return c * sigmoid_v(splat(1.702f) * c);
}

INLINE vf clamped_up(vf u)
{
	vf c = pick(u > splat(7), splat(7), u);

	return pick(c < splat(-7), splat(-7), c) + splat(1);
}

#define GATED(name, f, up)                                                                \
	static void VEC(name)(float *g, const float *u, size_t n)                         \
	{                                                                                 \
		size_t i;                                                                 \
                                                                                          \
		for (i = 0; i + LANES <= n; i += LANES) {                                 \
			vf y = f(load(g + i));                                            \
                                                                                          \
			store(g + i, u ? y * up(load(u + i)) : y);                        \
		}                                                                         \
		if (i < n) {                                                              \
			vf y = f(load_some(g + i, n - i));                                \
                                                                                          \
			store_some(g + i, u ? y * up(load_some(u + i, n - i)) : y, n - i); \
		}                                                                         \
	}
GATED(silu, silu_v, )
GATED(gelu, gelu_v, )
GATED(clamped, clamped_v, clamped_up)
#undef GATED

static void VEC(soft_cap)(float *x, float cap, size_t n)
{
	for (size_t i = 0; i < n; i += LANES) {
		size_t some = n - i < LANES ? n - i : LANES;

		store_some(x + i, splat(cap) * tanh_v(load_some(x + i, some) / splat(cap)), some);
	}
}

static void VEC(sigmoid)(float *x, size_t n)
{
	for (size_t i = 0; i < n; i += LANES) {
		size_t some = n - i < LANES ? n - i : LANES;

		store_some(x + i, sigmoid_v(load_some(x + i, some)), some);
	}
}

static void VEC(softmax)(float *x, size_t n)
{
	float most = x[0];

	for (size_t i = 1; i < n; i++)
		most = x[i] > most ? x[i] : most;
	for (size_t i = 0; i < n; i += LANES) {
		size_t some = n - i < LANES ? n - i : LANES;

		store_some(x + i, exp_v(load_some(x + i, some) - splat(most)), some);
	}
	VEC(scale)(x, 1 / total(x, n), n);
}

static void VEC(turn_halves)(float *x, const float *c, const float *s, size_t half)
{
	float *y = x + half;
	size_t i;

	for (i = 0; i + LANES <= half; i += LANES) {
		vf a = load(x + i), b = load(y + i);

		store(x + i, a * load(c + i) - b * load(s + i));
		store(y + i, a * load(s + i) + b * load(c + i));
	}
	for (; i < half; i++) {
		float a = x[i], b = y[i];

		x[i] = a * c[i] - b * s[i];
		y[i] = a * s[i] + b * c[i];
	}
}

static void VEC(turn_pairs)(float *x, const float *c, const float *s, size_t half)
{
	for (size_t i = 0; i < half; i++) {
		float a = x[2 * i], b = x[2 * i + 1];

		x[2 * i] = a * c[i] - b * s[i];
		x[2 * i + 1] = a * s[i] + b * c[i];
	}
}

INLINE vf within_half(vf v)
{
	v = pick(v > splat(65504), splat(65504), v);
	return pick(v < splat(-65504), splat(-65504), v);
}

static void VEC(to_half)(uint16_t *y, const float *x, size_t n)
{
	uint16_t last[LANES];
	size_t i;

	for (i = 0; i + LANES <= n; i += LANES)
		put_half(y + i, within_half(load(x + i)));
	if (i < n) {
		put_half(last, within_half(load_some(x + i, n - i)));
		memcpy(y + i, last, (n - i) * sizeof(*y));
	}
}

/* x * per in whole numbers, from -32768 to 32767: the addition rounds them into the low bits. */
INLINE vi whole_v(vf x, vf per)
{
	return (vi)fma_v(x, per, splat(0x1.8p23f));
}

INLINE vi max_int(vi a, vi b)
{
	vi more = a > b;

	return (a & more) | (b & ~more);
}

/*
 * The greatest magnitude, but for its last bit. Bits of floats without their sign are in order like integers, NaN and
 * Inf above all; halved they are floats in that order again, and none of them NaN or Inf.
 */
INLINE float magnitude(const float *x, size_t n)
{
	vi most = { 0 };

	for (size_t i = 0; i < n; i += LANES)
		most = max_int((vi)load_some(x + i, n - i < LANES ? n - i : LANES) & 0x7fffffff, most);
	return float_of_bits(bits_of_float(max_lane((vf)(most >> 1))) << 1);
}

/* The length of a vector, whose greatest magnitude is most; or more, where its square is not a number to go by. */
INLINE float length(const float *x, size_t n, float most)
{
	float square = squares(x, 0, n);

	return square > 1e-30f && square < INFINITY ? sqrtf(square) : most * sqrtf((float)n);
}

static float VEC(int16_unit)(const float *x, size_t n, enum int16_use use)
{
	const float least = 1e-30f; /* what is less counts as nothing */
	float most = magnitude(x, n), unit = most * (1.0f / (use == INT16_FACTOR ? INT16_MOST : INT16_WEIGHED_MOST));

	if (use == INT16_FACTOR) {
		/* 46340 * 46340 < 2^31; rounding adds half a unit a value */
		float fit = length(x, n, most) / (46340 - sqrtf((float)n));

		unit = fit > unit ? fit : unit;
	}
	if (!(unit < INFINITY))
		return NAN;
	return unit > least ? unit : 0;
}

static void VEC(to_int16)(int16_t *y, const float *x, size_t n, float unit)
{
	vf per = splat(1 / unit);

	if (!(unit > 0)) {
		memset(y, 0, n * sizeof(*y));
		return;
	}
	for (size_t i = 0; i < n; i += LANES) {
		size_t some = n - i < LANES ? n - i : LANES;
		vs v = __builtin_convertvector(whole_v(load_some(x + i, some), per), vs);

		memcpy(y + i, &v, some * sizeof(*y));
	}
}
