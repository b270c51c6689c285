/* SPDX-License-Identifier: MIT */
/* The modes without a conversation. */
#include "run.h"
#include "whole.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void print_pieces(struct session *s, const struct tokens *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct gguf_bytes piece = vocab_piece(s->vocab, t->id[i], s->args->special);

		output_put(&s->out, piece.p, piece.n);
	}
}

/* The prompt as it was given; of ids, what they stand for. */
static void show_prompt(struct session *s, const struct tokens *t)
{
	const struct run_args *a = s->args;

	if (!a->display_prompt || a->print_ids || !s->vocab)
		return;
	if (a->prompt)
		output_put(&s->out, a->prompt, a->prompt_size);
	else
		print_pieces(s, t);
	fflush(stdout);
}

static const char *why_ended(enum ending end)
{
	return end == END_CONTEXT ? "the context is full (with --context-shift it would go on)" : NULL;
}

int run_completion(struct session *s, const struct tokens *prompt)
{
	struct gguf_error e = { 0 };
	enum ending end;
	int err;

	if (output_begin(&s->out))
		return cli_error(s->cli, NULL, "out of memory");
	err = session_continue(s, prompt->id, prompt->n, &e);
	if (err)
		return interrupted() ? 130 : cli_fail(s->cli, err == -EBADMSG ? s->cli->model : "prompt", &e);
	show_prompt(s, prompt);
	/* stop strings are looked for in what the model says */
	s->out.n = 0;
	end = session_generate(s, &e);
	fputc('\n', stdout);
	fflush(stdout);
	if (end == END_ERROR)
		return cli_fail(s->cli, s->cli->model, &e);
	if (why_ended(end))
		cli_warn(s->cli, NULL, "%s", why_ended(end));
	session_print_speed(s);
	return end == END_USER ? 130 : 0;
}

/* As many positions at once as 64 MiB of logits hold, and no more than a batch. */
static size_t logits_part(const struct session *s)
{
	size_t most = ((size_t)64 << 20) / (llm_vocab(s->llm) * sizeof(float));

	if (most > s->cli->batch)
		most = s->cli->batch;
	return most ? most : 1;
}

static int write_logits(struct session *s, const struct tokens *prompt, FILE *f, struct gguf_error *e)
{
	size_t part = logits_part(s), vocab = llm_vocab(s->llm);
	float *logits = calloc(part, vocab * sizeof *logits);
	int err = logits ? 0 : -ENOMEM;

	for (size_t i = 0; i < prompt->n && !err; i += part) {
		if (interrupted()) {
			err = -EINTR;
			break;
		}
		if (part > prompt->n - i)
			part = prompt->n - i;
		err = llm_eval(s->llm, prompt->id + i, part, logits, true, e);
		if (!err && fwrite(logits, vocab * sizeof *logits, part, f) != part)
			err = -errno;
	}
	free(logits);
	return err;
}

int run_logits(struct session *s, const struct tokens *prompt)
{
	const char *path = strcmp(s->args->logits_file, "-") ? s->args->logits_file : "/dev/stdout";
	struct gguf_error e = { 0 };
	struct whole out;
	int err, closed;

	if (prompt->n > llm_context(s->llm))
		return cli_error(s->cli, "prompt", "%zu tokens do not fit into the context of %u", prompt->n,
				 llm_context(s->llm));
	if (cli_output(s->cli, s->source, path, s->args->prompt_file))
		return 1;
	err = whole_open(&out, path);
	if (err)
		return cli_error(s->cli, path, "%s", strerror(-err));
	err = write_logits(s, prompt, out.f, &e);
	closed = whole_close(&out, !err);
	if (!err)
		err = closed;
	if (err == -EINTR && interrupted())
		return 130;
	if (err && !e.code)
		return cli_error(s->cli, path, "%s", strerror(-err));
	return err ? cli_fail(s->cli, s->cli->model, &e) : 0;
}

int64_t run_clock(void)
{
	const char *fixed = getenv("SOURCE_DATE_EPOCH");
	long long v;

	if (fixed && opt_int(fixed, 0, INT64_MAX, &v))
		return v;
	return time(NULL);
}

int run_open_chat(const struct run_args *a, struct source *src, const struct vocab *v, struct chat **chat)
{
	struct gguf_error e = { 0 };
	char *text;
	size_t n;
	int err;

	if (!a->template_file) {
		err = chat_open(chat, src, v, a->template_name, &e);
		if (err)
			return cli_fail(&a->cli, a->template_name ? a->template_name : a->cli.model, &e);
		if (chat_origin(*chat) == CHAT_FALLBACK)
			cli_warn(&a->cli, "chat template", "%s: ChatML serves instead", chat_why(*chat));
		return 0;
	}
	if (cli_read_file(&a->cli, a->template_file, &text, &n))
		return 1;
	err = chat_open_text(chat, v, text, n, &e);
	free(text);
	return err ? cli_fail(&a->cli, a->template_file, &e) : 0;
}

static int render(const struct run_args *a, struct chat *chat)
{
	struct gguf_error e = { 0 };
	json_error_t wrong;
	json_t *object;
	char *out;
	size_t n;
	int err;

	object = !strcmp(a->render, "-") ? json_loadf(stdin, 0, &wrong) : json_load_file(a->render, 0, &wrong);
	if (!json_is_object(object)) {
		json_decref(object);
		return cli_error(&a->cli, a->render, "%s", object ? "not a JSON object" : wrong.text);
	}
	err = chat_render_case(chat, object, run_clock(), &out, &n, &e);
	json_decref(object);
	if (err)
		return cli_fail(&a->cli, "chat template", &e);
	fwrite(out, 1, n, stdout);
	free(out);
	return fflush(stdout) ? cli_error(&a->cli, "stdout", "%s", strerror(errno)) : 0;
}

int run_render(struct run_args *a)
{
	struct source *src = NULL;
	struct vocab *v = NULL;
	struct chat *chat = NULL;
	struct gguf_error e = { 0 };
	int status = cli_source(&a->cli, &src), err = status ? 0 : vocab_open(&v, src, &e);

	if (err && err != -ENOENT)
		status = cli_fail(&a->cli, a->cli.model, &e);
	if (!status)
		status = run_open_chat(a, src, v, &chat);
	if (!status)
		status = render(a, chat);
	chat_close(chat);
	vocab_close(v);
	source_close(src);
	return status;
}
