/* SPDX-License-Identifier: MIT */
/* Command lines by table: what is parsed and what --help prints are one list. */
#ifndef OPT_H
#define OPT_H
#include <stdbool.h>
#include <stddef.h>

enum opt_kind {
	OPT_GROUP, /* a heading; names is its text */
	OPT_ON,    /* bool: true */
	OPT_OFF,   /* bool: false */
	OPT_UINT,  /* unsigned */
	OPT_INT,   /* int */
	OPT_SIZE,  /* size_t */
	OPT_FLOAT, /* float */
	OPT_TEXT,  /* const char *, not copied */
	OPT_CALL,  /* read takes it */
	OPT_ALWAYS, /* nothing is stored: it is always so */
	OPT_NONE,  /* none of ours, but known: help says why it is refused, and --help does not list it */
};

/* An option. Its value is stored at offset of the target. */
struct opt {
	const char *names; /* "-t, --threads" */
	const char *arg;   /* what the value is called in the help; NULL: takes none */
	const char *help;  /* a line; OPT_UINT to OPT_TEXT add the default */
	enum opt_kind kind;
	size_t offset;
	/* For OPT_CALL: stores value at field. Returns NULL, or what is wrong with it. */
	const char *(*read)(void *field, const char *value);
};

/* Some options and the struct that they fill. A list ends with rows NULL; a table ends with names NULL. */
struct opt_table {
	const struct opt *rows;
	void *target;
};

/*
 * Reads argv from 1 on. Words that are no options go to words (room for argc), their number to *n_words. Returns 0, or
 * -EINVAL after "program: option: reason" and opt_try_help's line. "--name=value" is as good as "--name value"; "--"
 * ends options.
 */
int opt_parse(const struct opt_table *tables, int argc, char **argv, const char **words, size_t *n_words);
/* What follows the reason when a command line is wrong, on stderr: where to read more. */
void opt_try_help(const char *program);
/* Prints the tables, with the values that the targets hold as defaults. */
void opt_help(const struct opt_table *tables);

/* Numbers as a whole word: false for anything else. */
bool opt_float(const char *text, float *v);
bool opt_int(const char *text, long long min, long long max, long long *v);
#endif
