/* SPDX-License-Identifier: MIT */
/* Conversation: each turn the template writes all of it again; what is in the context already is not computed again. */
#define _GNU_SOURCE
#include "run.h"
#include "safe.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct talk {
	struct session *s;
	struct chat *chat;
	json_t *kwargs;
	struct chat_message *messages; /* contents are ours */
	size_t n, cap;
	bool terminal;
};

static int add(struct talk *t, const char *role, const char *content)
{
	char *copy = strdup(content);
	struct chat_message *grown = t->messages;

	if (copy && t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 16;
		grown = reallocarray(t->messages, t->cap, sizeof *grown);
		if (grown)
			t->messages = grown;
	}
	if (!copy || !grown) {
		free(copy);
		return cli_error(t->s->cli, NULL, "out of memory");
	}
	t->messages[t->n++] = (struct chat_message){ role, copy };
	return 0;
}

static void drop(struct talk *t, size_t keep)
{
	while (t->n > keep)
		free((char *)t->messages[--t->n].content);
}

static bool is_role(const struct talk *t, size_t i, const char *role)
{
	return i < t->n && !strcmp(t->messages[i].role, role);
}

/* The oldest question and answer; false when the last question is all there is. */
static bool drop_oldest(struct talk *t)
{
	size_t first = is_role(t, 0, "system"), next = first + 1;

	while (next < t->n && !is_role(t, next, "user"))
		next++;
	if (next >= t->n)
		return false;
	for (size_t i = first; i < next; i++)
		free((char *)t->messages[i].content);
	memmove(t->messages + first, t->messages + next, (t->n - next) * sizeof *t->messages);
	t->n -= next - first;
	return true;
}

/*
 * The conversation as tokens. A template that writes the token that the vocabulary adds in front by itself must not
 * give it twice.
 */
static int encode(struct talk *t, const char *text, size_t n, struct tokens *ids)
{
	const struct vocab *v = t->s->vocab;
	unsigned flags = VOCAB_PARSE;

	if (vocab_adds_bos(v) && vocab_bos(v) >= 0) {
		struct gguf_bytes bos = vocab_text(v, vocab_bos(v));

		if (bos.n > n || memcmp(text, bos.p, bos.n))
			flags |= VOCAB_SPECIAL;
	}
	ids->n = 0;
	return vocab_encode(v, text, n, flags, ids);
}

static int render(struct talk *t, struct tokens *ids, struct gguf_error *e)
{
	struct chat_request r = {
		.messages = t->messages, .n = t->n, .kwargs = t->kwargs, .answer = true, .now = run_clock()
	};
	char *text;
	size_t n;
	int err = chat_render(t->chat, &r, &text, &n, e);

	if (err)
		return err;
	if (t->s->args->verbose_prompt)
		safe_print(stderr, text, n);
	err = encode(t, text, n, ids);
	free(text);
	if (err)
		e->code = err, snprintf(e->text, sizeof e->text, "%s", strerror(-err));
	return err;
}

/* Feeds the conversation; where it has outgrown the context, and --context-shift, without its oldest turns. */
static int feed(struct talk *t, struct gguf_error *e)
{
	struct tokens ids = { 0 };
	int err;

	for (;;) {
		err = render(t, &ids, e);
		if (err || ids.n < llm_context(t->s->llm) || !t->s->args->shift || !drop_oldest(t))
			break;
		cli_warn(t->s->cli, NULL, "the context is full: the oldest turn is forgotten");
	}
	if (!err)
		err = session_continue(t->s, ids.id, ids.n, e);
	free(ids.id);
	return err;
}

/* Answers the last message. What went wrong is told and the message forgotten. */
static int answer(struct talk *t)
{
	struct gguf_error e = { 0 };
	enum ending end;

	if (feed(t, &e) || output_begin(&t->s->out)) {
		drop(t, t->n - 1);
		return interrupted() ? 0 : cli_fail(t->s->cli, "conversation", &e);
	}
	end = session_generate(t->s, &e);
	fputc('\n', stdout);
	fflush(stdout);
	if (end == END_ERROR)
		return cli_fail(t->s->cli, t->s->cli->model, &e);
	if (end == END_CONTEXT)
		cli_warn(t->s->cli, NULL, "the context is full");
	return add(t, "assistant", t->s->out.text);
}

/* ---- what the user writes ---- */

enum action { ASK, AGAIN, QUIT };
struct command {
	const char *name, *help;
	enum action (*run)(struct talk *t, const char *rest);
};

static enum action do_quit(struct talk *t, const char *rest)
{
	(void)t;
	(void)rest;
	return QUIT;
}

static enum action do_clear(struct talk *t, const char *rest)
{
	(void)rest;
	drop(t, is_role(t, 0, "system"));
	return AGAIN;
}

static enum action do_regen(struct talk *t, const char *rest)
{
	(void)rest;
	if (!is_role(t, t->n - 1, "assistant"))
		return AGAIN;
	drop(t, t->n - 1);
	return ASK;
}

static enum action do_read(struct talk *t, const char *rest)
{
	char *text;
	size_t n;
	int err;

	if (cli_read_file(t->s->cli, rest, &text, &n))
		return AGAIN;
	err = add(t, "user", text);
	free(text);
	return err ? QUIT : ASK;
}

static enum action do_help(struct talk *t, const char *rest);
static const struct command commands[] = {
	{ "/exit", "end (so do /quit, Ctrl-D, and Ctrl-C at the prompt)", do_quit },
	{ "/quit", NULL, do_quit },
	{ "/clear", "forget the conversation", do_clear },
	{ "/regen", "answer the last question again", do_regen },
	{ "/read", "FILE: ask what is written there", do_read },
	{ "/help", "this list", do_help },
};
enum { COMMANDS = sizeof(commands) / sizeof(*commands) };

static enum action do_help(struct talk *t, const char *rest)
{
	(void)t;
	(void)rest;
	for (size_t i = 0; i < COMMANDS; i++)
		if (commands[i].help)
			printf("%-8s %s\n", commands[i].name, commands[i].help);
	return AGAIN;
}

/* A line that is one word after a slash was meant as a command; with a space before it it goes to the model. */
static bool is_command(const char *line)
{
	return line[0] == '/' && line[1] && !line[1 + strspn(line + 1, "abcdefghijklmnopqrstuvwxyz")];
}

static enum action take(struct talk *t, const char *line)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		size_t n = strlen(commands[i].name);

		if (!strncmp(line, commands[i].name, n) && (!line[n] || line[n] == ' '))
			return commands[i].run(t, line + n + strspn(line + n, " "));
	}
	if (!*line)
		return AGAIN;
	if (is_command(line)) {
		cli_warn(t->s->cli, line, "no such command: /help lists them");
		return AGAIN;
	}
	return add(t, "user", line) ? QUIT : ASK;
}

/* A line, and those after it while they end in a backslash. */
static char *read_message(const struct talk *t)
{
	char *text = NULL, *line, *both;
	size_t n = 0;

	do {
		line = line_read(!t->terminal ? "" : text ? "... " : "> ", t->terminal && !t->s->args->plain_input);
		if (!line)
			return text;
		both = realloc(text, n + strlen(line) + 2);
		if (!both)
			break;
		text = both;
		if (n)
			text[n - 1] = '\n';
		strcpy(text + n, line);
		free(line);
		n += strlen(text + n);
	} while (n && text[n - 1] == '\\');
	return text;
}

static enum action next_message(struct talk *t)
{
	char *line = read_message(t);
	enum action act = line ? take(t, line) : QUIT;

	free(line);
	return act;
}

static int talk(struct talk *t, const char *first)
{
	enum action act = first && *first ? (add(t, "user", first) ? QUIT : ASK) : AGAIN;
	int status = 0;

	for (;;) {
		interrupt_clear();
		while (act == AGAIN)
			act = next_message(t);
		if (act == QUIT)
			break;
		session_begin_turn(t->s);
		status = answer(t);
		if (t->terminal || !status)
			session_print_speed(t->s);
		if (t->s->args->single_turn || (status && !t->terminal))
			break;
		act = AGAIN;
	}
	return status;
}

int run_chat(struct session *s, struct chat *chat)
{
	struct talk t = { .s = s, .chat = chat, .terminal = isatty(STDIN_FILENO) };
	struct gguf_error e = { 0 };
	const char *kwargs = s->args->template_kwargs;
	/* nobody shall write a question to a model that will not run */
	int status = llm_check(s->llm, &e) ? cli_fail(s->cli, s->cli->model, &e) : 0;

	t.kwargs = kwargs ? json_loads(kwargs, 0, NULL) : NULL;
	if (!status && s->args->system && *s->args->system)
		status = add(&t, "system", s->args->system);
	if (!status)
		status = talk(&t, s->args->prompt);
	drop(&t, 0);
	free(t.messages);
	json_decref(t.kwargs);
	return status;
}
