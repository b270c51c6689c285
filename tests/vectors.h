/* SPDX-License-Identifier: MIT */
/* Reference data of the engine's tests: files of floats and of token ids below $shared. */
#ifndef VECTORS_H
#define VECTORS_H
#include "llm.h"
#include "source.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline char *vectors_path(const char *a, const char *b)
{
	static char path[4][700];
	static int next;
	const char *shared = getenv("shared");

	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[next]), "%s/%s%s%s", shared ? shared : "", a, *b ? "/" : "", b);
	return path[next];
}

/* The file's floats, to be freed. NULL when it cannot be read. */
static inline float *vectors_floats(const char *path, size_t *n)
{
	FILE *f = fopen(path, "r");
	float *p = NULL;
	long size;

	if (!f)
		return NULL;
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	*n = (size_t)size / sizeof(*p);
	p = malloc((size_t)size + 1);
	if (p && fread(p, sizeof(*p), *n, f) != *n)
		*n = 0;
	fclose(f);
	return p;
}

/* Ids after the word, up to the end of the line; without a word those of the file. Returns how many. */
static inline size_t vectors_ids(const char *path, const char *word, int32_t *ids, size_t room)
{
	FILE *f = fopen(path, "r");
	char *line = NULL, *p = NULL;
	size_t cap = 0, n = 0, skip = word ? strlen(word) : 0;

	while (f && !p && getline(&line, &cap, f) > 0)
		if (!word || !strncmp(line, word, skip))
			p = line + skip;
	for (char *end; p && n < room; p = end) {
		long v = strtol(p, &end, 10);

		if (end == p)
			break;
		ids[n++] = (int32_t)v;
	}
	free(line);
	if (f)
		fclose(f);
	return n;
}

static inline double vectors_distance(const float *a, const float *b, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		double d = fabs((double)a[i] - b[i]);

		if (!(d <= most))
			most = d;
	}
	return most;
}

static inline double log_sum(const float *x, size_t n)
{
	double most = x[0], sum = 0;

	for (size_t i = 1; i < n; i++)
		most = x[i] > most ? x[i] : most;
	for (size_t i = 0; i < n; i++)
		sum += exp(x[i] - most);
	return most + log(sum);
}

/* Mean over rows of KL(softmax(p) to softmax(q)). */
static inline double vectors_kl(const float *p, const float *q, size_t rows, size_t n)
{
	double sum = 0;

	for (size_t r = 0; r < rows; r++, p += n, q += n) {
		double lp = log_sum(p, n), lq = log_sum(q, n);

		for (size_t i = 0; i < n; i++)
			sum += exp(p[i] - lp) * ((p[i] - lp) - (q[i] - lq));
	}
	return sum / (double)rows;
}

static inline int32_t vectors_best(const float *x, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		if (x[i] > x[best])
			best = i;
	return (int32_t)best;
}

struct opened {
	struct source *s;
	struct llm *m;
	struct gguf_error e;
};

static inline int vectors_open(struct opened *o, const char *path, const struct llm_options *opt)
{
	int err;

	*o = (struct opened){ 0 };
	err = source_open(&o->s, path, NULL, &o->e);
	return err ? err : llm_open(&o->m, o->s, opt, &o->e);
}

static inline void vectors_close(struct opened *o)
{
	llm_close(o->m);
	source_close(o->s);
}
#endif
