/* SPDX-License-Identifier: MIT */
/* Options of the samplers, a word a line up to an empty one, then logits: what is picked is always a token. */
#include "fuzz.h"
#include "sample_opt.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORDS_MOST = 64, VOCABULARY_MOST = 300, PICKS = 6 };

static int split(char **argv, struct fuzz_rest *r)
{
	struct gguf_bytes word;
	int argc = 1;

	while (argc < WORDS_MOST && (word = fuzz_part(r, '\n')).n) {
		argv[argc] = strndup(word.p, word.n);
		if (!argv[argc++])
			abort();
	}
	argv[argc] = NULL;
	return argc;
}

static int parse(struct sample_args *a, int argc, char **argv)
{
	const struct opt_table tables[] = { { sample_options, a }, { NULL, NULL } };
	static FILE *nowhere;
	const char *words[WORDS_MOST];
	FILE *kept = stderr;
	size_t n;
	int err;

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	stderr = nowhere;
	err = opt_parse(tables, argc, argv, words, &n);
	stderr = kept;
	return err;
}

static void pick(const struct sampler_options *o, const float *logits, size_t n)
{
	float *before = malloc(n * sizeof *before);
	struct gguf_error e = { 0 };
	struct sampler *s;
	int err = sampler_new(&s, o, n, NULL, &e);

	if (!before || (err && (err != -EINVAL || !e.text[0])))
		abort();
	memcpy(before, logits, n * sizeof *before);
	for (int i = 0; !err && i < PICKS; i++) {
		int32_t id = sampler_pick(s, logits);

		if (id < 0 || (size_t)id >= n || memcmp(before, logits, n * sizeof *before))
			abort();
		sampler_accept(s, id);
	}
	if (!err)
		sampler_free(s);
	free(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sample_args a;
	struct fuzz_rest r = { data, size };
	char *argv[WORDS_MOST + 1] = { "program" };
	float logits[VOCABULARY_MOST] = { 0 };
	int argc = split(argv, &r);
	size_t n = r.n / sizeof *logits;

	n = n < 1 ? 1 : n > VOCABULARY_MOST ? VOCABULARY_MOST : n;
	if (r.n)
		memcpy(logits, r.p, r.n < n * sizeof *logits ? r.n : n * sizeof *logits);
	sample_args_init(&a, &sampler_defaults);
	if (!parse(&a, argc, argv)) {
		a.o.context = 64;
		a.o.seed = a.o.seed == UINT32_MAX ? 1 : a.o.seed;
		pick(&a.o, logits, n);
	}
	while (--argc)
		free(argv[argc]);
	return 0;
}
