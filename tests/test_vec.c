/* SPDX-License-Identifier: MIT */
/* Every tier of the vector functions against the plain one: the same bits. Attention against doubles, too. */
#include "tap.h"
#include "kv.h"
#include "vec.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 300 };
static const size_t lengths[] = { 1, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 64, 100, 128, 257, MOST };
enum { LENGTHS = sizeof(lengths) / sizeof(*lengths) };

static float noise(void)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return (float)(state >> 8) / 0x1p23f - 1;
}

static void fill(float *x, size_t n, float scale)
{
	for (size_t i = 0; i < n; i++)
		x[i] = scale * noise();
}

/* What each function makes of x and the vectors a and b, in place. */
typedef void call_fn(const struct vec *v, float *x, const float *a, const float *b, size_t n);
#define CALL(name, ...)                                                                              \
	static void call_##name(const struct vec *v, float *x, const float *a, const float *b, size_t n) \
	{                                                                                            \
		(void)a;                                                                             \
		(void)b;                                                                             \
		v->name(__VA_ARGS__);                                                                \
	}
CALL(norm_rms, x, x, a, n, 1e-6f)
CALL(norm_layer, x, x, a, b, n, 1e-6f)
CALL(add, x, a, n)
CALL(add_scaled, x, a, 0.3f, n)
CALL(scale, x, 1.7f, n)
CALL(silu, x, a, n)
CALL(gelu, x, a, n)
CALL(clamped, x, a, n)
CALL(soft_cap, x, 3, n)
CALL(softmax, x, n)
CALL(sigmoid, x, n)
CALL(turn_halves, x, a, b, n / 2)
CALL(turn_pairs, x, a, b, n / 2)
#undef CALL

static void call_to_half(const struct vec *v, float *x, const float *a, const float *b, size_t n)
{
	uint16_t half[MOST];

	(void)a;
	(void)b;
	v->to_half(half, x, n);
	for (size_t i = 0; i < n; i++)
		x[i] = half[i];
}

static void call_silu_alone(const struct vec *v, float *x, const float *a, const float *b, size_t n)
{
	(void)a;
	(void)b;
	v->silu(x, NULL, n);
}

static const struct { const char *name; call_fn *call; } calls[] = {
#define ROW(name) { #name, call_##name }
	ROW(norm_rms), ROW(norm_layer), ROW(add), ROW(add_scaled), ROW(scale), ROW(silu), ROW(gelu), ROW(clamped),
	ROW(soft_cap), ROW(softmax), ROW(sigmoid), ROW(turn_halves), ROW(turn_pairs), ROW(to_half), ROW(silu_alone),
#undef ROW
};

static void same_calls(const struct vec *plain, const struct vec *v)
{
	for (size_t c = 0; c < sizeof(calls) / sizeof(*calls); c++) {
		size_t equal = 0;

		for (size_t i = 0; i < LENGTHS; i++) {
			float x[2][MOST], a[MOST], b[MOST];
			size_t n = lengths[i];

			fill(x[0], MOST, 20);
			fill(a, MOST, 2);
			fill(b, MOST, 2);
			memcpy(x[1], x[0], sizeof(x[0]));
			calls[c].call(plain, x[0], a, b, n);
			calls[c].call(v, x[1], a, b, n);
			equal += !memcmp(x[0], x[1], sizeof(x[0]));
		}
		ok(equal == LENGTHS, "%s, %s: %zu of %d lengths have the plain bits, nothing behind them is touched", v->name,
		   calls[c].name, equal, LENGTHS);
	}
}

/* A cache of one head, full, and queries that see it. */
struct scene {
	const char *what;
	enum cache_type k, v;
	unsigned key_len, value_len, rows;
	uint32_t at, each; /* the first query's position; so many queries have the same */
	uint32_t window;   /* 0: all before */
	float cap, sink;   /* 0: none */
};

static const struct scene scenes[] = {
	{ "one token, one query", CACHE_F16, CACHE_F16, 64, 64, 1, 200, 1, 0, 0, 0 },
	{ "one token, two queries", CACHE_F16, CACHE_F16, 128, 128, 2, 130, 2, 0, 0, 0 },
	{ "one token, seven queries", CACHE_F16, CACHE_F16, 64, 64, 7, 65, 7, 0, 0, 0 },
	{ "a full tile", CACHE_F16, CACHE_F16, 128, 128, ATTEND_ROWS, 0, 2, 0, 0, 0 },
	{ "a part of a tile", CACHE_F16, CACHE_F16, 128, 128, 29, 61, 1, 0, 0, 0 },
	{ "a window", CACHE_F16, CACHE_F16, 64, 64, 50, 100, 2, 40, 0, 0 },
	{ "cap and sink", CACHE_F16, CACHE_F16, 64, 64, 20, 30, 2, 0, 5, 0.5f },
	{ "odd lengths", CACHE_F16, CACHE_F16, 40, 24, 9, 90, 1, 0, 0, 0 },
	{ "odd lengths, one query", CACHE_F16, CACHE_F16, 24, 80, 1, 90, 1, 0, 0, 0 },
	{ "floats", CACHE_F32, CACHE_F32, 64, 64, 11, 70, 1, 0, 0, 0 },
	{ "floats of odd lengths", CACHE_F32, CACHE_F32, 36, 48, 3, 70, 1, 0, 0, 0 },
	{ "eight bits", CACHE_Q8_0, CACHE_Q8_0, 96, 64, 18, 140, 2, 0, 0, 0 },
	{ "eight bits and halves", CACHE_Q8_0, CACHE_F16, 64, 64, 2, 140, 2, 0, 0, 0 },
	{ "pairs, one query", CACHE_I16, CACHE_I16, 128, 128, 1, 200, 1, 0, 0, 0 },
	{ "pairs, two queries", CACHE_I16, CACHE_I16, 64, 64, 2, 130, 2, 0, 0, 0 },
	{ "pairs, seven queries", CACHE_I16, CACHE_I16, 128, 128, 7, 65, 7, 0, 0, 0 },
	{ "pairs, a full tile", CACHE_I16, CACHE_I16, 128, 128, ATTEND_ROWS, 100, 1, 0, 0, 0 },
	{ "pairs, a part of a tile", CACHE_I16, CACHE_I16, 64, 96, 29, 61, 1, 0, 0, 0 },
	{ "pairs, a window", CACHE_I16, CACHE_I16, 64, 64, 59, 100, 2, 40, 0, 0 },
	{ "pairs, cap and sink", CACHE_I16, CACHE_I16, 64, 64, 20, 30, 2, 0, 5, 0.5f },
	{ "pairs, odd lengths", CACHE_I16, CACHE_I16, 37, 24, 9, 90, 1, 0, 0, 0 },
	{ "pairs, odd lengths, one query", CACHE_I16, CACHE_I16, 23, 80, 1, 90, 1, 0, 0, 0 },
	{ "pairs, low-rank", CACHE_I16, CACHE_I16, 576, 512, 16, 70, 16, 0, 0, 0 },
	{ "low-rank", CACHE_F16, CACHE_F16, 576, 512, 16, 70, 16, 0, 0, 0 },
};

enum { POSITIONS = 4 * CACHE_GROUP, LEN = 576 };
static float keys[POSITIONS][LEN], values[POSITIONS][LEN], queries[ATTEND_ROWS][LEN];

static struct attend_tile set_up(const struct scene *s, struct kv *kv, float (*out)[LEN])
{
	const unsigned heads = 1;
	struct attend_tile t = {
		.kv = kv, .rows = s->rows, .cap = s->cap,
	};

	*kv = (struct kv){ .k_type = s->k, .v_type = s->v, .key_len = s->key_len, .value_len = s->value_len,
			   .positions = POSITIONS };
	if (kv_new(kv, &heads, 1))
		return t;
	t.head = kv_of_head(kv, 0, 0);
	for (uint32_t i = 0; i < POSITIONS; i++) {
		kv_put_key(kv, kv_of_head(kv, 0, 0), i, keys[i], vec_tier(0));
		kv_put_value(kv, kv_of_head(kv, 0, 0), i, values[i], vec_tier(0));
	}
	for (unsigned r = 0; r < s->rows; r++) {
		t.q[r] = queries[r];
		t.out[r] = out[r];
		t.to[r] = s->at + r / s->each + 1;
		t.from[r] = s->window && t.to[r] > s->window ? t.to[r] - s->window : 0;
		t.sink[r] = s->sink != 0 ? &s->sink : NULL;
	}
	t.scratch = aligned_alloc(64, (attend_scratch(s->key_len, s->value_len) * sizeof(float) + 63) / 64 * 64);
	return t;
}

static void clear(struct kv *kv, struct attend_tile *t)
{
	kv_free(kv);
	free(t->scratch);
}

/* The same in doubles, from the numbers before they were cached. Returns the greatest difference. */
static double away(const struct scene *s, const struct attend_tile *t, float (*out)[LEN])
{
	double worst = 0;

	for (unsigned r = 0; r < s->rows; r++) {
		double weight[POSITIONS], sum = s->sink != 0 ? exp(s->sink) : 0;

		for (uint32_t i = t->from[r]; i < t->to[r]; i++) {
			double score = 0;

			for (unsigned k = 0; k < s->key_len; k++)
				score += (double)queries[r][k] * keys[i][k];
			weight[i] = exp(s->cap != 0 ? s->cap * tanh(score / s->cap) : score);
			sum += weight[i];
		}
		for (unsigned k = 0; k < s->value_len; k++) {
			double y = 0;

			for (uint32_t i = t->from[r]; i < t->to[r]; i++)
				y += weight[i] * values[i][k] / sum;
			worst = isfinite(out[r][k]) ? fmax(worst, fabs(y - (double)out[r][k])) : INFINITY;
		}
	}
	return worst;
}

static void same_attention(const struct vec *v)
{
	static float want[ATTEND_ROWS][LEN], got[ATTEND_ROWS][LEN];

	for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
		const struct scene *s = &scenes[i];
		struct kv kv;
		struct attend_tile t = set_up(s, &kv, want);
		double limit = s->k == CACHE_Q8_0 ? 0.02 : s->k == CACHE_F16 ? 2e-3 : s->k == CACHE_I16 ? 1e-3 : 2e-6, off;
		size_t alone = 0;

		memset(want, 0, sizeof(want));
		vec_tier(0)->attend(&t);
		off = away(s, &t, want);
		memset(got, 0, sizeof(got));
		for (unsigned r = 0; r < s->rows; r++)
			t.out[r] = got[r];
		v->attend(&t);
		ok(off < limit && !memcmp(got, want, sizeof(got)), "%s, attend, %s: the plain bits, %.1g away from doubles",
		   v->name, s->what, off);
		for (unsigned r = 0; r < s->rows; r++) {
			struct attend_tile one = t;
			float y[LEN];

			one.rows = 1;
			one.q[0] = t.q[r];
			one.out[0] = y;
			one.from[0] = t.from[r];
			one.to[0] = t.to[r];
			one.sink[0] = t.sink[r];
			v->attend(&one);
			alone += !memcmp(y, got[r], s->value_len * sizeof(*y));
		}
		ok(alone == s->rows, "%s, attend, %s: %zu of %u queries have the same bits alone", v->name, s->what, alone,
		   s->rows);
		clear(&kv, &t);
	}
}

/* Numbers that make the greatest sums that there can be: all alike, one alone, signs in turn. */
static const struct { const char *what; unsigned len; float scale; int each; } extremes[] = {
	{ "all alike", 128, 1, 1 }, { "all alike, of many", 576, 1e4f, 1 }, { "all alike, of one", 1, 1e-3f, 1 },
	{ "one alone", 128, 1, 128 }, { "two in all", 2, 1e6f, 1 }, { "every other", 64, 1e-6f, 2 },
	{ "a square beyond floats", 128, 1e19f, 1 },
};

static void fill_extreme(float *x, size_t i)
{
	memset(x, 0, LEN * sizeof(*x));
	for (unsigned k = 0; k < extremes[i].len; k += (unsigned)extremes[i].each)
		x[k] = (k / (unsigned)extremes[i].each) % 2 ? -extremes[i].scale : extremes[i].scale;
}

/* Scores of about 1 whatever the scale, all the same: the values' mean, which is the values. */
static void extreme_sums(const struct vec *v)
{
	for (size_t i = 0; i < sizeof(extremes) / sizeof(*extremes); i++) {
		static float out[ATTEND_ROWS][LEN];
		float scale = extremes[i].scale;
		struct scene s = { "", CACHE_I16, CACHE_I16, extremes[i].len, extremes[i].len, 7, POSITIONS - 7, 1, 0, 0, 0 };
		struct attend_tile t;
		struct kv kv;
		double off;

		for (size_t k = 0; k < POSITIONS; k++) {
			fill_extreme(keys[k], i);
			fill_extreme(values[k], i);
		}
		for (size_t r = 0; r < 7; r++) {
			fill_extreme(queries[r], i);
			for (size_t k = 0; k < LEN; k++)
				queries[r][k] /= scale * scale * (float)extremes[i].len;
		}
		t = set_up(&s, &kv, out);
		v->attend(&t);
		off = away(&s, &t, out) / (double)scale;
		ok(off < 1e-4, "%s, attend, %s: %.1g of the values away from doubles", v->name, extremes[i].what, off);
		clear(&kv, &t);
	}
}

/* A key or value with a number that is none: whoever sees it gets none, all others what they had. */
static void broken_numbers(const struct vec *v)
{
	static const float bad[] = { NAN, INFINITY, -INFINITY };
	const struct scene s = { "", CACHE_I16, CACHE_I16, 64, 64, 9, 46, 1, 0, 0, 0 };
	static float out[ATTEND_ROWS][LEN];
	struct attend_tile t;
	struct kv kv;
	size_t right = 0;

	for (size_t i = 0; i < 6; i++) {
		float *at = i % 2 ? &values[50][3] : &keys[50][3], was = *at;

		*at = bad[i / 2];
		t = set_up(&s, &kv, out);
		v->attend(&t);
		for (unsigned r = 0; r < s.rows; r++)
			for (unsigned k = 0; k < s.value_len; k++)
				right += (t.to[r] > 50) == !isfinite(out[r][k]);
		*at = was;
		clear(&kv, &t);
	}
	ok(right == 6 * s.rows * s.value_len, "%s, attend: NaN and Inf reach who sees them, and nobody else", v->name);
}

static void fill_all(void)
{
	fill(keys[0], sizeof(keys) / sizeof(float), 1);
	fill(values[0], sizeof(values) / sizeof(float), 1);
	fill(queries[0], sizeof(queries) / sizeof(float), 0.3f);
}

int main(void)
{
	for (size_t i = 0; vec_tier(i); i++) {
		const struct vec *v = vec_tier(i);

		if (!v->supported()) {
			skip(v->name, "this processor has no such instructions");
			continue;
		}
		fill_all();
		same_calls(vec_tier(0), v);
		same_attention(v);
		broken_numbers(v);
		extreme_sums(v);
	}
	done();
}
