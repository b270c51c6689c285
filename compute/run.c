/* SPDX-License-Identifier: MIT */
/* gguf-run: text from a model. */
#include "run.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the prompt ---- */

static char hex(const char *p)
{
	unsigned v;

	return sscanf(p, "%2x", &v) == 1 ? (char)v : 'x';
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Replaces escapes in place: a word of the command line is ours to change. */
static void unescape(const char *word)
{
	static const char names[] = "nrt\"'\\", values[] = "\n\r\t\"'\\";
	char *out = (char *)word;

	for (const char *p = word; word && *p; p++) {
		const char *name = p[0] == '\\' && p[1] ? strchr(names, p[1]) : NULL;

		if (name) {
			*out++ = values[name - names];
			p++;
		} else if (p[0] == '\\' && p[1] == 'x' && is_hex(p[2]) && is_hex(p[3])) {
			*out++ = hex(p + 2);
			p += 3;
		} else {
			*out++ = *p;
		}
	}
	if (word)
		*out = '\0';
}

static void unescape_all(struct run_args *a)
{
	if (!a->escape)
		return;
	unescape(a->prompt);
	unescape(a->system);
	for (size_t i = 0; i < a->stops; i++)
		unescape(a->stop[i]);
	for (size_t i = 0; i < a->sample.breakers; i++)
		unescape(a->sample.breaker[i]);
}

/* A text option that a file gives instead; of a file one newline at its end is not part of the text. */
static int text_from(const struct cli *c, const char *path, const char **text, size_t *n, char **buffer)
{
	*n = *text ? strlen(*text) : 0;
	if (!path)
		return 0;
	if (cli_read_file(c, path, buffer, n))
		return 1;
	if (*n && (*buffer)[*n - 1] == '\n')
		(*buffer)[--*n] = '\0';
	*text = *buffer;
	return 0;
}

static int add_id(struct tokens *t, int32_t id)
{
	int32_t *grown = t->id;

	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 64;
		grown = reallocarray(t->id, t->cap, sizeof *grown);
		if (!grown)
			return -ENOMEM;
		t->id = grown;
	}
	t->id[t->n++] = id;
	return 0;
}

static int read_ids(const struct session *s, struct tokens *t)
{
	const char *p = s->args->ids;
	size_t vocab = llm_vocab(s->llm);

	for (p += strspn(p, " ,\n\t[]"); *p; p += strspn(p, " ,\n\t[]")) {
		char *end;
		long id = strtol(p, &end, 10);

		if (end == p || (*end && !strchr(" ,\n\t[]", *end)))
			return cli_error(s->cli, "--ids", "not a list of numbers: %s", p) + 1;
		if (id < 0 || (size_t)id >= vocab)
			return cli_error(s->cli, "--ids", "%ld is none of the %zu tokens", id, vocab) + 1;
		if (add_id(t, (int32_t)id))
			return cli_error(s->cli, "--ids", "out of memory");
		p = end;
	}
	return 0;
}

static int read_prompt(struct session *s, struct tokens *t)
{
	int err;

	if (s->args->ids)
		return read_ids(s, t);
	if (!s->vocab)
		return cli_error(s->cli, s->cli->model, "has no vocabulary: only --ids with --print-ids or --logits");
	err = vocab_encode(s->vocab, s->args->prompt, s->args->prompt_size, VOCAB_SPECIAL | VOCAB_PARSE, t);
	if (!err && !t->n && vocab_bos(s->vocab) >= 0)
		err = add_id(t, vocab_bos(s->vocab));
	return err ? cli_error(s->cli, "prompt", "%s", strerror(-err)) : 0;
}

static void show_tokens(const struct session *s, const struct tokens *t)
{
	if (!s->args->verbose_prompt)
		return;
	for (size_t i = 0; i < t->n; i++)
		fprintf(stderr, "%s%d", i ? " " : "", t->id[i]);
	fputc('\n', stderr);
}

/* ---- the session ---- */

/* Tokens that end generation are never chosen. */
static int ban_endings(struct session *s)
{
	for (int32_t id = 0; s->vocab && (size_t)id < vocab_size(s->vocab) && (size_t)id < llm_vocab(s->llm); id++)
		if (vocab_is_eog(s->vocab, id) && !sample_args_bias(&s->args->sample, id, -INFINITY))
			return cli_error(s->cli, "--ignore-eos", "too many biases");
	return 0;
}

static int make_sampler(struct session *s)
{
	struct sampler_options *o = &s->args->sample.o;
	struct gguf_error e = { 0 };

	if (s->args->sample.ignore_eos && ban_endings(s))
		return 1;
	o->context = llm_context(s->llm);
	if (sampler_new(&s->sampler, o, llm_vocab(s->llm), s->vocab, &e))
		return cli_fail(s->cli, NULL, &e) + (e.code == -EINVAL);
	return 0;
}

static int warm_up(struct session *s)
{
	int32_t id = s->vocab && vocab_bos(s->vocab) >= 0 ? vocab_bos(s->vocab) : 0;
	struct gguf_error e = { 0 };

	if (!s->args->warmup)
		return 0;
	if (llm_eval(s->llm, &id, 1, s->logits, false, &e) || llm_rewind(s->llm, 0))
		return cli_fail(s->cli, s->cli->model, &e);
	cli_phase(s->cli, "warm-up");
	return 0;
}

static int open_vocab(struct session *s)
{
	struct gguf_error e = { 0 };
	int err = vocab_open(&s->vocab, s->source, &e);

	if (err && err != -ENOENT)
		return cli_fail(s->cli, s->cli->model, &e);
	for (size_t i = 0; s->vocab && vocab_warning(s->vocab, i); i++)
		cli_warn(s->cli, s->cli->model, "%s", vocab_warning(s->vocab, i));
	cli_phase(s->cli, "vocabulary");
	return 0;
}

static int open_session(struct session *s)
{
	int status = open_vocab(s);

	if (!status)
		status = cli_llm(s->cli, s->source, &s->llm);
	if (!status && llm_is_embedding(s->llm))
		return cli_error(s->cli, s->cli->model, "makes embeddings, no text: use gguf-embed");
	if (!status)
		status = make_sampler(s);
	if (status)
		return status;
	s->logits = malloc(llm_vocab(s->llm) * sizeof *s->logits);
	s->said = malloc(llm_context(s->llm) * sizeof *s->said);
	if (!s->logits || !s->said)
		return cli_error(s->cli, NULL, "out of memory");
	return warm_up(s);
}

static void close_session(struct session *s)
{
	sampler_free(s->sampler);
	llm_close(s->llm);
	vocab_close(s->vocab);
	source_close(s->source);
	free(s->out.text);
	free(s->logits);
	free(s->said);
}

/* ---- the modes ---- */

/* Whether to talk: said by an option, or the model has a template and somebody sits at the terminal. */
static bool talks(const struct session *s)
{
	const struct run_args *a = s->args;

	if (a->conversation != CNV_AUTO)
		return a->conversation == CNV_ON;
	if (a->ids || a->print_ids || a->logits_file || !s->vocab)
		return false;
	if (a->single_turn || a->template_name || a->template_file || a->system)
		return true;
	return isatty(STDIN_FILENO) && source_has(s->source, "tokenizer.chat_template");
}

static int converse(struct session *s)
{
	struct chat *chat = NULL;
	int status;

	if (!s->vocab)
		return cli_error(s->cli, s->cli->model, "has no vocabulary to talk with");
	status = run_open_chat(s->args, s->source, s->vocab, &chat);
	if (!status)
		status = run_chat(s, chat);
	chat_close(chat);
	return status;
}

static int complete(struct session *s)
{
	struct tokens prompt = { 0 };
	int status = read_prompt(s, &prompt);

	if (!status) {
		show_tokens(s, &prompt);
		status = s->args->logits_file ? run_logits(s, &prompt) : run_completion(s, &prompt);
	}
	free(prompt.id);
	return status;
}

/* A model's own sampling is the default of the options: where it has some, they are read again. */
static int take_model_sampling(struct session *s, int argc, char **argv)
{
	struct sampler_options o = sampler_defaults;
	struct cli cli = s->args->cli;
	struct gguf_error e = { 0 };

	if (sampler_options_from(&o, s->source, &e))
		return cli_fail(s->cli, s->cli->model, &e);
	if (run_parse(s->args, &o, argc, argv))
		return 2;
	s->args->cli = cli;
	unescape_all(s->args);
	return 0;
}

/* Without a prompt, and nobody to ask for one, it is standard input. */
static int take_texts(struct session *s, char **prompt, char **system)
{
	struct run_args *a = s->args;
	size_t system_size;

	if (!a->prompt && !a->prompt_file && !a->ids && !a->dry_run && !talks(s))
		a->prompt_file = "-";
	interrupt_ends(true);
	if (text_from(s->cli, a->prompt_file, &a->prompt, &a->prompt_size, prompt) ||
	    text_from(s->cli, a->system_file, &a->system, &system_size, system))
		return 1;
	interrupt_ends(false);
	if (talks(s) && ((a->prompt && strlen(a->prompt) < a->prompt_size) || (a->system && strlen(a->system) < system_size)))
		return cli_error(s->cli, "prompt", "a NUL byte cannot be part of a message");
	return 0;
}

static int run(struct run_args *a, int argc, char **argv)
{
	struct session s = { .args = a, .cli = &a->cli };
	char *prompt = NULL, *system = NULL;
	int status = cli_source(s.cli, &s.source);

	if (!status)
		status = take_model_sampling(&s, argc, argv);
	if (!status && a->dry_run) {
		status = cli_estimate(s.cli, s.source);
	} else if (!status) {
		s.out.f = a->print_ids ? NULL : stdout;
		s.out.terminal = isatty(STDOUT_FILENO);
		interrupt_catch();
		status = open_session(&s);
		if (!status)
			status = take_texts(&s, &prompt, &system);
		if (!status)
			status = talks(&s) ? converse(&s) : complete(&s);
		cli_print_phases(s.cli);
	}
	close_session(&s);
	free(prompt);
	free(system);
	return status;
}

int main(int argc, char **argv)
{
	static struct run_args a;
	int status;

	cli_start(&a.cli, argv[0]);
	status = run_parse(&a, &sampler_defaults, argc, argv);
	if (status)
		return status;
	if (a.cli.help)
		run_help();
	else if (a.cli.version)
		cli_version(&a.cli);
	else if (a.render)
		return cli_end(&a.cli, run_render(&a));
	else
		return cli_end(&a.cli, run(&a, argc, argv));
	return cli_end(&a.cli, 0);
}
