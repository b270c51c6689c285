/* SPDX-License-Identifier: MIT */
/* The table is believed only where the files it stands for cannot say otherwise: see describe_by_table in treelist.c. */
#include "treetable.h"
#include "treeval.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAME, TYPE, SHAPE, ELEMENTS, BYTES, FIELDS };

/* Cuts the line at p into its first fields; the rest of it is left alone. */
static bool cut_fields(char *p, char *end, char *field[FIELDS])
{
	*end = '\0';
	for (int i = 0; i < FIELDS; i++) {
		field[i] = p;
		p = p ? strchr(p, '\t') : NULL;
		if (!p)
			return false;
		*p++ = '\0';
	}
	return true;
}

static bool read_row(char *line, char *end, struct weight *w)
{
	char *field[FIELDS], *stop;

	if (!cut_fields(line, end, field))
		return false;
	w->name = (struct gguf_bytes){ field[NAME], strlen(field[NAME]) };
	errno = 0;
	w->size = strtoull(field[BYTES], &stop, 10);
	return text_unescape_item(&w->name) && !text_type(field[TYPE], &w->type) && !text_shape(field[SHAPE], w) &&
	       !errno && stop != field[BYTES] && !*stop;
}

static int compare_names(const struct gguf_bytes *a, const struct gguf_bytes *b)
{
	int d = memcmp(a->p, b->p, a->n < b->n ? a->n : b->n);

	return d ? d : (a->n > b->n) - (a->n < b->n);
}

static int compare_rows(const void *a, const void *b)
{
	return compare_names(&(*(const struct weight *const *)a)->name, &(*(const struct weight *const *)b)->name);
}

/* False when a name is there twice. */
static bool sort(struct table *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->sorted[i] = &t->row[i];
	qsort(t->sorted, t->n, sizeof(*t->sorted), compare_rows);
	for (size_t i = 1; i < t->n; i++)
		if (!compare_rows(&t->sorted[i - 1], &t->sorted[i]))
			return false;
	return true;
}

int table_read(struct table *t, char *text, size_t n)
{
	char *end = text + n, *line = memchr(text, '\n', n), *eol;
	size_t lines = 0;
	int err = 0;

	*t = (struct table){ 0 };
	if (!line)
		return -EINVAL;
	for (const char *p = ++line; (p = memchr(p, '\n', (size_t)(end - p))); p++)
		lines++;
	t->row = calloc(lines + 1, sizeof(*t->row));
	t->sorted = calloc(lines + 1, sizeof(*t->sorted));
	if (!t->row || !t->sorted)
		err = -ENOMEM;
	for (; !err && t->n < lines; line = eol + 1) {
		eol = memchr(line, '\n', (size_t)(end - line));
		err = read_row(line, eol, &t->row[t->n++]) ? 0 : -EINVAL;
	}
	if (!err && !sort(t))
		err = -EINVAL;
	if (err)
		table_free(t);
	return err;
}

void table_free(struct table *t)
{
	free(t->row);
	free(t->sorted);
	*t = (struct table){ 0 };
}

const struct weight *table_find(const struct table *t, const char *name)
{
	const struct weight want = { .name = { name, strlen(name) } }, *key = &want;
	const struct weight **found = t->n ? bsearch(&key, t->sorted, t->n, sizeof(*t->sorted), compare_rows) : NULL;

	return found ? *found : NULL;
}

const struct weight *table_find_cut(const struct table *t, const char *file)
{
	char beginning[NAME_ROOM];
	const char *mark = NULL;
	unsigned long long i;
	char *stop;
	size_t n;

	for (const char *p = file; (p = strstr(p, "%~")); p++)
		mark = p;
	if (!mark || strlen(file) >= NAME_ROOM)
		return NULL;
	i = strtoull(mark + 2, &stop, 10);
	if (stop == mark + 2 || *stop || i >= t->n)
		return NULL;
	memcpy(beginning, file, (size_t)(mark - file));
	beginning[mark - file] = '\0';
	text_unescape_name(beginning, beginning);
	n = strlen(beginning);
	return t->row[i].name.n > n && !memcmp(t->row[i].name.p, beginning, n) ? &t->row[i] : NULL;
}
