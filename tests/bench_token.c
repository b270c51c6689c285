/* SPDX-License-Identifier: MIT */
/* bench_token MODEL TEXT: how long the vocabulary takes to be ready, and how fast it encodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "source.h"
#include "token/token.h"

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The file's text again and again: n bytes. */
static char *repeated(const char *path, size_t n)
{
	FILE *f = fopen(path, "r");
	char *text = malloc(n);
	size_t got = f && text ? fread(text, 1, n, f) : 0;

	if (f)
		fclose(f);
	for (size_t at = got; got && at < n; at += got)
		memcpy(text + at, text, n - at < got ? n - at : got);
	if (got)
		return text;
	free(text);
	return NULL;
}

static int open_vocab(const char *model, struct source **s, struct vocab **v, double *source_ms, double *vocab_ms)
{
	struct gguf_error e;
	double start = now(), opened;
	int err = source_open(s, model, NULL, &e);

	opened = now();
	if (!err)
		err = vocab_open(v, *s, &e);
	*source_ms = (opened - start) * 1e3;
	*vocab_ms = (now() - opened) * 1e3;
	if (err)
		fprintf(stderr, "bench_token: %s: %s\n", model, e.text);
	return err;
}

/* MB/s, best of some rounds. */
static double encode_speed(const struct vocab *v, const char *text, size_t n)
{
	double best = 0;

	for (int round = 0; round < 5; round++) {
		struct tokens t = { 0 };
		double start = now(), speed;

		if (vocab_encode(v, text, n, VOCAB_SPECIAL | VOCAB_PARSE, &t))
			return 0;
		speed = (double)n / 1e6 / (now() - start);
		best = speed > best ? speed : best;
		free(t.id);
	}
	return best;
}

int main(int argc, char **argv)
{
	enum { BYTES = 4000000 };
	struct source *s = NULL;
	struct vocab *v = NULL;
	double source_ms, vocab_ms, english, letters;
	char *text = argc == 3 ? repeated(argv[2], BYTES) : NULL, *a = malloc(BYTES);

	if (!text || !a) {
		fputs("usage: bench_token MODEL TEXT\n", stderr);
		return 2;
	}
	memset(a, 'a', BYTES);
	if (open_vocab(argv[1], &s, &v, &source_ms, &vocab_ms))
		return 1;
	english = encode_speed(v, text, BYTES);
	letters = encode_speed(v, a, BYTES);
	printf("%7zu tokens: file %5.1f ms, vocabulary %5.1f ms, text %6.1f MB/s, 'aaaa...' %6.1f MB/s\n", vocab_size(v),
	       source_ms, vocab_ms, english, letters);
	vocab_close(v);
	source_close(s);
	free(text);
	free(a);
	return 0;
}
