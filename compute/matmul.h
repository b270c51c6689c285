/* SPDX-License-Identifier: MIT */
/*
 * Products of weight matrices with a batch of activations. One order of operations whatever the batch, the tile and the
 * number of threads: a token's result has the same bits alone and in any company.
 */
#ifndef MATMUL_H
#define MATMUL_H
#include "team.h"
#include <stdint.h>

struct gguf_error;

/*
 * Chooses the kernels for this processor, once; act_new does it too. The environment variable GGUF_KERNEL names the
 * best ones to use; a wrong name is -EINVAL.
 */
int mat_init(struct gguf_error *e);
/* The name of the kernels in use. */
const char *mat_tier(void);

/* A weight matrix as it lies in the file: out rows of in values. */
struct mat {
	const void *data;
	size_t in, out;
	size_t row_bytes;
	uint32_t type; /* enum gguf_type */
};

/*
 * Activations of a batch, quantized or packed once for all the matrices that multiply them. Room for tokens x in values
 * is made by act_new; act_load may be called any number of times within it.
 */
struct act;
int act_new(struct act **out, size_t tokens, size_t in); /* 0 or -ENOMEM */
void act_free(struct act *a);
size_t act_bytes(size_t tokens, size_t in); /* what act_new takes, for estimates */
/*
 * Takes tokens rows of in floats, stride floats apart, in the forms that matrices of these types want (types: bit set
 * made by act_form). Where rows is not NULL, row i is taken from x + rows[i] * stride (experts gather their tokens).
 * All threads of the team call it; a barrier is needed before mat_mul.
 */
unsigned act_form(uint32_t type);
void act_load(struct act *a, const struct team *t, unsigned forms, const float *x, size_t stride, const uint32_t *rows,
	      size_t tokens, size_t in);
/*
 * y[i * stride + r] = row r of w times activation row i, for all tokens loaded and rows 0 .. w->out-1. All threads of
 * the team call it, each does a part of the rows; a barrier is needed before y is read.
 */
void mat_mul(const struct mat *w, const struct act *a, float *y, size_t stride, const struct team *t);
/*
 * jobs products of matrices of the same out rows as one loop: no thread waits between them, or has the ends of many
 * shares. job(ctx, i) gives the i-th; it is called any number of times by any thread.
 */
struct mat_job {
	struct mat w;
	const struct act *a;
	float *y;
	size_t stride;
};
typedef void mat_job_fn(void *ctx, size_t i, struct mat_job *job);
void mat_mul_each(size_t jobs, size_t out, mat_job_fn *job, void *ctx, const struct team *t);
/* Whether there is a product for weights of this type at all. */
int mat_type_ok(uint32_t type);
#endif
