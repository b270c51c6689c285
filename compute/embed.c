/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/* gguf-embed: texts as vectors. */
#include "cli.h"
#include "token/token.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct embed {
	struct cli cli;
	const char *file, *text, *separator;
	int pooling, normalize;
	unsigned format;

	struct source *source;
	struct vocab *vocab;
	struct llm *llm;
	float *states;  /* of a text's tokens */
	float *out;     /* n vectors of width values */
	size_t n, width;
};

static const struct word { const char *name; int value; } poolings[] = {
	{ "none", LLM_POOL_NONE }, { "mean", LLM_POOL_MEAN }, { "cls", LLM_POOL_CLS }, { "last", LLM_POOL_LAST },
}, formats[] = { { "", 0 }, { "array", 1 }, { "json", 2 }, { "json+", 3 }, { "raw", 4 } };
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static const char *read_pooling(void *field, const char *value)
{
	for (size_t i = 0; i < COUNT(poolings); i++)
		if (!strcmp(poolings[i].name, value)) {
			*(int *)field = poolings[i].value;
			return NULL;
		}
	return "none of none, mean, cls and last";
}

static const char *read_format(void *field, const char *value)
{
	for (size_t i = 0; i < COUNT(formats); i++)
		if (!strcmp(formats[i].name, value)) {
			*(unsigned *)field = (unsigned)formats[i].value;
			return NULL;
		}
	return "none of \"\", array, json, json+ and raw";
}

#define AT(field) offsetof(struct embed, field)
static const struct opt rows[] = {
	{ "Texts", NULL, NULL, OPT_GROUP, 0, NULL },
	{ "-p, --prompt", "TEXT", "the texts", OPT_TEXT, AT(text), NULL },
	{ "-f, --file", "PATH", "a file of texts; -: standard input", OPT_TEXT, AT(file), NULL },
	{ "--embd-separator", "TEXT", "what stands between two texts; a line end without it", OPT_TEXT, AT(separator), NULL },
	{ "Vectors", NULL, NULL, OPT_GROUP, 0, NULL },
	{ "--pooling", "KIND", "none, mean, cls or last: tokens to one vector; else what the model says", OPT_CALL, AT(pooling),
	  read_pooling },
	{ "--embd-normalize, --embedding-normalize", "N", "-1: not; 0: largest is 32760; 1: taxicab; 2: Euclid; N: p-norm", OPT_INT,
	  AT(normalize), NULL },
	{ "--embd-output-format", "FORM", "\"\", array, json, json+ (with similarities) or raw", OPT_CALL, AT(format), read_format },
	{ 0 },
};

/* ---- vectors ---- */

static double p_norm(const float *x, size_t n, int p)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += pow(fabs((double)x[i]), p);
	return pow(sum, 1.0 / p);
}

static double largest(const float *x, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, fabs((double)x[i]));
	return most;
}

static void normalize(float *x, size_t n, int kind)
{
	double size = kind < 0 ? 1 : kind == 0 ? largest(x, n) / 32760 : p_norm(x, n, kind);

	for (size_t i = 0; i < n && size > 0; i++)
		x[i] = (float)(x[i] / size);
}

static double similarity(const float *a, const float *b, size_t n)
{
	double ab = 0, aa = 0, bb = 0;

	for (size_t i = 0; i < n; i++) {
		ab += (double)a[i] * b[i];
		aa += (double)a[i] * a[i];
		bb += (double)b[i] * b[i];
	}
	return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : aa == bb;
}

static void mean(const float *states, size_t tokens, size_t width, float *y)
{
	for (size_t i = 0; i < width; i++) {
		double sum = 0;

		for (size_t t = 0; t < tokens; t++)
			sum += states[t * width + i];
		y[i] = (float)(sum / (double)tokens);
	}
}

/* Room for n more vectors, at *y. */
static int grow(struct embed *e, size_t n, float **y)
{
	float *p = realloc(e->out, (e->n + n) * e->width * sizeof(*p));

	if (!p)
		return cli_error(&e->cli, NULL, "out of memory");
	e->out = p;
	*y = p + e->n * e->width;
	e->n += n;
	return 0;
}

static int pool(struct embed *e, size_t tokens)
{
	size_t n = e->pooling == LLM_POOL_NONE ? tokens : 1;
	float *y = NULL;

	if (grow(e, n, &y))
		return 1;
	if (e->pooling == LLM_POOL_MEAN)
		mean(e->states, tokens, e->width, y);
	else
		memcpy(y, e->pooling == LLM_POOL_LAST ? e->states + (tokens - 1) * e->width : e->states,
		       n * e->width * sizeof(*y));
	for (size_t i = 0; i < n; i++)
		normalize(y + i * e->width, e->width, e->normalize);
	return 0;
}

static int embed_text(struct embed *e, const char *text, size_t n)
{
	struct gguf_error error = { 0 };
	struct tokens t = { 0 };
	int err = vocab_encode(e->vocab, text, n, VOCAB_SPECIAL | VOCAB_PARSE, &t);

	if (err)
		return cli_error(&e->cli, "text", "%s", strerror(-err));
	if (!t.n)
		return cli_error(&e->cli, "text", "it has no tokens");
	e->states = malloc(t.n * e->width * sizeof(*e->states));
	llm_rewind(e->llm, 0);
	err = e->states ? llm_embed(e->llm, t.id, t.n, e->states, &error) : -ENOMEM;
	if (err)
		err = error.code ? cli_fail(&e->cli, err == -EBADMSG ? e->cli.model : "text", &error)
				 : cli_error(&e->cli, NULL, "out of memory");
	else
		err = pool(e, t.n);
	free(e->states);
	free(t.id);
	return err;
}

static int embed_all(struct embed *e, const char *text, size_t n)
{
	const char *between = e->separator && *e->separator ? e->separator : "\n", *end = text + n;
	size_t skip = strlen(between);

	for (const char *p = text, *next; p < end; p = next + skip) {
		next = memmem(p, (size_t)(end - p), between, skip);
		if (!next)
			next = end;
		if (next > p && embed_text(e, p, (size_t)(next - p)))
			return 1;
		if (next == end)
			break;
	}
	return e->n ? 0 : cli_error(&e->cli, "text", "it is empty");
}

/* ---- output ---- */

static void print_numbers(const float *x, size_t n, const char *between, int kind)
{
	for (size_t i = 0; i < n; i++)
		printf(kind == 0 ? "%s%.0f" : "%s%.7f", i ? between : "", (double)x[i]);
}

static void print_plain(const struct embed *e)
{
	for (size_t i = 0; i < e->n; i++) {
		printf("embedding %zu: ", i);
		print_numbers(e->out + i * e->width, e->width, " ", e->normalize);
		putchar('\n');
	}
	for (size_t i = 0; e->n > 1 && i < e->n; i++)
		for (size_t j = 0; j < e->n; j++)
			printf("%s%.2f%s", i || j ? "" : "\ncosine similarity matrix:\n\n",
			       similarity(e->out + i * e->width, e->out + j * e->width, e->width),
			       j + 1 < e->n ? " " : "\n");
}

static void print_raw(const struct embed *e)
{
	for (size_t i = 0; i < e->n; i++) {
		print_numbers(e->out + i * e->width, e->width, " ", e->normalize);
		putchar('\n');
	}
}

static void print_array(const struct embed *e)
{
	for (size_t i = 0; i < e->n; i++) {
		fputs(i ? ",[" : "[[", stdout);
		print_numbers(e->out + i * e->width, e->width, ",", e->normalize);
		putchar(']');
	}
	puts("]");
}

static void print_json(const struct embed *e, bool similarities)
{
	puts("{\n  \"object\": \"list\",\n  \"data\": [");
	for (size_t i = 0; i < e->n; i++) {
		printf("    { \"object\": \"embedding\", \"index\": %zu, \"embedding\": [", i);
		print_numbers(e->out + i * e->width, e->width, ",", e->normalize);
		printf("] }%s\n", i + 1 < e->n ? "," : "");
	}
	fputs("  ]", stdout);
	for (size_t i = 0; similarities && i < e->n; i++) {
		fputs(i ? ",\n    [" : ",\n  \"cosineSimilarity\": [\n    [", stdout);
		for (size_t j = 0; j < e->n; j++)
			printf("%s%.2f", j ? ", " : "",
			       similarity(e->out + i * e->width, e->out + j * e->width, e->width));
		fputs(i + 1 < e->n ? "]" : "]\n  ]", stdout);
	}
	puts("\n}");
}

static void print(const struct embed *e)
{
	switch (e->format) {
	case 0:
		print_plain(e);
		break;
	case 1:
		print_array(e);
		break;
	case 4:
		print_raw(e);
		break;
	default:
		print_json(e, e->format == 3);
	}
}

static int open_model(struct embed *e)
{
	struct gguf_error error = { 0 };
	int err = cli_source(&e->cli, &e->source);

	if (err)
		return err;
	if (vocab_open(&e->vocab, e->source, &error))
		return cli_fail(&e->cli, e->cli.model, &error);
	err = cli_llm(&e->cli, e->source, &e->llm);
	if (err)
		return err;
	e->width = llm_width(e->llm);
	if (e->pooling < 0)
		e->pooling = (int)llm_pooling(e->llm);
	return e->pooling <= LLM_POOL_LAST
		       ? 0
		       : cli_error(&e->cli, e->cli.model, "it ranks texts: there is no vector of one");
}

static int run(void *ctx)
{
	struct embed *e = ctx;
	char *buffer = NULL;
	size_t n = e->text ? strlen(e->text) : 0;
	int err = open_model(e);

	if (!err && !e->text)
		err = cli_read_file(&e->cli, e->file, &buffer, &n);
	err = err ? err : embed_all(e, buffer ? buffer : e->text, n);
	errno = 0;
	if (!err)
		print(e);
	/* the reason is lost when the stream is flushed again at the end */
	if (!err && ferror(stdout))
		err = cli_error(&e->cli, "standard output", "%s", strerror(errno ? errno : EIO));
	free(buffer);
	free(e->out);
	llm_close(e->llm);
	vocab_close(e->vocab);
	source_close(e->source);
	return err;
}

static const char *wrong_use(const void *ctx, size_t words)
{
	const struct embed *e = ctx;

	if (words + (e->cli.model != NULL) != 1)
		return "one model is wanted";
	return !e->text == !e->file ? "one of -p and -f is wanted" : NULL;
}

int main(int argc, char **argv)
{
	static struct embed e = { .pooling = -1, .normalize = 2 };
	const struct opt_table tables[] = { { cli_options, &e.cli }, { rows, &e }, { NULL, NULL } };

	e.cli = cli_defaults;
	e.cli.k = e.cli.v = CACHE_F32; /* a text's keys and values are forgotten at once: halves would save nothing */
	return cli_main(&(struct cli_program){
		.cli = &e.cli, .tables = tables, .wrong = wrong_use, .run = run, .ctx = &e,
		.usage = "usage: gguf-embed [OPTION...] (-p TEXT | -f FILE) MODEL\nVectors of texts, one for each line.",
	}, argc, argv);
}
