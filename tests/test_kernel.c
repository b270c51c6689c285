/* SPDX-License-Identifier: MIT */
/*
 * Every tier against plain C, to the last bit: all types, odd sizes, 1 to 33 tokens, 1 to 3 threads, with guards round
 * the results and behind the weights. And plain C against sums in double.
 */
#include "kernel.h"
#include "block.h"
#include "fma.h"
#include "tap.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_OUT = 131, MAX_IN = 4480, MAX_TOKENS = 33, GUARD = 16 };
#define GUARD_BITS 0xdeadbeef

static uint64_t random_state = 88172645463325252u;

static uint32_t random32(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32);
}

static float random_float(void)
{
	return ((float)(random32() >> 8) * 0x1p-23f - 1) * exp2f((float)(random32() % 8) - 4);
}

static bool moderate(const float *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(fabsf(v[i]) < 1e19f))
			return false;
	return true;
}

/* Blocks of random bytes whose values are neither huge nor NaN. */
static void random_blocks(uint8_t *p, uint32_t type, size_t n)
{
	size_t bytes = gguf_type_bytes(type);
	float v[256];

	for (; n--; p += bytes)
		do {
			for (size_t i = 0; i < bytes; i++)
				p[i] = (uint8_t)(random32() >> 11);
			gguf_decode(type, v, p, 1);
		} while (!moderate(v, gguf_type_values(type)));
}

struct job {
	struct mat w;
	struct act *a;
	float *x, *y;
	size_t tokens, stride;
	const uint32_t *rows;
};

static void work(const struct team *t, void *ctx)
{
	struct job *j = ctx;

	act_load(j->a, t, act_form(j->w.type), j->x, j->w.in, j->rows, j->tokens, j->w.in);
	team_barrier(t);
	mat_mul(&j->w, j->a, j->y, j->stride, t);
}

/* Bits of the guard: in the rows' gaps and at both ends. */
static void fill_guards(uint32_t *y, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] = GUARD_BITS;
}

static bool guards_stand(const struct job *j, const uint32_t *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = i - GUARD, row = at % j->stride;
		bool result = i >= GUARD && at / j->stride < j->tokens && row < j->w.out;

		if (!result && all[i] != GUARD_BITS)
			return false;
	}
	return true;
}

static int run(struct job *j, unsigned threads, float *all, size_t n)
{
	struct team_barrier *b;
	int err = team_new(&b, threads);

	if (err)
		return err;
	fill_guards((uint32_t *)all, n);
	j->y = all + GUARD;
	team_run(b, 0, work, j);
	team_free(b);
	return guards_stand(j, (const uint32_t *)all, n) ? 0 : 1;
}

static float *activation(const struct job *j, size_t token)
{
	return j->x + (j->rows ? j->rows[token] : token) * j->w.in;
}

/* Activation k of a token as the kernels have it. */
static double rounded(const struct job *j, size_t token, size_t k)
{
	struct act_row x = act_row(j->a, token);
	size_t at = k / 32 * x.step;
	float v = activation(j, token)[k];

	if (kernel_is_int(j->w.type))
		return (double)x.d[at] * x.q[at * 32 + k % 32];
	if (j->w.type == GGUF_TYPE_BF16)
		gguf_decode(GGUF_TYPE_BF16, &v, &j->a->h[token * j->a->blocks * 32 + k], 1);
	return v;
}

/* Whether y is the product of the decoded weights with the activations as they were rounded. */
static bool near_exact(const struct job *j, size_t r, size_t t)
{
	size_t bytes = gguf_type_bytes(j->w.type), values = gguf_type_values(j->w.type);
	const uint8_t *row = (const uint8_t *)j->w.data + r * j->w.row_bytes;
	double sum = 0, most = 0, lost = j->w.type == GGUF_TYPE_BF16 ? (double)j->w.in * 0x1p-126 * 16 : 0; /* flushed */

	for (size_t k = 0; k < j->w.in; k++) {
		float w[256], largest = 0;
		double v = rounded(j, t, k);

		gguf_decode(j->w.type, w, row + k / values * bytes, 1);
		for (size_t i = 0; i < values; i++)
			largest = fmaxf(largest, fabsf(w[i]));
		sum += v * w[k % values];
		most += fabs(v) * largest;
	}
	return fabs(sum - (double)j->y[t * j->stride + r]) <= (double)(j->w.in / 16 + 20) * 0x1p-23 * most + lost;
}

static const struct { size_t in, out, tokens; unsigned threads; bool gather; } shapes[] = {
	{ 256, 1, 1, 1, false }, { 256, 17, 1, 2, false }, { 768, 131, 1, 3, false }, { 2048, 64, 1, 1, false },
	{ 512, 33, 2, 1, false }, { 256, 15, 3, 1, false }, { 512, 48, 4, 2, false }, { 256, 40, 5, 1, true },
	{ 768, 31, 6, 1, false }, { 256, 65, 7, 1, true }, { 1024, 20, 8, 1, false }, { 512, 36, 9, 1, false },
	{ 256, 16, 12, 3, true }, { 512, 99, 16, 2, false }, { 256, 70, 33, 1, false }, { 1280, 32, 33, 3, true },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };
/* What only types of single values can have. */
static const size_t odd_in[] = { 1, 15, 17, 31, 4451, 33, 100, 250, 257, 1000 };

/* Rows of small blocks end, in some shapes, in fewer than kernels take at a time. */
static size_t width(uint32_t type, size_t shape)
{
	size_t values = gguf_type_values(type);

	if (values == 1)
		return odd_in[shape % (sizeof odd_in / sizeof *odd_in)];
	return shapes[shape].in + (values == 32 && shape % 4 == 1 ? 96 : 0);
}

struct buffers {
	uint8_t *w, *w_end; /* behind it is a page that nobody may read */
	float *x, *want, *got;
	uint32_t rows[MAX_TOKENS];
	size_t n;
	struct act *a;
};

static struct job make_job(struct buffers *b, uint32_t type, size_t shape)
{
	size_t in = width(type, shape), row_bytes = in / gguf_type_values(type) * gguf_type_bytes(type);
	uint8_t *w = b->w_end - row_bytes * shapes[shape].out;
	struct job j = { .w = { w, in, shapes[shape].out, row_bytes, type }, .a = b->a, .x = b->x,
			 .tokens = shapes[shape].tokens, .stride = shapes[shape].out + 3,
			 .rows = shapes[shape].gather ? b->rows : NULL };

	random_blocks(w, type, in / gguf_type_values(type) * j.w.out);
	for (size_t i = 0; i < in * MAX_TOKENS; i++)
		b->x[i] = random_float();
	for (size_t t = 0; t < MAX_TOKENS; t++)
		b->rows[t] = random32() % MAX_TOKENS;
	return j;
}

static void check_scalar(struct buffers *b, uint32_t type, size_t shape)
{
	struct job j = make_job(b, type, shape);
	int err = kernel_select("scalar");
	size_t wrong = 0;

	err = err ? err : run(&j, 1, b->want, b->n);
	for (size_t t = 0; t < j.tokens && !err; t += 4)
		for (size_t r = 0; r < j.w.out; r += 5)
			wrong += !near_exact(&j, r, t);
	ok(!err && !wrong, "scalar %s %zux%zu, %zu tokens: near the exact sums", gguf_type_name(type), j.w.in, j.w.out,
	   j.tokens);
}

static size_t differing(const struct buffers *b)
{
	size_t wrong = 0;

	for (size_t i = 0; i < b->n; i++)
		wrong += memcmp(&b->want[i], &b->got[i], sizeof *b->got) != 0;
	return wrong;
}

static void check_tier(struct buffers *b, const struct kernel_tier *tier, uint32_t type)
{
	for (size_t s = 0; s < SHAPES; s++) {
		struct job j = make_job(b, type, s);
		int err = kernel_select("scalar");

		err = err ? err : run(&j, 1, b->want, b->n);
		err = err ? err : kernel_select(tier->name);
		err = err ? err : run(&j, shapes[s].threads, b->got, b->n);
		size_t wrong = err ? 0 : differing(b);

		if (!ok(!err && !wrong, "%s %s %zux%zu, %zu tokens, %u threads: bits of plain C", tier->name,
			gguf_type_name(type), j.w.in, j.w.out, j.tokens, shapes[s].threads))
			printf("# error %d, %zu results differ\n", err, wrong);
	}
}

static void check_act(const struct kernel_tier *tier)
{
	static const float special[] = { 0, -0.0f, 1, -1, 1e-45f, 1e-38f, 3e38f, INFINITY, NAN, 0.5f, 127, 126.5f };
	float x[64];
	int8_t q[2][64];
	uint16_t h[2][64];
	float d[2][4];
	int32_t n[2][6];
	size_t wrong = 0;

	for (int round = 0; round < 2000; round++) {
		for (int i = 0; i < 64; i++)
			x[i] = round % 4 ? random_float() : special[random32() % (8 + (unsigned)round % 5)];
		for (int k = 0; k < 2; k++) {
			struct act_row row = { q[k], d[k], d[k] + 2, n[k], n[k] + 2, 1 };

			kernel_select(k ? tier->name : "scalar");
			kernel.quantize(&row, x, 0, 2);
			kernel.round(h[k], x, 64);
		}
		wrong += memcmp(h[0], h[1], sizeof *h) || memcmp(q[0], q[1], sizeof *q) || memcmp(n[0], n[1], sizeof *n);
		for (int i = 0; i < 4; i++)
			wrong += memcmp(&d[0][i], &d[1][i], sizeof **d) && !(isnan(d[0][i]) && isnan(d[1][i]));
	}
	ok(!wrong, "%s: activations are rounded as in plain C", tier->name);
}

static float any_float(void)
{
	uint32_t bits = random32();
	float f;

	if (random32() % 4)
		bits = (bits & 0x80ffffff) | (118 + random32() % 20) << 23; /* near 1, so that sums cancel */
	memcpy(&f, &bits, sizeof f);
	return f;
}

static void check_fma(void)
{
	size_t wrong = 0;

	for (int i = 0; i < 1000000; i++) {
		float a = any_float(), b = any_float(), c = i % 3 ? any_float() : -a * b;
		float want = fmaf(a, b, c), got = fma_exact(a, b, c);

		wrong += memcmp(&want, &got, sizeof got) && !(isnan(want) && isnan(got));
	}
	ok(!wrong, "fma_exact is fmaf");
}

static void check_names(void)
{
	const char *lowest = kernel_tiers[0]->name, *next = kernel_tiers[1] ? kernel_tiers[1]->name : "none";

	ok(kernel_select("no such tier") != 0, "a wrong name is refused");
	ok(!kernel_is_above(lowest, next) && !kernel_is_above(next, next) && !kernel_is_above("none", lowest) &&
	   kernel_is_above(next, lowest) == (kernel_tiers[1] != NULL), "tiers are above those before them");
	ok(kernel_select(NULL) == 0 && mat_tier(), "the best tier here: %s", mat_tier());
}

static void check_all(struct buffers *b)
{
	for (uint32_t type = 0; type < GGUF_TYPE_LIMIT; type++)
		for (size_t s = 0; mat_type_ok(type) && s < SHAPES; s += 3)
			check_scalar(b, type, s);
	for (const struct kernel_tier *const *t = kernel_tiers + 1; *t; t++) {
		if (!(*t)->supported()) {
			skip((*t)->name, "this processor lacks it");
			continue;
		}
		check_act(*t);
		for (uint32_t type = 0; type < GGUF_TYPE_LIMIT; type++)
			if (mat_type_ok(type))
				check_tier(b, *t, type);
	}
}

/* Weights may be the last bytes of a mapped file: what reads beyond them is to be seen. */
static void map_weights(struct buffers *b)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = ((size_t)MAX_OUT * MAX_IN * 8 + page - 1) / page * page;

	b->w = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b->w == MAP_FAILED || mprotect(b->w + size, page, PROT_NONE))
		b->w = NULL;
	else
		b->w_end = b->w + size;
}

int main(void)
{
	struct buffers b = { .n = 2 * GUARD + MAX_TOKENS * (MAX_OUT + 3) };

	map_weights(&b);
	b.x = malloc(MAX_TOKENS * MAX_IN * sizeof *b.x);
	b.want = malloc(b.n * sizeof *b.want);
	b.got = malloc(b.n * sizeof *b.got);
	if (ok(b.w && b.x && b.want && b.got && !act_new(&b.a, MAX_TOKENS, MAX_IN), "memory")) {
		check_names();
		check_fma();
		check_all(&b);
		act_free(b.a);
	}
	free(b.x);
	free(b.want);
	free(b.got);
	done();
}
