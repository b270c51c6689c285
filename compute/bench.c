/* SPDX-License-Identifier: MIT */
/* gguf-bench: llama-bench's tests and options, beside what the machine itself can do. */
#include "bench.h"
#include "cli.h"
#include "clock.h"
#include "matmul.h"
#include "safe.h"
#include "threads.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *object, const char *text)
{
	fputs("gguf-bench: ", stderr);
	safe_print(stderr, object, strlen(object));
	fputs(": ", stderr);
	safe_print(stderr, text, strlen(text));
	fputc('\n', stderr);
	return 1;
}

/* Any tokens: what they are costs nothing. */
static int feed(struct llm *m, unsigned n, bool one_by_one, float *logits, struct gguf_error *e)
{
	int32_t *ids = calloc(n + 1, sizeof *ids);
	int err = ids ? 0 : gguf_fail(e, -ENOMEM, 0, "no memory for %u tokens", n);

	for (unsigned i = 0; i < n && !err; i++)
		ids[i] = (int32_t)((i * 7919u + 13) % (unsigned)llm_vocab(m));
	if (!one_by_one && n && !err)
		err = llm_eval(m, ids, n, logits, false, e);
	for (unsigned i = 0; one_by_one && i < n && !err; i++)
		err = llm_eval(m, ids + i, 1, logits, false, e);
	free(ids);
	return err;
}

static int run_once(struct llm *m, const struct bench_test *t, float *logits, double *seconds, struct gguf_error *e)
{
	int err = llm_rewind(m, 0);
	double start;

	if (!err)
		err = feed(m, t->depth, false, NULL, e);
	start = clock_now();
	if (!err)
		err = feed(m, t->prompt, false, logits, e);
	if (!err)
		err = feed(m, t->generate, true, logits, e);
	*seconds = clock_now() - start;
	return err;
}

/* In the same minute as the test. More threads than processors would show no more of the machine. */
static int add_limits(struct bench_limits *l, struct bench_test *t, struct gguf_error *e)
{
	unsigned allowed = threads_allowed();
	int err = bench_limits(l, t->threads < allowed ? t->threads : allowed);

	t->limits = l;
	return err ? gguf_fail(e, err, 0, "the machine's limits cannot be measured: %s", strerror(-err)) : 0;
}

static int run_test(struct llm *m, const struct bench *b, const struct bench_model *model, struct bench_test *t,
		    struct gguf_error *e)
{
	float *logits = malloc(llm_vocab(m) * sizeof *logits);
	double s, sum = 0, squares = 0, tokens = t->prompt + t->generate;
	int err = logits ? run_once(m, t, logits, &s, e) : gguf_fail(e, -ENOMEM, 0, "no memory for logits");

	for (unsigned i = 0; i < b->runs && !err; i++) {
		err = run_once(m, t, logits, &s, e);
		sum += tokens / s;
		squares += tokens / s * (tokens / s);
	}
	free(logits);
	if (err)
		return err;
	t->rate = sum / b->runs;
	t->spread = b->runs > 1 ? sqrt(fmax(0, squares - sum * t->rate) / (b->runs - 1)) : 0;
	t->bytes = t->prompt ? 0 : t->rate * model->read;
	t->macs = t->rate * (model->macs + model->head_macs * (t->generate + (t->prompt ? 1 : 0)) / tokens);
	return 0;
}

/* The tests of one depth. Returns how many. */
static size_t list_tests(const struct bench *b, unsigned depth, struct bench_test *tests)
{
	size_t n = 0;

	for (unsigned i = 0; i < b->prompt.n; i++)
		if (b->prompt.v[i])
			tests[n++] = (struct bench_test){ .prompt = b->prompt.v[i], .depth = depth };
	for (unsigned i = 0; i < b->generate.n; i++)
		if (b->generate.v[i])
			tests[n++] = (struct bench_test){ .generate = b->generate.v[i], .depth = depth };
	for (unsigned i = 0; i < b->both.n; i += 2)
		if (b->both.v[i] || b->both.v[i + 1])
			tests[n++] = (struct bench_test){ .prompt = b->both.v[i], .generate = b->both.v[i + 1], .depth = depth };
	return n;
}

/* The most positions that a test needs; no more than a number of that many bits. */
static unsigned context_for(const struct bench *b)
{
	struct bench_test tests[BENCH_TESTS];
	uint64_t most = 1;

	for (unsigned d = 0; d < b->depth.n; d++) {
		size_t n = list_tests(b, b->depth.v[d], tests);

		for (size_t i = 0; i < n; i++) {
			uint64_t tokens = (uint64_t)tests[i].prompt + tests[i].generate + tests[i].depth;

			most = tokens > most ? tokens : most;
		}
	}
	return most < UINT32_MAX ? (unsigned)most : UINT32_MAX;
}

/* All tests with number i of threads. */
static int bench_threads(struct bench *b, struct source *s, const struct bench_model *model, unsigned number,
			 struct gguf_error *e)
{
	struct llm_options o = { .threads = b->threads.v[number], .context = context_for(b), .batch = b->batch, .k = b->k,
				 .v = b->v };
	struct bench_test tests[BENCH_TESTS];
	struct llm *m = NULL;
	int err = llm_open(&m, s, &o, e);

	for (unsigned d = 0; d < b->depth.n && !err; d++) {
		size_t n = list_tests(b, b->depth.v[d], tests);

		for (size_t i = 0; i < n && !err; i++) {
			tests[i].threads = llm_threads(m);
			err = run_test(m, b, model, &tests[i], e);
			err = err ? err : add_limits(&b->limits[number], &tests[i], e);
			if (!err)
				b->format->row(model, &tests[i], b->rows++ == 0);
		}
	}
	if (m)
		llm_close(m);
	return err;
}

static int bench_model(struct bench *b, const char *path)
{
	struct gguf_error e = { 0 };
	struct bench_model model = { .path = path };
	struct source *s;
	int err = source_open(&s, path, &(struct source_options){ .mode = b->mode, .overrides = &b->overrides }, &e);

	if (err)
		return fail(path, e.text);
	bench_weigh(s, &model);
	for (unsigned i = 0; i < b->threads.n && !err; i++)
		err = bench_threads(b, s, &model, i, &e);
	source_close(s);
	return err ? fail(path, e.text) : 0;
}

static int run_kernels(struct bench *b)
{
	int err = 0;

	for (unsigned i = 0; i < b->threads.n && !err; i++) {
		unsigned threads = b->threads.v[i] ? b->threads.v[i] : threads_allowed();

		err = bench_kernels(threads, b->type);
		err = err ? err : bench_limits(&b->limits[i], threads);
	}
	b->format->end(b->limits, b->threads.n);
	return err ? fail(b->type ? b->type : "kernels", strerror(-err)) : 0;
}

static bool any(const struct bench_list *l)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->v[i])
			return true;
	return false;
}

static int run_models(struct bench *b)
{
	int status = 0;

	b->format->begin();
	for (unsigned i = 0; i < b->models.n && !status; i++)
		status = bench_model(b, b->models.path[i]);
	b->format->end(b->limits, b->threads.n);
	return status;
}

/* Whether a message says what is wrong with the options. */
static bool wrong_use(const struct bench *b)
{
	if (!b->runs)
		return fail("-r", "at least one run is wanted");
	if (!b->batch)
		return fail("-b", "at least one token is computed at once");
	if (!b->kernels && !any(&b->prompt) && !any(&b->generate) && !any(&b->both))
		return fail("-p, -n, -pg", "nothing to measure: all are 0");
	if (b->kernels && (b->models.n || b->format != bench_format("md")))
		return fail("--kernels", "takes no model, and prints a table only");
	if (b->type && !b->kernels)
		return fail("--type", "is for --kernels");
	if (b->type && gguf_type_find(b->type) < 0)
		return fail(b->type, "no such type");
	return !b->kernels && !b->models.n && fail("-m", "no model given");
}

int main(int argc, char **argv)
{
	struct bench b = { .runs = 5, .batch = 512, .format = bench_format("md") };
	const struct opt_table tables[] = { { bench_options, &b }, { 0 } };
	struct cli c = { 0 };
	struct gguf_error e = { 0 };
	const char **words = calloc((size_t)argc, sizeof *words);
	const char *wrong = NULL;
	size_t n_words = 0;

	cli_start(&c, argv[0]);
	if (!words || opt_parse(tables, argc, argv, words, &n_words)) {
		free(words);
		return 2;
	}
	for (size_t i = 0; i < n_words && !wrong; i++)
		wrong = bench_add_model(&b.models, words[i]);
	free(words);
	if (wrong) {
		fail("-m", wrong);
		return 2;
	}
	if (b.help) {
		puts("usage: gguf-bench [options] [-m] MODEL...");
		opt_help(tables);
		return cli_end(&c, 0);
	}
	if (b.version) {
		cli_version(&c);
		return cli_end(&c, 0);
	}
	bench_defaults(&b);
	if (mat_init(&e))
		return fail("kernels", e.text);
	if (wrong_use(&b)) {
		opt_try_help("gguf-bench");
		return 2;
	}
	return cli_end(&c, b.kernels ? run_kernels(&b) : run_models(&b));
}
