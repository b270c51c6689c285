/* SPDX-License-Identifier: MIT */
/* A command line, a word a line: of mount.gguf where the first byte is even, else of gguf-run. */
#include "fs/options.h"
#include "fuzz.h"
#include "run.h"
#include <errno.h>
#include <stdlib.h>

enum { WORDS_MOST = 64 };

static int split(char **argv, const uint8_t *data, size_t size)
{
	struct fuzz_rest r = { data, size };
	int argc = 1;

	while (r.n && argc < WORDS_MOST) {
		struct gguf_bytes word = fuzz_part(&r, '\n');

		argv[argc] = strndup(word.p, word.n);
		if (!argv[argc++])
			abort();
	}
	argv[argc] = NULL;
	return argc;
}

static void try_mount(int argc, char **argv)
{
	struct options opt;
	struct gguf_error e = { 0 };
	int err = options_parse(&opt, argc, argv, &e);

	if (err && (err != -EINVAL || !e.text[0]))
		abort();
	if (!err && !opt.help && !opt.version && (!opt.source || !opt.dir))
		abort();
	if (opt.passed_count > PASSED_MOST || opt.umask > 0777)
		abort();
	options_free(&opt);
}

static void try_run(int argc, char **argv)
{
	static struct run_args a; /* large */
	FILE *kept = stderr;
	static FILE *nowhere;
	int status;

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	cli_start(&a.cli, argv[0]);
	stderr = nowhere; /* complaints; what a sanitizer says does not go through it */
	status = run_parse(&a, &sampler_defaults, argc, argv);
	stderr = kept;
	if (status != 0 && status != 2)
		abort();
	if (!status && !a.cli.help && !a.cli.version && !a.cli.model)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[WORDS_MOST + 1] = { "program" };
	int argc;

	if (!size)
		return 0;
	argc = split(argv, data + 1, size - 1);
	if (data[0] % 2)
		try_run(argc, argv);
	else
		try_mount(argc, argv);
	while (--argc)
		free(argv[argc]);
	return 0;
}
