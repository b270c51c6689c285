/* SPDX-License-Identifier: MIT */
/* Tokenizers against recorded ids of real vocabularies, and back to text. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "source.h"
#include "tap.h"
#include "token/token.h"

static const struct {
	const char *name;
	bool lossless; /* all bytes have tokens, and the text is not normalised */
} vocabs[] = {
	{ "bert-bge", false }, { "deepseek-coder", true }, { "falcon", false }, { "gpt-2", true },
	{ "llama-spm", true }, { "llama3", true },         { "mpt", true },    { "phi-3", true },
	{ "qwen3", true },     { "starcoder", true },
};

static const char *shared_file(const char *dir, const char *name, const char *end)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/%s/%s%s", getenv("shared"), dir, name, end);
	return path;
}

/* The whole file, with a NUL behind it. */
static char *read_file(const char *path, size_t *n)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t cap = 0;
	ssize_t got = f ? getdelim(&text, &cap, EOF, f) : -1;

	if (f)
		fclose(f);
	*n = got > 0 ? (size_t)got : 0;
	return got > 0 ? text : NULL;
}

/* ---- NAME.inp and NAME.out ---- */

static bool same_numbers(const char *line, const struct tokens *t)
{
	char *end;

	for (size_t i = 0; i < t->n; i++, line = end)
		if (strtol(line, &end, 10) != t->id[i] || end == line)
			return false;
	return strtol(line, &end, 10) == 0 && end == line;
}

static size_t count_wrong_lines(const struct vocab *v, char *inp, char *out, size_t *cases)
{
	static const char mark[] = "\n__ggml_vocab_test__\n";
	size_t wrong = 0;

	for (*cases = 0; inp && out; ++*cases) {
		char *next = strstr(inp, mark), *line = strsep(&out, "\n");
		size_t n = next ? (size_t)(next - inp) : strlen(inp);
		struct tokens t = { 0 };

		if (!next && !n)
			break;
		if (vocab_encode(v, inp, n, 0, &t) || !same_numbers(line, &t)) {
			printf("# case %zu: '%.*s'\n", *cases, (int)n, inp);
			wrong++;
		}
		free(t.id);
		inp = next ? next + sizeof mark - 1 : NULL;
	}
	return wrong;
}

static void test_lines(const struct vocab *v, const char *name)
{
	size_t n, cases;
	char *inp = read_file(shared_file("vectors/tokenizer", name, ".inp"), &n);
	char *out = read_file(shared_file("vectors/tokenizer", name, ".out"), &n);

	ok(inp && out && !count_wrong_lines(v, inp, out, &cases) && cases > 40, "%s: ids of the .out file", name);
	free(inp);
	free(out);
}

/* ---- NAME.jsonl ---- */

static bool same_ids(const json_t *want, const struct tokens *t)
{
	if (json_array_size(want) != t->n)
		return false;
	for (size_t i = 0; i < t->n; i++)
		if (json_integer_value(json_array_get(want, i)) != t->id[i])
			return false;
	return true;
}

static bool encodes_to(const struct vocab *v, const json_t *text, unsigned flags, const json_t *want)
{
	struct tokens t = { 0 };
	int err = vocab_encode(v, json_string_value(text), json_string_length(text), flags, &t);
	bool same = !err && same_ids(want, &t);

	free(t.id);
	return same;
}

/* Pieces of the tokens of text are text again, but for the space that the vocabulary puts before it. */
static bool comes_back(const struct vocab *v, const char *text, size_t n)
{
	struct tokens t = { 0 };
	bool same = !vocab_encode(v, text, n, 0, &t);
	size_t at = 0;

	for (size_t i = 0; i < t.n && same; i++) {
		struct gguf_bytes p = vocab_piece(v, t.id[i], true);

		if (!i && p.n && *p.p == ' ' && (!n || *text != ' ' || (p.n > 1 && !memcmp(p.p + 1, text, p.n - 1))))
			p = (struct gguf_bytes){ p.p + 1, p.n - 1 };
		same = n - at >= p.n && !memcmp(text + at, p.p, p.n);
		at += p.n;
	}
	free(t.id);
	return same && at == n;
}

struct wrong {
	size_t cases, plain, parsed, back;
};

static void test_case(const struct vocab *v, const json_t *c, struct wrong *w)
{
	const json_t *text = json_object_get(c, "text");

	w->cases++;
	w->plain += !encodes_to(v, text, 0, json_object_get(c, "ids"));
	w->parsed += !encodes_to(v, text, VOCAB_PARSE, json_object_get(c, "ids_special"));
	w->back += !comes_back(v, json_string_value(text), json_string_length(text));
}

static void test_json(const struct vocab *v, const char *name, bool lossless)
{
	struct wrong w = { 0 };
	FILE *f = fopen(shared_file("vectors/tokenizer", name, ".jsonl"), "r");
	json_t *c;

	while (f && (c = json_loadf(f, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, NULL))) {
		test_case(v, c, &w);
		json_decref(c);
	}
	if (f)
		fclose(f);
	ok(w.cases > 100 && !w.plain, "%s: ids of %zu texts (%zu wrong)", name, w.cases, w.plain);
	ok(w.cases > 100 && !w.parsed, "%s: ids of them with special tokens (%zu wrong)", name, w.parsed);
	if (lossless)
		ok(w.cases > 100 && !w.back, "%s: back to the same texts (%zu wrong)", name, w.back);
}

static void test_vocab(const char *name, bool lossless)
{
	struct gguf_error e = { 0 };
	struct source *s = NULL;
	struct vocab *v = NULL;
	int err = source_open(&s, shared_file("models/vocab", name, ".gguf"), NULL, &e);

	if (!err)
		err = vocab_open(&v, s, &e);
	if (ok(!err, "%s: opens %s", name, e.text)) {
		test_lines(v, name);
		test_json(v, name, lossless);
	}
	vocab_close(v);
	source_close(s);
}

int main(void)
{
	FILE *there = getenv("shared") ? fopen(shared_file("models/vocab", "gpt-2", ".gguf"), "r") : NULL;

	if (!there) {
		puts("1..0 # SKIP the shared vocabularies are absent");
		return 0;
	}
	fclose(there);
	for (size_t i = 0; i < sizeof vocabs / sizeof *vocabs; i++)
		test_vocab(vocabs[i].name, vocabs[i].lossless);
	done();
}
