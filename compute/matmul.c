/* SPDX-License-Identifier: MIT */
#include "finite.h"
#include "kernel/kernel.h"

/* Rows that a thread takes at a time: enough that a new start of the stream of weights does not count. */
enum { ROWS = 128, LEAST_ROWS = 32 };

int mat_type_ok(uint32_t type)
{
	return gguf_can_decode(type);
}

static void multiply(const struct team *t, const struct mat *w, const struct act *a, float *y, size_t stride, size_t from,
		     size_t to)
{
	if (t->look)
		finite_look(t->look, t, (const char *)w->data + from * w->row_bytes, (to - from) * w->row_bytes);
	kernel.mul[w->type](w, a, y, stride, from, to);
}

void mat_mul(const struct mat *w, const struct act *a, float *y, size_t stride, const struct team *t)
{
	bool few = a->tokens <= ACT_SMALL;
	size_t step = few || w->out / t->n < 4 * ROWS ? LEAST_ROWS : ROWS;
	struct team_loop l = team_loop(t, w->out, step);

	l.halves = few;
	for (size_t from, to; team_take(t, &l, &from, &to);)
		multiply(t, w, a, y, stride, from, to);
}

void mat_mul_each(size_t jobs, size_t out, mat_job_fn *job, void *ctx, const struct team *t)
{
	size_t rows = jobs * out / t->n < 4 * ROWS ? LEAST_ROWS : ROWS, steps = (out + rows - 1) / rows;
	struct team_loop l = team_loop(t, jobs * steps, 1);

	for (size_t at, end; team_take(t, &l, &at, &end);)
		while (at < end) {
			size_t i = at / steps, first = at % steps;
			size_t some = steps - first < end - at ? steps - first : end - at;
			struct mat_job j;

			job(ctx, i, &j);
			multiply(t, &j.w, j.a, j.y, j.stride, first * rows,
				 (first + some) * rows < out ? (first + some) * rows : out);
			at += some;
		}
}
