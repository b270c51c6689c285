/* SPDX-License-Identifier: MIT */
/* gguf-tokenize: the tokens of a text, as a model's vocabulary has them. */
#include "config.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"
#include "token.h"

struct options {
	struct cli cli;
	const char *prompt, *file;
	bool standard_input, ids, count, bos, escape, parse, warnings;
};

#define AT(field) offsetof(struct options, field)
static const struct opt rows[] = {
	{ "Options", NULL, NULL, OPT_GROUP, 0, NULL },
	{ "-m, --model", "PATH", "the model: a mount, a directory of its layout, or a .gguf file", OPT_TEXT,
	  AT(cli.model), NULL },
	{ "-p, --prompt", "TEXT", "the text, with the escapes \\n \\r \\t \\' \\\" \\\\ \\xNN", OPT_TEXT, AT(prompt),
	  NULL },
	{ "-f, --file", "PATH", "the text is what is in the file (-: standard input)", OPT_TEXT, AT(file), NULL },
	{ "--stdin", NULL, "the text is read from standard input", OPT_ON, AT(standard_input), NULL },
	{ "--ids", NULL, "print [1, 2, 3] instead of a line per token", OPT_ON, AT(ids), NULL },
	{ "--show-count", NULL, "print how many tokens there are", OPT_ON, AT(count), NULL },
	{ "--no-bos", NULL, "add no special tokens around the text", OPT_OFF, AT(bos), NULL },
	{ "--no-escape", NULL, "leave escapes in -p alone", OPT_OFF, AT(escape), NULL },
	{ "--no-parse-special", NULL, "control tokens written in the text are text", OPT_OFF, AT(parse), NULL },
	{ "--override-kv", "KEY=TYPE:VALUE,...", "other values for keys of the model; TYPE is int, float, bool or str",
	  OPT_CALL, AT(cli.overrides), cli_read_override },
	{ "--log-disable", NULL, "no warnings about the model", OPT_OFF, AT(warnings), NULL },
	{ "-h, --help", NULL, "print this and exit", OPT_ON, AT(cli.help), NULL },
	{ "--version", NULL, "print the version and exit", OPT_ON, AT(cli.version), NULL },
	{ 0 },
};

/* 0, or the exit status. */
static int read_options(struct options *o, int argc, char **argv)
{
	struct opt_table tables[] = { { rows, o }, { 0 } };
	const char **words = calloc((size_t)argc + 1, sizeof *words);
	size_t n = 0;
	int err = words ? opt_parse(tables, argc, argv, words, &n) : -ENOMEM;

	if (n && !o->cli.model)
		o->cli.model = words[--n];
	free(words);
	if (err)
		return 2;
	if (o->cli.help) {
		printf("usage: %s [-m] MODEL (-p TEXT | -f FILE | --stdin) [options]\n", o->cli.program);
		opt_help(tables);
		return 0;
	}
	if (o->cli.version)
		return 0;
	if (n)
		return cli_usage(&o->cli, "more than one model");
	if (!o->cli.model)
		return cli_usage(&o->cli, "no model");
	if (!!o->prompt + !!o->file + o->standard_input != 1)
		return cli_usage(&o->cli, "one of -p, -f and --stdin, please");
	return 0;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* Replaces the escapes in text, in place; what is none stays. Returns the bytes left. */
static size_t unescape(char *text)
{
	static const char from[] = "nrt'\"\\", to[] = "\n\r\t'\"\\";
	size_t n = 0;

	for (const char *p = text; *p; p++) {
		const char *at = *p == '\\' && p[1] ? strchr(from, p[1]) : NULL;

		if (at) {
			text[n++] = to[at - from];
			p++;
		} else if (*p == '\\' && p[1] == 'x' && hex(p[2]) >= 0 && hex(p[3]) >= 0) {
			text[n++] = (char)(hex(p[2]) << 4 | hex(p[3]));
			p += 3;
		} else {
			text[n++] = *p;
		}
	}
	return n;
}

static int read_text(const struct options *o, char **text, size_t *n)
{
	if (!o->prompt)
		return cli_read_file(&o->cli, o->file ? o->file : "-", text, n);
	*text = strdup(o->prompt);
	if (!*text)
		return cli_error(&o->cli, "-p", "%s", strerror(ENOMEM));
	*n = o->escape ? unescape(*text) : strlen(*text);
	return 0;
}

static void print_ids(const struct tokens *t)
{
	putchar('[');
	for (size_t i = 0; i < t->n; i++)
		printf("%s%d", i ? ", " : "", t->id[i]);
	puts("]");
}

static void print_pieces(const struct vocab *v, const struct tokens *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct gguf_bytes piece = vocab_piece(v, t->id[i], true);

		printf("%6d -> '", t->id[i]);
		fwrite(piece.p, 1, piece.n, stdout);
		puts("'");
	}
}

static void print(const struct options *o, const struct vocab *v, const struct tokens *t)
{
	if (o->ids)
		print_ids(t);
	else
		print_pieces(v, t);
	if (o->count)
		printf("Total number of tokens: %zu\n", t->n);
}

static int tokenize(const struct options *o, const struct vocab *v)
{
	unsigned flags = (o->bos && vocab_adds_bos(v) ? VOCAB_SPECIAL : 0) | (o->parse ? VOCAB_PARSE : 0);
	struct tokens t = { 0 };
	char *text;
	size_t n;
	int err = read_text(o, &text, &n);

	if (err)
		return err;
	err = vocab_encode(v, text, n, flags, &t);
	free(text);
	if (err)
		err = cli_error(&o->cli, "text", "%s", strerror(-err));
	else
		print(o, v, &t);
	free(t.id);
	return err;
}

static int run(struct options *o)
{
	struct gguf_error e = { 0 };
	struct source_options from = { .overrides = &o->cli.overrides };
	struct source *s = NULL;
	struct vocab *v = NULL;
	int err = source_open(&s, o->cli.model, &from, &e);

	if (!err)
		err = vocab_open(&v, s, &e);
	if (err) {
		err = cli_fail(&o->cli, o->cli.model, &e);
	} else {
		for (size_t i = 0; o->warnings && vocab_warning(v, i); i++)
			cli_warn(&o->cli, o->cli.model, "%s", vocab_warning(v, i));
		err = tokenize(o, v);
	}
	vocab_close(v);
	source_close(s);
	return err;
}

int main(int argc, char **argv)
{
	struct options o = { .cli = cli_defaults, .bos = true, .escape = true, .parse = true, .warnings = true };
	int err;

	cli_start(&o.cli, argv[0]);
	err = read_options(&o, argc, argv);
	if (o.cli.version && !err)
		cli_version(&o.cli);
	if (!err && !o.cli.help && !o.cli.version)
		err = run(&o);
	return cli_end(&o.cli, err);
}
