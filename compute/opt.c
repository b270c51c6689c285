/* SPDX-License-Identifier: MIT */
/* Reads command lines by their tables, and says which option was meant when there is none of that name. */
#include "opt.h"
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool opt_float(const char *text, float *v)
{
	char *end;
	float f = strtof(text, &end);

	if (end == text || *end || f != f)
		return false;
	*v = f;
	return true;
}

bool opt_int(const char *text, long long min, long long max, long long *v)
{
	char *end;
	long long n;

	errno = 0;
	n = strtoll(text, &end, 10);
	if (end == text || *end || errno || n < min || n > max)
		return false;
	*v = n;
	return true;
}

static const char *store(const struct opt *o, void *target, const char *value)
{
	void *field = (char *)target + o->offset;
	long long n = 0;

	switch (o->kind) {
	case OPT_ON:
	case OPT_OFF:
		*(bool *)field = o->kind == OPT_ON;
		return NULL;
	case OPT_UINT:
		if (!opt_int(value, 0, UINT_MAX, &n))
			return "not a whole number from 0 to 4294967295";
		*(unsigned *)field = (unsigned)n;
		return NULL;
	case OPT_INT:
		if (!opt_int(value, INT_MIN, INT_MAX, &n))
			return "not a whole number";
		*(int *)field = (int)n;
		return NULL;
	case OPT_SIZE:
		if (!opt_int(value, 0, LLONG_MAX, &n))
			return "not a whole number from 0 on";
		*(size_t *)field = (size_t)n;
		return NULL;
	case OPT_FLOAT:
		return opt_float(value, field) ? NULL : "not a number";
	case OPT_TEXT:
		*(const char **)field = value;
		return NULL;
	case OPT_CALL:
		return o->read(field, value);
	case OPT_ALWAYS:
		return NULL;
	case OPT_GROUP:
	case OPT_NONE:
		break;
	}
	return "not an option";
}

/* Whether the comma-separated names have word, n bytes long. */
static bool named(const char *names, const char *word, size_t n)
{
	while (*names) {
		size_t len = strcspn(names, ",");

		if (len == n && !strncmp(names, word, n))
			return true;
		names += len;
		names += strspn(names, ", ");
	}
	return false;
}

static const struct opt *find(const struct opt_table *tables, const char *word, size_t n, void **target)
{
	for (; tables->rows; tables++)
		for (const struct opt *o = tables->rows; o->names; o++)
			if (o->kind != OPT_GROUP && named(o->names, word, n)) {
				*target = tables->target;
				return o;
			}
	return NULL;
}

/* How many letters two words differ in; more than most: most and one. Words over 32 letters are far from any other. */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb, unsigned most)
{
	enum { LETTERS = 32 };
	unsigned row[LETTERS + 1];

	if (na > LETTERS || nb > LETTERS)
		return most + 1;
	for (size_t j = 0; j <= nb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned corner = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned swap = corner + (a[i - 1] != b[j - 1]),
				 add = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

			corner = row[j];
			row[j] = swap < add ? swap : add;
		}
	}
	return row[nb] > most ? most + 1 : row[nb];
}

/* The long option that word is nearest to, by two letters at most, the first counting twice: its bytes, 0 for none. */
static size_t nearest(const struct opt_table *tables, const char *word, size_t n, const char **found)
{
	unsigned best = 3, d;
	size_t found_n = 0;

	for (; tables->rows; tables++)
		for (const struct opt *o = tables->rows; o->names; o++)
			for (const char *p = o->kind == OPT_GROUP || o->kind == OPT_NONE ? "" : o->names; *p;
			     p += strspn(p, ", ")) {
				size_t len = strcspn(p, ",");

				d = len > 4 && n > 2 ? distance(p, len, word, n, 2) + (p[2] != word[2]) : 3;
				if (d < best) {
					best = d;
					*found = p;
					found_n = len;
				}
				p += len;
			}
	return found_n;
}

void opt_try_help(const char *program)
{
	fprintf(stderr, "Try '%s --help'.\n", program);
}

static int complain(const char *program, const char *word, size_t n, const char *reason, const char *value)
{
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;

	fprintf(stderr, "%s: %.*s: %s%s%s\n", name, (int)n, word, reason, value ? ": " : "", value ? value : "");
	opt_try_help(name);
	return -EINVAL;
}

static int complain_unknown(const struct opt_table *tables, const char *program, const char *word, size_t n)
{
	char hint[64];
	const char *near;
	size_t len = nearest(tables, word, n, &near);

	if (!len)
		return complain(program, word, n, "unknown option", NULL);
	snprintf(hint, sizeof hint, "unknown option, %.*s is one", (int)len, near);
	return complain(program, word, n, hint, NULL);
}

/* Takes the option at argv[*i], and its value with it. */
static int take(const struct opt_table *tables, int argc, char **argv, int *i)
{
	const char *word = argv[*i], *equals = strncmp(word, "--", 2) ? NULL : strchr(word, '='), *value, *wrong;
	size_t n = equals ? (size_t)(equals - word) : strlen(word);
	void *target;
	const struct opt *o = find(tables, word, n, &target);

	if (!o)
		return complain_unknown(tables, argv[0], word, n);
	if (o->kind == OPT_NONE)
		return complain(argv[0], word, n, o->help, NULL);
	if (!o->arg && equals)
		return complain(argv[0], word, n, "takes no value", NULL);
	if (o->arg && !equals && *i + 1 >= argc)
		return complain(argv[0], word, n, "needs a value", NULL);
	value = !o->arg ? NULL : equals ? equals + 1 : argv[++*i];
	wrong = store(o, target, value);
	return wrong ? complain(argv[0], word, n, wrong, value) : 0;
}

int opt_parse(const struct opt_table *tables, int argc, char **argv, const char **words, size_t *n_words)
{
	bool options = true;
	int err;

	*n_words = 0;
	for (int i = 1; i < argc; i++) {
		if (options && !strcmp(argv[i], "--")) {
			options = false;
		} else if (!options || argv[i][0] != '-' || !argv[i][1]) {
			words[(*n_words)++] = argv[i];
		} else {
			err = take(tables, argc, argv, &i);
			if (err)
				return err;
		}
	}
	return 0;
}

static void print_default(const struct opt *o, const void *target)
{
	const void *field = (const char *)target + o->offset;
	const char *text;

	switch (o->kind) {
	case OPT_UINT:
		printf(" (default: %u)", *(const unsigned *)field);
		break;
	case OPT_INT:
		printf(" (default: %d)", *(const int *)field);
		break;
	case OPT_SIZE:
		printf(" (default: %zu)", *(const size_t *)field);
		break;
	case OPT_FLOAT:
		printf(" (default: %g)", (double)*(const float *)field);
		break;
	case OPT_TEXT:
		text = *(const char *const *)field;
		if (text)
			printf(" (default: %s)", text);
		break;
	default:
		break;
	}
}

void opt_help(const struct opt_table *tables)
{
	enum { COLUMN = 38 };

	for (; tables->rows; tables++)
		for (const struct opt *o = tables->rows; o->names; o++) {
			int n;

			if (o->kind == OPT_NONE)
				continue;
			if (o->kind == OPT_GROUP) {
				printf("\n%s\n", o->names);
				continue;
			}
			n = printf("  %s%s%s", o->names, o->arg ? " " : "", o->arg ? o->arg : "");
			if (n >= COLUMN)
				n = printf("\n") - 1;
			printf("%*s%s", COLUMN - n, "", o->help);
			print_default(o, tables->target);
			putchar('\n');
		}
}
