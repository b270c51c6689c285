/* SPDX-License-Identifier: MIT */
#include "layer.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool layer_number(struct gguf_bytes digits, uint64_t *number)
{
	if (!digits.n || digits.n > 9 || (digits.n > 1 && digits.p[0] == '0'))
		return false;
	*number = 0;
	for (size_t i = 0; i < digits.n; i++) {
		if (digits.p[i] < '0' || digits.p[i] > '9')
			return false;
		*number = *number * 10 + (uint64_t)(digits.p[i] - '0');
	}
	return true;
}

bool layer_split(struct gguf_bytes name, uint64_t *number, struct gguf_bytes *rest)
{
	const char *digits = name.p + 4, *dot;

	if (name.n < 4 || memcmp(name.p, "blk.", 4) != 0)
		return false;
	dot = memchr(digits, '.', name.n - 4);
	if (!dot || !layer_number((struct gguf_bytes){ digits, (size_t)(dot - digits) }, number))
		return false;
	*rest = (struct gguf_bytes){ dot + 1, name.n - (size_t)(dot + 1 - name.p) };
	return true;
}

/* A tensor that is in a layer. */
struct member {
	uint32_t layer, tensor;
};

/* By layer, then in the order of the file; no two are equal, so that any sort gives the same. */
static int compare(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->layer != y->layer)
		return x->layer < y->layer ? -1 : 1;
	return x->tensor < y->tensor ? -1 : x->tensor > y->tensor;
}

/* Fills m, which has room for every tensor, and sorts it. Returns how many are in a layer. */
static size_t collect(const struct gguf *g, struct member *m)
{
	struct gguf_bytes rest;
	uint64_t number;
	size_t n = 0;

	for (size_t i = 0; i < gguf_tensor_count(g); i++)
		if (layer_split(gguf_tensor(g, i)->name, &number, &rest))
			m[n++] = (struct member){ (uint32_t)number, (uint32_t)i };
	qsort(m, n, sizeof *m, compare);
	return n;
}

/* From sorted members to layers; both tables of l have room. */
static void group(struct layers *l, const struct member *m, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		l->members[i] = m[i].tensor;
		if (!i || m[i].layer != m[i - 1].layer)
			l->layers[l->count++] = (struct layer){ .number = m[i].layer, .first = i };
		l->layers[l->count - 1].count++;
	}
	l->member_count = n;
}

static size_t count_layers(const struct member *m, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += !i || m[i].layer != m[i - 1].layer;
	return count;
}

int layers_build(struct layers *l, const struct gguf *g)
{
	struct member *m = malloc((gguf_tensor_count(g) + 1) * sizeof *m);
	size_t n;

	*l = (struct layers){ 0 };
	if (!m)
		return -ENOMEM;
	n = collect(g, m);
	l->members = malloc((n + 1) * sizeof *l->members);
	l->layers = calloc(count_layers(m, n) + 1, sizeof *l->layers);
	if (l->members && l->layers)
		group(l, m, n);
	free(m);
	return l->members && l->layers ? 0 : -ENOMEM;
}

void layers_free(struct layers *l)
{
	free(l->layers);
	free(l->members);
	*l = (struct layers){ 0 };
}

ssize_t layers_find(const struct layers *l, uint64_t number)
{
	size_t low = 0, high = l->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->layers[middle].number == number)
			return (ssize_t)middle;
		if (l->layers[middle].number < number)
			low = middle + 1;
		else
			high = middle;
	}
	return -ENOENT;
}
