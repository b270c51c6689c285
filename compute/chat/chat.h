/* SPDX-License-Identifier: MIT */
/* The chat format of a model: its own template where it has one, else a named one, else ChatML. */
#ifndef CHAT_H
#define CHAT_H
#include "template.h"

struct source;
struct vocab;
struct chat;

/* Where a chat's template came from. */
enum chat_origin {
	CHAT_MODEL,    /* tokenizer.chat_template, or the named one that was asked for */
	CHAT_BUILTIN,  /* a named one of ours, asked for */
	CHAT_TEXT,     /* chat_open_text() */
	CHAT_FALLBACK, /* ChatML, because the model has none that works: see chat_why() */
};

/*
 * Opens the template called name: of the model (tokenizer.chat_template.NAME) or one of ours ("chatml", "llama3", ...);
 * NULL is the model's default. s and v may be NULL; they must outlive *out. -ENOENT for a name that nobody knows.
 */
int chat_open(struct chat **out, struct source *s, const struct vocab *v, const char *name, struct gguf_error *e);
/* The same with a template given as n bytes of text. -EINVAL, with the line in e->text, where it does not parse. */
int chat_open_text(struct chat **out, const struct vocab *v, const char *text, size_t n, struct gguf_error *e);
void chat_close(struct chat *c); /* NULL is fine */

enum chat_origin chat_origin(const struct chat *c);
/* The template's name: "default", "tool_use", "chatml", ... */
const char *chat_name(const struct chat *c);
/* After CHAT_FALLBACK: one sentence that says why, to be printed; else "". */
const char *chat_why(const struct chat *c);
/* Names of the templates of a model (0, 1, ...), then NULL; the unnamed one is "default". */
const char *chat_model_template(struct source *s, size_t i);
/* Names of our own, then NULL; and the text of one, NULL for an unknown name. */
const char *chat_builtin(size_t i);
const char *chat_builtin_text(const char *name);

/*
 * What is rendered is to be tokenized with VOCAB_PARSE. Many templates write the BOS themselves: add one only where the
 * text does not start with it.
 *
 * Renders a case: an object whose members (messages, tools, add_generation_prompt, enable_thinking, ...) are the
 * template's global variables. bos_token and eos_token come from the vocabulary unless the case has them. now is the
 * clock in seconds since the epoch. *out is to be free()d. Errors as of template_render().
 */
int chat_render_case(const struct chat *c, const json_t *object, int64_t now, char **out, size_t *n,
		     struct gguf_error *e);

struct chat_message {
	const char *role, *content; /* UTF-8 */
};
struct chat_request {
	const struct chat_message *messages;
	size_t n;
	const json_t *tools;  /* an array, or NULL */
	const json_t *kwargs; /* an object of further globals (enable_thinking, ...), or NULL */
	bool answer;          /* add_generation_prompt: end with the head of the assistant's turn */
	int64_t now;
};
/*
 * Renders a conversation. Content that is not UTF-8 has each wrong byte replaced by U+FFFD. A template that refuses a
 * system message gets it again as the head of the first user message.
 */
int chat_render(const struct chat *c, const struct chat_request *r, char **out, size_t *n, struct gguf_error *e);
#endif
