/* SPDX-License-Identifier: MIT */
/*
 * How surprised a model is by a text (perplexity), and how far its probabilities are from those of another
 * (Kullback-Leibler divergence), with llama-perplexity's arithmetic and file of base probabilities.
 */
#ifndef DIVERGENCE_H
#define DIVERGENCE_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Surprise at id, in nats, of n logits. */
double surprise(const float *logits, size_t n, int32_t id);

/*
 * Log probabilities of a position as the file keeps them: two floats, step and lowest (16 below the top at most), then
 * 16 bits a token, an even number of them.
 */
size_t packed_words(size_t n);
void pack_position(uint16_t *out, const float *logits, size_t n);

/* One position, compared. */
struct compared {
	double nll, nll_base; /* surprises at the token that follows */
	double kld;
	double dp;            /* its probability, less that of the base */
	int same_top;
};
void compare_position(struct compared *out, const float *logits, const uint16_t *base, size_t n, int32_t id);

struct mean { double value, error; };
/* Of n values, with the standard error. */
struct mean mean_of(double sum, double squares, size_t n);

/* All positions so far, and room for them. */
struct comparison {
	struct compared *at;
	size_t n;
};
/* One line, as after each chunk, and the whole report. The latter sorts; it needs 100 positions. */
void comparison_line(FILE *f, unsigned chunk, const struct comparison *c);
int comparison_report(FILE *f, const struct comparison *c);
#endif
