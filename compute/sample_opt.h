/* SPDX-License-Identifier: MIT */
/* The samplers' options, for programs that sample. */
#ifndef SAMPLE_OPT_H
#define SAMPLE_OPT_H
#include "opt.h"
#include "sample.h"

enum { SAMPLE_BIASES = 256, SAMPLE_BREAKERS = 32 };
/* Options with the lists that they point to; not to be moved once parsed. */
struct sample_args {
	struct sampler_options o;
	struct sampler_bias bias[SAMPLE_BIASES];
	const char *breaker[SAMPLE_BREAKERS + 1];
	size_t breakers;
	bool ignore_eos;
};
extern const struct opt sample_options[];
/* o becomes base, the lists are emptied. */
void sample_args_init(struct sample_args *a, const struct sampler_options *base);
/* Adds a bias; false when there is no room. */
bool sample_args_bias(struct sample_args *a, int32_t id, float bias);
#endif
