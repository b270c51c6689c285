/* SPDX-License-Identifier: MIT */
/*
 * A manifest: a line for each file, each tensor and the model: SHA256 XXH64 BYTES KIND NAME. Files have numbers for
 * names, since they may be called anything. A tensor's digests are of its bytes in little-endian order, so they hold
 * for any split or byte order of a model; the model's are of the lines of its tensors. NAME is escaped as in all
 * output.
 */
#include "fsck_report.h"
#include "quote.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "# fsck.gguf manifest 1\n"

enum { LINE = 4096 + 200, NAME = 4096 };

static size_t write_line(char line[LINE], const char *kind, const struct digest *d, uint64_t bytes, const char *name,
			 size_t n)
{
	static const char digit[] = "0123456789abcdef";
	char hex[65] = "", quoted[NAME];

	for (int i = 0; i < 32; i++) {
		hex[2 * i] = digit[d->sha256[i] >> 4];
		hex[2 * i + 1] = digit[d->sha256[i] & 15];
	}
	return (size_t)snprintf(line, LINE, "%s %016" PRIx64 " %" PRIu64 " %s %s\n", hex, d->xxh64, bytes, kind,
				gguf_quote(quoted, sizeof quoted, name, n));
}

/* All lines of a model in their order, one after the other. */
struct lines {
	const struct gguf *g;
	const struct digest *tensors, *files;
	size_t next;
	struct hash *model;
	uint64_t bytes; /* of all tensors */
};

static int lines_begin(struct lines *l, const struct gguf *g, const struct digest *tensors, const struct digest *files)
{
	*l = (struct lines){ .g = g, .tensors = tensors, .files = files, .model = hash_new() };
	return l->model ? 0 : -ENOTSUP;
}

/* The next line. False after the last, which is the model's. */
static bool lines_next(struct lines *l, char line[LINE])
{
	size_t i = l->next++, files = l->g->file_count, tensors = l->g->tensor_count, n;

	if (i < files) {
		char number[32];

		n = (size_t)snprintf(number, sizeof number, "%zu of %zu", i + 1, files);
		write_line(line, "file", &l->files[i], l->g->files[i].about.size, number, n);
	} else if (i < files + tensors) {
		const struct gguf_tensor *t = &l->g->tensors[i - files];

		n = write_line(line, "tensor", &l->tensors[i - files], t->size, t->name.p, t->name.n);
		hash_add(l->model, line, n < LINE ? n : LINE - 1);
		l->bytes += t->size;
	} else if (l->model) {
		struct digest d;

		hash_end(l->model, &d);
		l->model = NULL;
		write_line(line, "model", &d, l->bytes, "all", 3);
	} else {
		return false;
	}
	return true;
}

void manifest_print(const struct gguf *g, const struct digest *tensors, const struct digest *files)
{
	struct lines l;
	char line[LINE];

	if (lines_begin(&l, g, tensors, files))
		return;
	fputs(HEAD, stdout);
	while (lines_next(&l, line))
		fputs(line, stdout);
}

/* ---- comparing ---- */

struct entry { /* of the manifest: first name, for names_build() */
	struct gguf_bytes name; /* its kind, a space and its name */
	const char *line;
	bool met;
};
struct manifest {
	char *text;
	struct entry *entries;
	size_t count;
	struct names names;
};

static int slurp(const char *path, char **text)
{
	FILE *f = fopen(path, "re");
	size_t n = 0;
	ssize_t got = f ? getdelim(text, &n, 0, f) : -1;
	int err = got < 0 ? (f && feof(f) ? -EINVAL : -errno) : 0;

	if (f)
		fclose(f);
	return err;
}

/* What a line is about follows its three numbers. */
static bool split_line(const char *line, struct entry *e)
{
	const char *name = line;

	for (int i = 0; name && i < 3; i++) {
		name = strchr(name, ' ');
		name = name ? name + 1 : NULL;
	}
	if (!name)
		return false;
	*e = (struct entry){ .line = line, .name = { name, strlen(name) } };
	return true;
}

static int parse(struct manifest *m)
{
	char *save, *line;
	size_t room = 0, twins[2];

	if (strncmp(m->text, HEAD, sizeof HEAD - 1))
		return -EINVAL;
	for (line = strtok_r(m->text + sizeof HEAD - 1, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (m->count == room) {
			struct entry *more = reallocarray(m->entries, room * 2 + 64, sizeof *more);

			if (!more)
				return -ENOMEM;
			m->entries = more;
			room = room * 2 + 64;
		}
		if (*line != '#' && !split_line(line, &m->entries[m->count++]))
			return -EINVAL;
	}
	return names_build(&m->names, m->entries, sizeof *m->entries, m->count, twins) ? -EINVAL : 0;
}

static void compare(struct report *r, struct manifest *m, char *line)
{
	struct entry e, *want;
	ssize_t i;

	line[strcspn(line, "\n")] = 0;
	if (!split_line(line, &e))
		return;
	i = names_find(&m->names, e.name.p, e.name.n);
	if (i < 0) {
		check_say(r, ERROR, e.name.p, 0, "is not in the manifest");
		return;
	}
	want = &m->entries[i];
	want->met = true;
	if (strcmp(want->line, line))
		check_say(r, ERROR, e.name.p, 0, "differs from the manifest");
}

/* The manifest is a stranger's text too. */
static void say_missing(struct report *r, const struct entry *e)
{
	char quoted[NAME];

	check_say(r, ERROR, gguf_quote(quoted, sizeof quoted, e->name.p, e->name.n), 0,
		  "is in the manifest, but not in the model");
}

int manifest_check(struct report *r, const char *path, const struct gguf *g, const struct digest *tensors,
		   const struct digest *files)
{
	struct manifest m = { 0 };
	struct lines l;
	char line[LINE];
	int err = slurp(path, &m.text);

	if (!err)
		err = parse(&m);
	if (!err)
		err = lines_begin(&l, g, tensors, files);
	while (!err && lines_next(&l, line))
		compare(r, &m, line);
	for (size_t i = 0; !err && i < m.count; i++)
		if (!m.entries[i].met)
			say_missing(r, &m.entries[i]);
	names_free(&m.names);
	free(m.entries);
	free(m.text);
	return err;
}
