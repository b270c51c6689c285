/* SPDX-License-Identifier: MIT */
#include "options.h"
#include "error.h"
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kind {
	FLAG,   /* sets a bool */
	NUMBER, /* decimal, into an unsigned */
	OCTAL,
	STRING,
	CACHE,
	PASSED, /* libfuse knows it */
	NOTHING /* for mount(8) alone, or what holds here anyway */
};

#define AT(field) offsetof(struct options, field)
/* One row per option after -o. A name that ends in '=' takes a value. Those without a text are not in --help. */
static const struct row {
	const char *name;
	enum kind kind;
	size_t at;
	const char *value, *text;
} rows[] = {
	{ "allow_other", PASSED, 0, "", "let other users in (they need read permission: uid, gid, umask)" },
	{ "allow_root", PASSED, 0, "", "let root in" },
	{ "uid=", NUMBER, AT(uid), "N", "owner of the files (the caller)" },
	{ "gid=", NUMBER, AT(gid), "N", "their group (the caller's)" },
	{ "umask=", OCTAL, AT(umask), "OCTAL", "permissions that the files lack (0)" },
	{ "cache=", CACHE, AT(cache), "one|both|below",
	  "where read bytes stay in memory: in the mount (one), also in\n"
	  "the model file's cache (both), only there (below; no MAP_SHARED)" },
	{ "auto_unmount", FLAG, AT(auto_unmount), "", "unmount also when the daemon is killed" },
	{ "no_sandbox", FLAG, AT(no_sandbox), "", "keep capabilities and system calls that serving does not need" },
	{ "fsname=", STRING, AT(fsname), "NAME", "what mount and df show as source (the model's path)" },
	{ "subtype=", STRING, AT(subtype), "NAME", "what they show after 'fuse.' (gguf)" },
	{ "ro", NOTHING, 0, "", "read-only, which it always is" },
	{ "rw", FLAG, AT(writable), NULL, NULL },
	{ "nosuid", PASSED, 0, NULL, NULL },	 { "nodev", PASSED, 0, NULL, NULL },
	{ "noexec", PASSED, 0, NULL, NULL },	 { "suid", PASSED, 0, NULL, NULL },
	{ "dev", PASSED, 0, NULL, NULL },	 { "exec", PASSED, 0, NULL, NULL },
	{ "sync", PASSED, 0, NULL, NULL },	 { "async", PASSED, 0, NULL, NULL },
	{ "noatime", PASSED, 0, NULL, NULL },	 { "nodiratime", PASSED, 0, NULL, NULL },
	{ "dirsync", PASSED, 0, NULL, NULL },	 { "atime", NOTHING, 0, NULL, NULL },
	{ "diratime", NOTHING, 0, NULL, NULL },	 { "relatime", NOTHING, 0, NULL, NULL },
	{ "norelatime", NOTHING, 0, NULL, NULL }, { "strictatime", NOTHING, 0, NULL, NULL },
	{ "nostrictatime", NOTHING, 0, NULL, NULL }, { "lazytime", NOTHING, 0, NULL, NULL },
	{ "nolazytime", NOTHING, 0, NULL, NULL }, { "silent", NOTHING, 0, NULL, NULL },
	{ "loud", NOTHING, 0, NULL, NULL },	 { "defaults", NOTHING, 0, NULL, NULL },
	{ "auto", NOTHING, 0, NULL, NULL },	 { "noauto", NOTHING, 0, NULL, NULL },
	{ "nofail", NOTHING, 0, NULL, NULL },	 { "user", NOTHING, 0, NULL, NULL },
	{ "user=", NOTHING, 0, NULL, NULL },	 { "nouser", NOTHING, 0, NULL, NULL },
	{ "users", NOTHING, 0, NULL, NULL },	 { "nousers", NOTHING, 0, NULL, NULL },
	{ "owner", NOTHING, 0, NULL, NULL },	 { "group", NOTHING, 0, NULL, NULL },
	{ "_netdev", NOTHING, 0, NULL, NULL },	 { "comment=", NOTHING, 0, NULL, NULL },
};
enum { ROWS = sizeof rows / sizeof *rows };

/* The row that an option as given belongs to; *value is what follows its '='. */
static const struct row *find_row(const char *given, const char **value)
{
	const char *equals = strchr(given, '=');
	size_t n = equals ? (size_t)(equals - given) + 1 : strlen(given);

	*value = equals ? equals + 1 : NULL;
	for (const struct row *r = rows; r < rows + ROWS; r++)
		if (!strncmp(r->name, given, n) && !r->name[n])
			return r;
	return NULL;
}

static int set_number(unsigned *out, const struct row *r, const char *value, int base, struct gguf_error *e)
{
	unsigned long most = base == 8 ? 0777 : UINT32_MAX - 1ul, v;
	char *end;

	errno = 0;
	v = strtoul(value, &end, base);
	if (*value < '0' || *value > '9' || *end || errno || v > most)
		return gguf_fail(e, -EINVAL, 0, "option %s%s: expected a number%s up to %s", r->name, value,
				 base == 8 ? " in octal" : "", base == 8 ? "0777" : "4294967294");
	*out = (unsigned)v;
	return 0;
}

static int set_cache(enum cache *out, const char *value, struct gguf_error *e)
{
	static const char *const names[] = { [CACHE_ONE] = "one", [CACHE_BOTH] = "both", [CACHE_BELOW] = "below" };

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(value, names[i])) {
			*out = (enum cache)i;
			return 0;
		}
	return gguf_fail(e, -EINVAL, 0, "option cache=%s: expected one, both or below", value);
}

static int pass(struct options *opt, const char *given, struct gguf_error *e)
{
	if (opt->passed_count == PASSED_MOST)
		return gguf_fail(e, -EINVAL, 0, "option %s: too many options", given);
	opt->passed[opt->passed_count++] = given;
	return 0;
}

static int apply(struct options *opt, const char *given, struct gguf_error *e)
{
	const char *value;
	const struct row *r = find_row(given, &value);
	char *field;

	if (!strncmp(given, "x-", 2) || !strncmp(given, "X-", 2) || !*given)
		return 0;
	if (!r && opt->sloppy)
		return 0;
	if (!r)
		return gguf_fail(e, -EINVAL, 0, "unknown option %s (mount.gguf --help lists them)", given);
	field = (char *)opt + r->at;
	switch (r->kind) {
	case FLAG:
		*(bool *)field = true;
		return 0;
	case NUMBER:
		return set_number((unsigned *)field, r, value, 10, e);
	case OCTAL:
		return set_number((unsigned *)field, r, value, 8, e);
	case STRING:
		if (!*value)
			return gguf_fail(e, -EINVAL, 0, "option %s: expected a name", r->name);
		*(const char **)field = value;
		return 0;
	case CACHE:
		return set_cache((enum cache *)field, value, e);
	case PASSED:
		return pass(opt, given, e);
	case NOTHING:
		break;
	}
	return 0;
}

/* Splits at commas; a backslash takes the next byte as it is. */
static int apply_list(struct options *opt, char *list, struct gguf_error *e)
{
	int err = 0;

	while (!err && list) {
		char *to = list, *from = list;

		for (; *from && *from != ','; from++) {
			if (*from == '\\' && from[1])
				from++;
			*to++ = *from;
		}
		char *next = *from ? from + 1 : NULL;
		*to = '\0';
		err = apply(opt, list, e);
		list = next;
	}
	return err;
}

/* All lists after -o, one after the other. */
static int join_list(char **lists, const char *more)
{
	size_t old = *lists ? strlen(*lists) : 0, n = strlen(more);
	char *joined = realloc(*lists, old + n + 2);

	if (!joined)
		return -ENOMEM;
	if (old)
		joined[old++] = ',';
	memcpy(joined + old, more, n + 1);
	*lists = joined;
	return 0;
}

static const struct option longs[] = {
	{ "foreground", no_argument, NULL, 'F' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

static int take_switch(struct options *opt, int c, struct gguf_error *e)
{
	switch (c) {
	case 'F': opt->foreground = true; return 0;
	case 'h': opt->help = true; return 0;
	case 'V': opt->version = true; return 0;
	case 'f': opt->fake = true; return 0;
	case 's': opt->sloppy = true; return 0;
	case 'v': opt->verbose = true; return 0;
	case 'N': opt->namespace = optarg; return 0;
	case 'o': return join_list(&opt->text, optarg);
	case 'n':
	case 't': return 0; /* there is no mtab to write, and but one type */
	}
	return gguf_fail(e, -EINVAL, 0, c == ':' ? "option -%c needs a value" : "unknown option -%c", optopt);
}

static int take_names(struct options *opt, int n, char **names, struct gguf_error *e)
{
	if (opt->help || opt->version)
		return 0;
	if (n != 2)
		return gguf_fail(e, -EINVAL, 0, "expected SOURCE and DIR, got %d name%s", n, n == 1 ? "" : "s");
	opt->source = names[0];
	opt->dir = names[1];
	return 0;
}

int options_parse(struct options *opt, int argc, char **argv, struct gguf_error *e)
{
	int c, err = 0;

	*opt = (struct options){ .uid = getuid(), .gid = getgid() };
	optind = 0;
	opterr = 0;
	while (!err && (c = getopt_long(argc, argv, ":sfnvhVN:o:t:", longs, NULL)) != -1)
		err = c == '?' && !optopt ? gguf_fail(e, -EINVAL, 0, "unknown option %s", argv[optind - 1])
					  : take_switch(opt, c, e);
	if (!err)
		err = take_names(opt, argc - optind, argv + optind, e);
	if (!err)
		err = apply_list(opt, opt->text, e);
	return err;
}

void options_free(struct options *opt)
{
	free(opt->text);
}

static void help_row(FILE *f, const struct row *r)
{
	char name[64];
	const char *line = r->text;

	snprintf(name, sizeof name, "%s%s", r->name, r->value);
	while (line) {
		const char *end = strchr(line, '\n');

		fprintf(f, "  %-22s %.*s\n", line == r->text ? name : "", end ? (int)(end - line) : (int)strlen(line),
			line);
		line = end ? end + 1 : NULL;
	}
}

void options_help(FILE *f)
{
	fputs("usage: mount.gguf SOURCE DIR [-sfnv] [-o OPTION,...] [--foreground]\n"
	      "Shows the GGUF model in file SOURCE, or in the set that SOURCE belongs to, as files in DIR.\n\n"
	      "  -o OPTION,...          see below\n"
	      "  -f                     do all but mount\n"
	      "  -s                     ignore options after -o that are unknown\n"
	      "  -v                     say what is done\n"
	      "  -n, -t TYPE            taken and not needed\n"
	      "  -N NAMESPACE           mount in that namespace: a file, or the number of a process\n"
	      "  --foreground           stay in the foreground\n"
	      "  --help, --version\n\nOptions after -o (and what holds without):\n", f);
	for (const struct row *r = rows; r < rows + ROWS; r++)
		if (r->text)
			help_row(f, r);
	fputs("\nUnmount with: umount DIR, or fusermount3 -u DIR\n", f);
}
