/* SPDX-License-Identifier: MIT */
/* What the programs that run a model share: their common options, how they open it, and how they report. */
#ifndef CLI_H
#define CLI_H
#include "llm.h"
#include "opt.h"
#include "source.h"

enum { CLI_PHASES = 8 };
struct cli {
	const char *program;
	const char *model;
	unsigned threads, context, batch;
	enum cache_type k, v;
	enum load_mode mode;
	bool lazy, check, timings, help, version;
	struct overrides overrides;
	/* set by the functions below */
	double start, last; /* seconds on the monotonic clock */
	struct { const char *name; double seconds; } phase[CLI_PHASES];
	unsigned phases;
	double bar_drawn;   /* when the progress bar was drawn last; 0: never */
};

/* Rows for struct cli, and what it holds without options. */
extern const struct opt cli_options[];
extern const struct cli cli_defaults;

/*
 * For rows of other tables: --override-kv into a struct overrides, --load-mode into an enum load_mode, --cache-type-k
 * and -v into an enum cache_type.
 */
const char *cli_read_override(void *field, const char *value);
#define CLI_LOAD_MODES "auto, backing, mmap, mlock, populate, read"
const char *cli_read_load_mode(void *field, const char *value);
#define CLI_CACHE_TYPES "f16, f32, q8_0, auto"
const char *cli_read_cache_type(void *field, const char *value);

/* For the start of main: starts the clocks, and sees to it that descriptors 0 to 2 are there. */
void cli_start(struct cli *c, const char *argv0);
/* Part of it: no signal leaves a half file, and a mapped file that cannot be read any more is told. */
void cli_signals(const struct cli *c);
/* "program: object: text" on stderr, what cannot be printed escaped. Returns 1, the exit status. */
int cli_fail(const struct cli *c, const char *object, const struct gguf_error *e);
__attribute__((format(printf, 3, 4)))
int cli_error(const struct cli *c, const char *object, const char *fmt, ...);
/* For a wrong command line: the reason, and where to read more. Returns 2, the exit status. */
int cli_usage(const struct cli *c, const char *reason);
/* The same as cli_error, as a warning. */
__attribute__((format(printf, 3, 4)))
void cli_warn(const struct cli *c, const char *object, const char *fmt, ...);

/* Opens c->model. 0, or the exit status after a message. */
int cli_source(struct cli *c, struct source **s);
/* Makes it ready to run, with a progress bar where stderr is a terminal. A lack of memory is told with the estimate. */
int cli_llm(struct cli *c, struct source *s, struct llm **m);
/* Prints what it would take. */
int cli_estimate(struct cli *c, struct source *s);

/* Ends a phase: what passed since the last one ended belongs to name, which must stay. */
void cli_phase(struct cli *c, const char *name);
void cli_print_phases(const struct cli *c);
/* Whether path may be written: 0, or 1 after a message where it is of the model, or input (NULL: none), which is read. */
int cli_output(const struct cli *c, struct source *s, const char *path, const char *input);
/*
 * For the end of main: writes out what is left on standard output. Returns status, or 1 after a message where that
 * cannot be written.
 */
int cli_end(const struct cli *c, int status);

/* A program of one model: its options, and what it does with them. */
struct cli_program {
	struct cli *cli;                /* takes the word that is no option as its model */
	const struct opt_table *tables; /* of options, those of cli among them */
	const char *usage;              /* lines of the help above them */
	/* What is wrong with the command line, which has so many words that are no options, or NULL. */
	const char *(*wrong)(const void *ctx, size_t words);
	int (*run)(void *ctx);          /* returns the exit status */
	void *ctx;
};
/* All of main. */
int cli_main(const struct cli_program *p, int argc, char **argv);
void cli_version(const struct cli *c);

/* The whole file at path ("-": standard input) in *text, to be free()d, with a NUL after it. */
int cli_read_file(const struct cli *c, const char *path, char **text, size_t *n);
#endif
