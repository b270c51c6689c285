/* SPDX-License-Identifier: MIT */
/* gguf-perplexity: how well a model foretells a text. */
#include "cli.h"
#include "divergence.h"
#include "token/token.h"
#include "whole.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char magic[8] = { '_', 'l', 'o', 'g', 'i', 't', 's', '_' };

struct ppl {
	struct cli cli;
	const char *text_file, *text, *base_path;
	int chunks;
	unsigned style;
	bool compare;

	struct source *source;
	struct vocab *vocab;
	struct llm *llm;
	FILE *base;          /* written to, or with compare read from */
	struct whole made;   /* what base is, where it is written */
	int32_t *ids;        /* n_chunks * width */
	unsigned width, first, n_chunks;
	size_t vocab_n, scored; /* logits of a position; positions of a chunk that are scored */
	float *logits;       /* of part positions */
	size_t part;
	uint16_t *packed;    /* of a chunk's positions */
	double *nll;         /* of a chunk's positions */
	struct comparison seen;
};

static const char *read_chunks(void *field, const char *value)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(value, &end, 10);
	if (end == value || *end || errno || n == 0 || n < -1 || n > INT_MAX)
		return "a number of chunks is wanted, or -1 for all";
	*(int *)field = (int)n;
	return NULL;
}

#define AT(field) offsetof(struct ppl, field)
static const struct opt rows[] = {
	{ "Text", NULL, NULL, OPT_GROUP, 0, NULL },
	{ "-f, --file", "PATH", "the text; -: standard input", OPT_TEXT, AT(text_file), NULL },
	{ "-p, --prompt", "TEXT", "the text itself", OPT_TEXT, AT(text), NULL },
	{ "--chunks", "N", "chunks at most; -1: all (default: -1)", OPT_CALL, AT(chunks), read_chunks },
	{ "Output", NULL, NULL, OPT_GROUP, 0, NULL },
	{ "--ppl-output-type", "N", "0: the perplexity so far after each chunk; 1: a line with its error",
	  OPT_UINT, AT(style), NULL },
	{ "--kl-divergence", NULL, "compare with the base's probabilities", OPT_ON, AT(compare), NULL },
	{ "--kl-divergence-base, --save-all-logits", "PATH", "where they are; without --kl-divergence: where to write this model's",
	  OPT_TEXT, AT(base_path), NULL },
	{ 0 },
};

static int oom(const struct ppl *p)
{
	return cli_error(&p->cli, NULL, "out of memory");
}

/* ---- the tokens: of a text, or those the base was made with ---- */

static int read_text(struct ppl *p, struct tokens *t)
{
	char *buffer = NULL;
	size_t n;
	int err;

	if (p->text) {
		n = strlen(p->text);
	} else {
		if (cli_read_file(&p->cli, p->text_file, &buffer, &n))
			return 1;
		n -= n && buffer[n - 1] == '\n';
	}
	err = vocab_encode(p->vocab, buffer ? buffer : p->text, n, VOCAB_SPECIAL, t);
	free(buffer);
	return err ? cli_error(&p->cli, "text", "%s", strerror(-err)) : 0;
}

static int take_text(struct ppl *p)
{
	struct tokens t = { 0 };
	size_t chunks;

	p->width = llm_context(p->llm);
	if (read_text(p, &t))
		return 1;
	chunks = t.n / p->width;
	p->ids = t.id;
	if (chunks < 2)
		return cli_error(&p->cli, "text", "%zu tokens; two chunks of %u are needed", t.n, p->width);
	if (p->chunks >= 0 && (size_t)p->chunks < chunks)
		chunks = (size_t)p->chunks;
	p->n_chunks = (unsigned)chunks;
	return 0;
}

static bool get(struct ppl *p, void *out, size_t size, size_t n)
{
	return fread(out, size, n, p->base) == n;
}

static int bad_base(const struct ppl *p, const char *why)
{
	return cli_error(&p->cli, p->base_path, "%s", why);
}

/* Nothing is taken from the file that its size does not hold. */
static int take_base(struct ppl *p)
{
	uint32_t head[3];
	char word[sizeof magic];
	struct stat st;
	size_t ids, words;

	if (!get(p, word, 1, sizeof word) || memcmp(word, magic, sizeof magic) || !get(p, head, sizeof *head, 3))
		return bad_base(p, "not a file of log probabilities");
	p->width = head[0];
	p->n_chunks = head[2];
	if (head[1] != p->vocab_n)
		return cli_error(&p->cli, p->base_path, "made for a vocabulary of %u, the model has %zu", head[1],
				 p->vocab_n);
	if (p->width < 4 || p->width > llm_context(p->llm))
		return cli_error(&p->cli, p->base_path, "made with a context of %u, now it is %u (see -c)", p->width,
				 llm_context(p->llm));
	if (__builtin_mul_overflow((size_t)p->width, p->n_chunks, &ids) ||
	    __builtin_mul_overflow((size_t)(p->width - 1 - p->width / 2) * p->n_chunks, 2 * packed_words(p->vocab_n),
				   &words) ||
	    fstat(fileno(p->base), &st) || (uint64_t)st.st_size / 4 < ids || (uint64_t)st.st_size - 4 * ids < words)
		return bad_base(p, "shorter than it says");
	p->ids = malloc(ids * sizeof *p->ids + 1);
	if (!p->ids)
		return oom(p);
	if (!get(p, p->ids, sizeof *p->ids, ids))
		return bad_base(p, "cannot be read");
	for (size_t i = 0; i < ids; i++)
		if (p->ids[i] < 0 || (size_t)p->ids[i] >= p->vocab_n)
			return bad_base(p, "has tokens that the vocabulary has not");
	return 0;
}

static int start_base(struct ppl *p)
{
	uint32_t width = p->width, tail[2] = { (uint32_t)p->vocab_n, p->n_chunks };
	size_t n = (size_t)p->width * p->n_chunks;

	if (fwrite(magic, sizeof magic, 1, p->base) == 1 && fwrite(&width, 4, 1, p->base) == 1 &&
	    fwrite(tail, 4, 2, p->base) == 2 && fwrite(p->ids, 4, n, p->base) == n)
		return 0;
	return bad_base(p, strerror(errno));
}

/* ---- a chunk ---- */

/* Positions from .. from+n-1 of those scored, whose logits are there: all threads, each its positions. */
static void score_part(struct ppl *p, const int32_t *next, size_t from, size_t n)
{
	size_t words = packed_words(p->vocab_n);

#pragma omp parallel for schedule(static) num_threads(llm_threads(p->llm))
	for (size_t i = 0; i < n; i++) {
		const float *logits = p->logits + i * p->vocab_n;
		uint16_t *packed = p->packed ? p->packed + (from + i) * words : NULL;

		if (p->compare)
			compare_position(&p->seen.at[p->seen.n + i], logits, packed, p->vocab_n, next[i]);
		else
			p->nll[from + i] = surprise(logits, p->vocab_n, next[i]);
		if (packed && !p->compare)
			pack_position(packed, logits, p->vocab_n);
	}
	if (p->compare)
		p->seen.n += n;
}

/* The first half of a chunk is context, of the second every token but the first is foretold. */
static int score_chunk(struct ppl *p, int32_t *ids, struct gguf_error *e)
{
	int32_t kept = ids[0];
	size_t part = p->part;
	int err = llm_rewind(p->llm, 0);

	if (vocab_adds_bos(p->vocab) && vocab_bos(p->vocab) >= 0)
		ids[0] = vocab_bos(p->vocab);
	for (size_t i = 0; i < p->first && !err; i += p->cli.batch)
		err = llm_eval(p->llm, ids + i, p->cli.batch < p->first - i ? p->cli.batch : p->first - i, NULL, false,
			       e);
	for (size_t i = 0; i < p->scored && !err; i += part) {
		part = part < p->scored - i ? part : p->scored - i;
		err = llm_eval(p->llm, ids + p->first + i, part, p->logits, true, e);
		if (!err)
			score_part(p, ids + p->first + i + 1, i, part);
	}
	ids[0] = kept;
	return err;
}

static int chunk(struct ppl *p, unsigned i)
{
	size_t words = packed_words(p->vocab_n) * p->scored;
	struct gguf_error e = { 0 };

	if (p->compare && !get(p, p->packed, sizeof *p->packed, words))
		return bad_base(p, "cannot be read");
	if (score_chunk(p, p->ids + (size_t)i * p->width, &e))
		return cli_fail(&p->cli, p->cli.model, &e);
	if (p->base && !p->compare && fwrite(p->packed, sizeof *p->packed, words, p->base) != words)
		return bad_base(p, strerror(errno));
	return 0;
}

/* ---- all of them ---- */

static int compare_all(struct ppl *p)
{
	for (unsigned i = 0; i < p->n_chunks; i++) {
		if (chunk(p, i))
			return 1;
		comparison_line(stdout, i + 1, &p->seen);
		fflush(stdout);
	}
	return comparison_report(stdout, &p->seen) == -ENOMEM ? oom(p) : 0;
}

static void print_chunk(const struct ppl *p, unsigned i, double sum, double squares, size_t n)
{
	struct mean m = mean_of(sum, squares, n);

	if (p->style == 0)
		printf("[%u]%.4f,", i + 1, exp(m.value));
	else
		printf("%8zu  %.4f  %4f  %4f\n", (size_t)i * p->width, exp(m.value), m.value, m.error);
	fflush(stdout);
}

static int surprise_all(struct ppl *p)
{
	double sum = 0, squares = 0;
	size_t n = 0;
	struct mean m;

	for (unsigned i = 0; i < p->n_chunks; i++) {
		if (chunk(p, i))
			return 1;
		for (size_t k = 0; k < p->scored; k++) {
			sum += p->nll[k];
			squares += p->nll[k] * p->nll[k];
		}
		n += p->scored;
		print_chunk(p, i, sum, squares, n);
	}
	m = mean_of(sum, squares, n);
	printf("\nFinal estimate: PPL = %.4f +/- %.5f\n", exp(m.value), m.error * exp(m.value));
	return 0;
}

static int make_room(struct ppl *p)
{
	size_t batch = p->cli.batch, most = ((size_t)64 << 20) / (p->vocab_n * sizeof *p->logits);

	p->first = p->width / 2;
	p->scored = p->width - 1 - p->first;
	p->part = most < 1 ? 1 : most < batch ? most : batch;
	if (p->part > p->scored)
		p->part = p->scored;
	p->logits = calloc(p->part, p->vocab_n * sizeof *p->logits);
	p->nll = calloc(p->scored, sizeof *p->nll);
	p->packed = p->base ? calloc(p->scored, packed_words(p->vocab_n) * sizeof *p->packed) : NULL;
	p->seen.at = p->compare ? calloc((size_t)p->scored * p->n_chunks, sizeof *p->seen.at) : NULL;
	if (!p->logits || !p->nll || (p->base && !p->packed) || (p->compare && !p->seen.at))
		return oom(p);
	return 0;
}

static int open_base(struct ppl *p)
{
	int err = p->compare ? 0 : whole_open(&p->made, p->base_path);

	p->base = p->compare ? fopen(p->base_path, "rbe") : p->made.f;
	return p->base ? 0 : bad_base(p, strerror(err ? -err : errno));
}

/* The exit status: a base of a run that failed is not kept. */
static int close_base(struct ppl *p, int status)
{
	int err = 0;

	if (p->compare)
		fclose(p->base);
	else
		err = whole_close(&p->made, !status);
	return err && !status ? bad_base(p, strerror(-err)) : status;
}

static int work(struct ppl *p)
{
	int status;

	p->vocab_n = llm_vocab(p->llm);
	if (llm_context(p->llm) < 4)
		return cli_error(&p->cli, "context", "%u tokens are too few", llm_context(p->llm));
	if (p->base_path && !p->compare && cli_output(&p->cli, p->source, p->base_path, p->text_file))
		return 1;
	if (p->base_path && open_base(p))
		return 1;
	status = p->compare ? take_base(p) : take_text(p);
	if (!status)
		status = make_room(p);
	if (!status && p->base && !p->compare)
		status = start_base(p);
	if (!status)
		status = p->compare ? compare_all(p) : surprise_all(p);
	return p->base ? close_base(p, status) : status;
}

static int run(void *ctx)
{
	struct ppl *p = ctx;
	struct gguf_error e = { 0 };
	int status = cli_source(&p->cli, &p->source);

	if (!status && vocab_open(&p->vocab, p->source, &e))
		status = cli_fail(&p->cli, p->cli.model, &e);
	if (!status)
		status = cli_llm(&p->cli, p->source, &p->llm);
	if (!status && llm_is_embedding(p->llm))
		status = cli_error(&p->cli, p->cli.model, "makes embeddings, no text");
	if (!status && llm_check(p->llm, &e)) /* before the text is judged: a broken model is told as such */
		status = cli_fail(&p->cli, p->cli.model, &e);
	cli_print_phases(&p->cli);
	if (!status)
		status = work(p);
	free(p->ids);
	free(p->logits);
	free(p->packed);
	free(p->nll);
	free(p->seen.at);
	llm_close(p->llm);
	vocab_close(p->vocab);
	source_close(p->source);
	return status;
}

static const char *conflict(const void *ctx, size_t words)
{
	const struct ppl *p = ctx;

	if (words > 1 || (words && p->cli.model))
		return "more than one model";
	if (!words && !p->cli.model)
		return "no model";
	if (p->compare && !p->base_path)
		return "--kl-divergence needs --kl-divergence-base";
	if (!p->compare && !p->text == !p->text_file)
		return "one of -f and -p";
	return p->cli.batch ? NULL : "a batch has at least one token";
}

int main(int argc, char **argv)
{
	static struct ppl p = { .chunks = -1 };
	const struct opt_table tables[] = { { cli_options, &p.cli }, { rows, &p }, { NULL, NULL } };

	p.cli = cli_defaults;
	p.cli.context = 512;
	return cli_main(&(struct cli_program){
		.cli = &p.cli, .tables = tables, .wrong = conflict, .run = run, .ctx = &p,
		.usage = "usage: gguf-perplexity [OPTION...] -f TEXT MODEL\n"
			 "Perplexity of a text, in chunks as llama-perplexity's.",
	}, argc, argv);
}
