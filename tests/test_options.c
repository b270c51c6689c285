/* SPDX-License-Identifier: MIT */
#include "options.h"
#include "tap.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 12 };

/* Splits a line at blanks, parses it. */
static int parse(struct options *opt, char *line, struct gguf_error *e)
{
	char *argv[MOST + 1] = { "mount.gguf" };
	int argc = 1;

	for (char *word = strtok(line, " "); word && argc < MOST; word = strtok(NULL, " "))
		argv[argc++] = word;
	return options_parse(opt, argc, argv, e);
}

static const struct {
	const char *line, *passed; /* what libfuse gets, joined by commas */
} accepted[] = {
	{ "m.gguf /mnt", "" },
	{ "m.gguf /mnt -o rw", "" },
	{ "-o ro m.gguf /mnt", "" },
	{ "m.gguf /mnt -n -t gguf", "" },
	{ "m.gguf /mnt -sfnv -o ro", "" },
	{ "m.gguf /mnt -o rw,noauto,nofail,user,users,owner,_netdev,x-systemd.automount,X-a=b,comment=hi", "" },
	{ "m.gguf /mnt -o nosuid,nodev,noexec,relatime,allow_other", "nosuid,nodev,noexec,allow_other" },
	{ "m.gguf /mnt -o allow_root -o noatime", "allow_root,noatime" },
	{ "m.gguf /mnt -o ,ro,,rw,", "" },
	{ "m.gguf /mnt -s -o who,knows=what", "" },
	{ "--foreground m.gguf /mnt", "" },
	{ "-- -m.gguf -mnt", "" },
	{ "--help", "" },
	{ "--version", "" },
};

static const struct {
	const char *line, *names; /* what the sentence names */
} refused[] = {
	{ "", "SOURCE" },
	{ "m.gguf", "SOURCE" },
	{ "m.gguf /mnt more", "3 names" },
	{ "m.gguf /mnt -o who", "who" },
	{ "m.gguf /mnt -o uid", "uid" },
	{ "m.gguf /mnt -o uid=", "uid=" },
	{ "m.gguf /mnt -o uid=root", "uid=root" },
	{ "m.gguf /mnt -o uid=-1", "uid=-1" },
	{ "m.gguf /mnt -o uid=4294967295", "uid=4294967295" },
	{ "m.gguf /mnt -o umask=8", "octal" },
	{ "m.gguf /mnt -o umask=1000", "0777" },
	{ "m.gguf /mnt -o cache=much", "cache=much" },
	{ "m.gguf /mnt -o ro=1", "ro=1" },
	{ "m.gguf /mnt -o", "-o" },
	{ "m.gguf /mnt -x", "-x" },
	{ "m.gguf /mnt --frobnicate", "--frobnicate" },
};

static void join_passed(const struct options *opt, char *text)
{
	*text = '\0';
	for (size_t i = 0; i < opt->passed_count; i++)
		strcat(strcat(text, i ? "," : ""), opt->passed[i]);
}

static void test_rows(void)
{
	char line[256], text[256];
	struct options opt;

	for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
		struct gguf_error e = { 0 };

		strcpy(line, accepted[i].line);
		int err = parse(&opt, line, &e);
		join_passed(&opt, text);
		if (!ok(!err && !strcmp(text, accepted[i].passed), "taken: %s", accepted[i].line))
			printf("# %s; passed %s\n", e.text, text);
		options_free(&opt);
	}
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct gguf_error e = { 0 };

		strcpy(line, refused[i].line);
		if (!ok(parse(&opt, line, &e) == -EINVAL && strstr(e.text, refused[i].names), "refused: %s", refused[i].line))
			printf("# %s\n", e.text);
		options_free(&opt);
	}
}

static void test_values(void)
{
	char line[] = "-v a.gguf dir --foreground -o uid=7,gid=8,umask=027,cache=both -o fsname=a\\,b,subtype=x,no_sandbox";
	struct gguf_error e = { 0 };
	struct options opt;

	ok(!parse(&opt, line, &e) && !strcmp(opt.source, "a.gguf") && !strcmp(opt.dir, "dir"), "source and directory");
	ok(opt.verbose && opt.foreground && !opt.fake && !opt.sloppy, "switches");
	ok(opt.uid == 7 && opt.gid == 8 && opt.umask == 027, "numbers, one of them octal");
	ok(opt.cache == CACHE_BOTH && opt.no_sandbox && !opt.auto_unmount, "words and flags");
	ok(opt.fsname && !strcmp(opt.fsname, "a,b") && !strcmp(opt.subtype, "x"), "strings, one with a comma");
	options_free(&opt);

	char plain[] = "a.gguf dir";
	ok(!parse(&opt, plain, &e) && opt.uid == getuid() && opt.gid == getgid() && !opt.umask &&
		   opt.cache == CACHE_ONE && !opt.foreground && !opt.fsname, "what holds without");
	options_free(&opt);
}

static void test_help(void)
{
	static const char *const must[] = { "allow_other", "allow_root", "uid=N", "umask=OCTAL", "cache=one|both|below",
					    "auto_unmount", "fsname=NAME", "subtype=NAME", "--foreground", "-o OPTION" };
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	options_help(f);
	fclose(f);
	for (size_t i = 0; i < sizeof must / sizeof *must; i++)
		ok(strstr(text, must[i]) != NULL, "--help has %s", must[i]);
	free(text);
}

int main(void)
{
	test_rows();
	test_values();
	test_help();
	done();
}
