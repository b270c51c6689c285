/* SPDX-License-Identifier: MIT */
/* gguf-run: what its parts know of each other. */
#ifndef RUN_H
#define RUN_H
#include "chat/chat.h"
#include "cli.h"
#include "sample_opt.h"
#include "token/token.h"
#include "token/utf8.h"

enum { STOPS_MAX = 32 };
enum conversation { CNV_AUTO, CNV_ON, CNV_OFF };

struct run_args {
	struct cli cli;
	struct sample_args sample;
	const char *prompt, *prompt_file, *ids;
	size_t prompt_size; /* bytes: a file may hold NUL */
	const char *system, *system_file;
	const char *logits_file, *render;
	const char *template_name, *template_file, *template_kwargs;
	const char *stop[STOPS_MAX];
	size_t stops;
	int predict, keep;
	enum conversation conversation;
	bool single_turn, print_ids, special, escape, display_prompt, verbose_prompt;
	bool shift, dry_run, warmup, speed, plain_input;
};
/* Options over base (the model's own sampling, or the defaults). Returns 0, or the exit status after a message. */
int run_parse(struct run_args *a, const struct sampler_options *base, int argc, char **argv);
void run_help(void);

/* Where text goes: whole characters only, and on a terminal none that control it. */
struct output {
	FILE *f;
	bool terminal;
	struct utf8_hold held;
	char *text;         /* what was said since output_begin, for stop strings and messages */
	size_t n, cap;
};
int output_begin(struct output *o);
int output_put(struct output *o, const char *p, size_t n);
void output_end(struct output *o);

struct session {
	struct run_args *args;
	struct cli *cli;
	struct source *source;
	struct vocab *vocab; /* NULL: the model has none */
	struct llm *llm;
	struct sampler *sampler;
	struct output out;
	float *logits;
	int32_t *said;       /* the tokens in the context, room for all */
	size_t n_said;
	size_t first;        /* tokens of the first prompt */
	/* steps: tokens that were computed in that time */
	struct { size_t tokens, steps; double seconds; } prompt, generated;
};

/* Feeds n tokens, with the logits of the last in s->logits. Interrupted: -EINTR. */
int session_feed(struct session *s, const int32_t *ids, size_t n, struct gguf_error *e);
/* Goes back to what the context and ids have in common (never all of ids) and feeds the rest. */
int session_continue(struct session *s, const int32_t *ids, size_t n, struct gguf_error *e);
/* Writes tokens to s->out until the model, a stop string, the number asked for, the context or the user ends it. */
enum ending { END_MODEL, END_STOP, END_COUNT, END_CONTEXT, END_USER, END_ERROR };
enum ending session_generate(struct session *s, struct gguf_error *e);
/* Speeds are those since the last of these, or since the start. */
void session_begin_turn(struct session *s);
void session_print_speed(const struct session *s);

/* The modes; each returns the exit status. */
int run_render(struct run_args *a);
int run_logits(struct session *s, const struct tokens *prompt);
int run_completion(struct session *s, const struct tokens *prompt);
int run_chat(struct session *s, struct chat *chat);
int run_open_chat(const struct run_args *a, struct source *src, const struct vocab *v, struct chat **chat);
/* Seconds since the epoch for templates: SOURCE_DATE_EPOCH or now. */
int64_t run_clock(void);

/* ---- the user's interrupts ---- */

/* From here on the first Ctrl-C sets the flag of interrupted() and the next ends the program. */
void interrupt_catch(void);
/* Whether the first one ends the program, too: while it waits for the user. */
void interrupt_ends(bool yes);
bool interrupted(void);
void interrupt_clear(void);

/* A line from the user without its newline, to be free()d; NULL at the end. With editing and history on a terminal. */
char *line_read(const char *prompt, bool edit);
#endif
