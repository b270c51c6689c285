/* SPDX-License-Identifier: MIT */
/* The options of gguf-run, and which of them exclude each other. */
#include "run.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *read_on(void *field, const char *value)
{
	(void)value;
	*(enum conversation *)field = CNV_ON;
	return NULL;
}

static const char *read_off(void *field, const char *value)
{
	(void)value;
	*(enum conversation *)field = CNV_OFF;
	return NULL;
}

static const char *read_stop(void *field, const char *value)
{
	struct run_args *a = field;

	if (a->stops == STOPS_MAX)
		return "too many";
	a->stop[a->stops++] = value;
	return NULL;
}

#define AT(field) offsetof(struct run_args, field)
static const struct opt rows[] = {
	{ "Prompt", NULL, NULL, OPT_GROUP, 0, NULL },
	{ "-p, --prompt", "TEXT", "the prompt; in a conversation the first message", OPT_TEXT, AT(prompt), NULL },
	{ "-f, --file", "PATH", "the prompt is in this file; -: standard input", OPT_TEXT, AT(prompt_file), NULL },
	{ "--ids", "IDS", "the prompt as token ids; nothing is added", OPT_TEXT, AT(ids), NULL },
	{ "-sys, --system-prompt", "TEXT", "the system's message of a conversation", OPT_TEXT, AT(system), NULL },
	{ "-sysf, --system-prompt-file", "PATH", "the same from a file", OPT_TEXT, AT(system_file), NULL },
	{ "-e, --escape", NULL, "\\n \\r \\t \\\" \\' \\\\ \\xNN in texts of options are that (the default)",
	  OPT_ON, AT(escape), NULL },
	{ "--no-escape", NULL, "they are not", OPT_OFF, AT(escape), NULL },
	{ "Generation", NULL, NULL, OPT_GROUP, 0, NULL },
	{ "-n, --predict, --n-predict", "N", "tokens at most; -1: no end, -2: until the context is full",
	  OPT_INT, AT(predict), NULL },
	{ "-r, --reverse-prompt", "TEXT", "stop where the model writes this", OPT_CALL, 0, read_stop },
	{ "--context-shift", NULL, "when the context is full, forget half of what follows --keep",
	  OPT_ON, AT(shift), NULL },
	{ "--no-context-shift", NULL, "when the context is full, stop (the default)", OPT_OFF, AT(shift), NULL },
	{ "--keep", "N", "tokens at the start that a shift keeps; -1: the prompt", OPT_INT, AT(keep), NULL },
	{ "--warmup", NULL, "compute a token for nothing before the first", OPT_ON, AT(warmup), NULL },
	{ "--no-warmup", NULL, "do not (the default)", OPT_OFF, AT(warmup), NULL },
	{ "Conversation", NULL, NULL, OPT_GROUP, 0, NULL },
	{ "-cnv, --conversation", NULL, "talk, by the model's chat template", OPT_CALL, AT(conversation), read_on },
	{ "-no-cnv, --no-conversation", NULL, "go on with the prompt", OPT_CALL, AT(conversation), read_off },
	{ "-st, --single-turn", NULL, "one question, one answer", OPT_ON, AT(single_turn), NULL },
	{ "--chat-template", "NAME", "a template of the model by its name, or one of ours",
	  OPT_TEXT, AT(template_name), NULL },
	{ "--chat-template-file", "PATH", "a template from a file", OPT_TEXT, AT(template_file), NULL },
	{ "--chat-template-kwargs", "JSON", "an object with more variables for the template",
	  OPT_TEXT, AT(template_kwargs), NULL },
	{ "--jinja", NULL, "run the template in full (always so)", OPT_ALWAYS, 0, NULL },
	{ "--simple-io", NULL, "no line editing", OPT_ON, AT(plain_input), NULL },
	{ "Output", NULL, NULL, OPT_GROUP, 0, NULL },
	{ "-sp, --special", NULL, "print special tokens", OPT_ON, AT(special), NULL },
	{ "--display-prompt", NULL, "print the prompt before what follows (the default)",
	  OPT_ON, AT(display_prompt), NULL },
	{ "--no-display-prompt", NULL, "do not", OPT_OFF, AT(display_prompt), NULL },
	{ "--verbose-prompt", NULL, "print the prompt's tokens on stderr", OPT_ON, AT(verbose_prompt), NULL },
	{ "--print-ids", NULL, "print the generated ids and nothing else", OPT_ON, AT(print_ids), NULL },
	{ "--logits", "PATH", "write the logits of every prompt position (float32) and exit; -: to stdout",
	  OPT_TEXT, AT(logits_file), NULL },
	{ "--render", "PATH", "print what the chat template makes of this JSON object and exit",
	  OPT_TEXT, AT(render), NULL },
	{ "--dry-run", NULL, "print what memory it would take and exit", OPT_ON, AT(dry_run), NULL },
	{ "--show-timings, --perf", NULL, "print tokens per second at the end (the default)", OPT_ON, AT(speed), NULL },
	{ "--no-show-timings, --no-perf", NULL, "do not", OPT_OFF, AT(speed), NULL },
	{ "--no-jinja", NULL, "templates always run in full", OPT_NONE, 0, NULL },
	{ "-i, --interactive, -if, --interactive-first, -mli, --multiline-input", NULL,
	  "use -cnv; a line that ends in a backslash goes on", OPT_NONE, 0, NULL },
	{ "--in-prefix, --in-suffix, --in-prefix-bos", NULL, "use -cnv and a --chat-template", OPT_NONE, 0, NULL },
	{ "--grammar, --grammar-file, -j, --json-schema, -jf, --json-schema-file", NULL, "grammars are not supported",
	  OPT_NONE, 0, NULL },
	{ "--prompt-cache, --prompt-cache-all, --prompt-cache-ro", NULL, "prompts are not kept", OPT_NONE, 0, NULL },
	{ 0 },
};

static const struct run_args defaults = { .predict = -1, .escape = true, .display_prompt = true, .speed = true };

static void init(struct run_args *a, const struct sampler_options *base)
{
	struct cli cli = a->cli;

	*a = defaults;
	a->cli = cli_defaults;
	cli_start(&a->cli, cli.program);
	a->cli.start = cli.start;
	sample_args_init(&a->sample, base);
}

void run_help(void)
{
	struct run_args a = defaults;
	const struct opt_table tables[] = {
		{ cli_options, &a.cli }, { rows, &a }, { sample_options, &a.sample }, { NULL, NULL },
	};

	a.cli = cli_defaults;
	sample_args_init(&a.sample, &sampler_defaults);
	puts("usage: gguf-run [OPTION...] MODEL\n"
	     "Runs a GGUF model: a mount of mount.gguf, a directory of the same layout, or a .gguf file.");
	opt_help(tables);
}

static bool is_object(const char *text)
{
	json_t *v = json_loads(text, 0, NULL);
	bool yes = json_is_object(v);

	json_decref(v);
	return yes;
}

/* What cannot go together; NULL: nothing. */
static const char *conflict(const struct run_args *a)
{
	if (!!a->prompt + !!a->prompt_file + !!a->ids > 1)
		return "only one of -p, -f and --ids";
	if (a->system && a->system_file)
		return "only one of -sys and -sysf";
	if (a->template_name && a->template_file)
		return "only one of --chat-template and --chat-template-file";
	if (a->conversation == CNV_ON && (a->ids || a->print_ids || a->logits_file))
		return "-cnv does not go with --ids, --print-ids and --logits";
	if (a->template_kwargs && !is_object(a->template_kwargs))
		return "--chat-template-kwargs wants a JSON object";
	if (a->cli.batch == 0)
		return "a batch has at least one token";
	return NULL;
}

int run_parse(struct run_args *a, const struct sampler_options *base, int argc, char **argv)
{
	const struct opt_table tables[] = {
		{ cli_options, &a->cli }, { rows, a }, { sample_options, &a->sample }, { NULL, NULL },
	};
	const char **words = calloc((size_t)argc + 1, sizeof *words), *wrong;
	size_t n;
	int err;

	if (!words)
		return cli_error(&a->cli, NULL, "out of memory");
	init(a, base);
	err = opt_parse(tables, argc, argv, words, &n);
	if (!err && n && a->cli.model)
		words[n++] = "";
	if (!err && n == 1)
		a->cli.model = words[0];
	free(words);
	if (err)
		return 2;
	if (a->cli.help || a->cli.version)
		return 0;
	wrong = n > 1 ? "more than one model" : !a->cli.model ? "no model" : conflict(a);
	return wrong ? cli_usage(&a->cli, wrong) : 0;
}
