/* SPDX-License-Identifier: MIT */
/* The files that options name: what is read whole, and what may be written. */
#include "config.h"
#include "cli.h"
#include "backend.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int cli_output(const struct cli *c, struct source *s, const char *path, const char *input)
{
	struct stat in, out;

	if (source_holds(s, path))
		return cli_error(c, path, "this is the model itself: it is not written over");
	if (input && !stat(input, &in) && !stat(path, &out) && S_ISREG(out.st_mode) && is_same_file(&in, &out))
		return cli_error(c, path, "this is what is read: it is not written over");
	return 0;
}

static int slurp(FILE *f, char **text, size_t *n)
{
	size_t cap = 4096, got;
	char *p = malloc(cap + 1), *grown;

	*n = 0;
	while (p && (got = fread(p + *n, 1, cap - *n, f)) > 0) {
		*n += got;
		if (*n < cap)
			continue;
		cap *= 2;
		grown = realloc(p, cap + 1);
		if (!grown)
			free(p);
		p = grown;
	}
	if (!p)
		return -ENOMEM;
	if (ferror(f)) {
		free(p);
		return -EIO;
	}
	p[*n] = '\0';
	*text = p;
	return 0;
}

int cli_read_file(const struct cli *c, const char *path, char **text, size_t *n)
{
	bool standard = !strcmp(path, "-");
	FILE *f = standard ? stdin : fopen(path, "re");
	int err;

	if (!f)
		return cli_error(c, path, "%s", strerror(errno));
	errno = 0;
	err = slurp(f, text, n);
	if (err == -EIO && errno)
		err = -errno;
	if (!standard)
		fclose(f);
	return err ? cli_error(c, standard ? "standard input" : path, "%s", strerror(-err)) : 0;
}
