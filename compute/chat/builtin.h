/* SPDX-License-Identifier: MIT */
/* What is built in: filters, tests, global functions, methods. Each list is one table of rows. */
#ifndef BUILTIN_H
#define BUILTIN_H
#include "value.h"

struct run;

struct keyword {
	struct str *name;
	struct value value;
};
struct args {
	const struct value *v;
	size_t n;
	const struct keyword *kw;
	size_t nkw;
};

enum { MAX_PARAMS = 8 };
/* a: one value for each name of params, ABSENT where none was given; all: the arguments as they were written. */
typedef struct value builtin_fn(struct run *r, const struct value *a, const struct args *all);
struct builtin {
	const char *name;
	builtin_fn *fn;
	/*
	 * Names of parameters; with a '?' those that may be left out; "*" at the end: any more arguments, in all.
	 * "lazy:" first: the call gives an iterator, and fn is called when that is walked.
	 */
	const char *params;
};

/* Puts the arguments where fn wants them and calls it. */
struct value builtin_call(struct run *r, const struct builtin *b, const struct args *args);

/* NULL for a name that is not there. */
const struct builtin *filter_find(const struct str *name);
const struct builtin *test_find(const struct str *name);
const struct builtin *global_find(const struct str *name);
/* The method of a value of that type, or NULL. */
const struct builtin *method_find(enum value_type type, const struct str *name);
/* Whether the method exists in Python and would change the value. */
bool method_mutates(enum value_type type, const struct str *name);

/* For the tables of filters, which are spread over files by what they work on; each ends in a row without a name. */
extern const struct builtin text_filters[], list_filters[], pick_filters[], number_filters[];
extern const struct builtin text_methods[], find_methods[], case_methods[];
#endif
