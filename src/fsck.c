/* SPDX-License-Identifier: MIT */
/* fsck.gguf: checks model files. Repairs nothing: the options of fsck(8) that ask for it are taken and do nothing. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "fsck_report.h"
#include "quote.h"
#include "split.h"
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* fsck(8)'s exit status: bits that are added up. */
enum { CLEAN = 0, UNCORRECTED = 4, OPERATIONAL = 8, USAGE = 16, CANCELED = 32 };

struct options {
	bool deep, hash, progress;
	const char *manifest;
	unsigned threads;
	struct report report;
};

static volatile int stop;

static void on_signal(int signal_number)
{
	(void)signal_number;
	stop = 1;
}

/* ---- what does not open ---- */

/* Of a file that is cut: what is whole, and what is not. */
static void list_cut(struct report *r, const struct gguf *g)
{
	const struct gguf_shard *s = gguf_shard(g, 0);
	char where[WHERE];
	size_t whole = 0;

	for (size_t i = 0; i < g->tensor_count; i++) {
		const struct gguf_tensor *t = &g->tensors[i];
		uint64_t have = t->offset < s->size ? s->size - t->offset : 0;

		where_tensor(where, t);
		whole += have >= t->size;
		if (have < t->size)
			check_say(r, ERROR, where, t->offset, "is cut: %" PRIu64 " of %" PRIu64 " bytes are there",
				  have, t->size);
		else if (r->verbose || r->json)
			check_say(r, NOTE, where, t->offset, "is whole");
	}
	check_say(r, WARNING, "file", s->size, "%zu of %zu tensors are whole%s%s", whole, g->tensor_count,
		  whole ? ", up to " : "", whole ? where_tensor(where, &g->tensors[whole - 1]) : "");
}

/* One file that is no model by itself, or not a sound one: says what can be said. */
static void look_closer(struct report *r, const char *path)
{
	struct gguf *g = NULL;
	struct gguf_error e = { 0 };

	if (gguf_open_with(&g, path, GGUF_OPEN_CUT | GGUF_OPEN_ALONE, &e))
		return;
	if (g->tensor_count) {
		const struct gguf_tensor *last = &g->tensors[g->tensor_count - 1];

		if (last->size &&
		    (last->offset > g->files[0].about.size || last->size > g->files[0].about.size - last->offset))
			list_cut(r, g);
		else
			check_layout(r, g);
	}
	check_keys(r, g);
	gguf_close(g);
}

/* ---- what opens ---- */

static int run_data(struct options *o, const struct gguf *g)
{
	struct deep d = { .threads = o->threads, .scan = o->deep, .hash = o->hash || o->manifest, .stop = &stop,
			  .progress = o->progress ? report_progress : NULL, .ctx = &o->report };
	int err;

	d.tensors = calloc(g->tensor_count + 1, sizeof *d.tensors);
	d.files = calloc(g->file_count, sizeof *d.files);
	err = d.tensors && d.files ? check_data(&o->report, g, &d) : -ENOMEM;
	report_progress(&o->report, 0, 0);
	if (!err && o->hash)
		manifest_print(g, d.tensors, d.files);
	if (!err && o->manifest)
		err = manifest_check(&o->report, o->manifest, g, d.tensors, d.files);
	free(d.tensors);
	free(d.files);
	return err;
}

static int check_model(struct options *o, const struct gguf *g)
{
	struct report *r = &o->report;

	check_layout(r, g);
	check_keys(r, g);
	if (g->tensor_count)
		check_settings(r, g);
	check_tokens(r, g);
	return o->deep || o->hash || o->manifest ? run_data(o, g) : 0;
}

/* A wrong call. Returns its status. */
__attribute__((format(printf, 1, 2)))
static int misused(const char *fmt, ...)
{
	char text[300], quoted[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fprintf(stderr, "fsck.gguf: %s\nTry 'fsck.gguf --help'.\n", gguf_quote(quoted, sizeof quoted, text, strlen(text)));
	return USAGE;
}

static int complain(const char *object, const char *reason)
{
	char quoted[4096];

	fprintf(stderr, "fsck.gguf: %s: %s\n", gguf_quote(quoted, sizeof quoted, object, strlen(object)), reason);
	return OPERATIONAL;
}

/* The bit of fsck(8) for what stopped a check. */
static int explain(const struct options *o, const char *path, int err)
{
	if (err == -ECANCELED)
		return CANCELED;
	if (err == -ENOTSUP)
		return complain(path, "hashes are not built in");
	if (err == -EINVAL && o->manifest)
		return complain(o->manifest, "not a manifest of fsck.gguf");
	if (o->manifest && err != -ENOMEM)
		return complain(o->manifest, strerror(-err));
	return complain(path, strerror(-err));
}

static bool is_unreadable(int err)
{
	return err == -ENOENT || err == -EACCES || err == -EPERM || err == -EISDIR || err == -ELOOP ||
	       err == -ENOTDIR || err == -ENAMETOOLONG || err == -ENOMEM || err == -EMFILE;
}

/* What says nothing about the file: there is no memory for it, no descriptor, a disk that fails. */
static bool is_of_system(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE || err == -EIO ||
	       err == -ENXIO || err == -ENODEV || err == -ENOTCONN || err == -ESTALE;
}

static bool is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) || S_ISREG(st.st_mode);
}

static int check_file(struct options *o, const char *path)
{
	struct report *r = &o->report;
	struct gguf *g = NULL;
	struct gguf_error e = { 0 };
	int status = 0, err = gguf_open(&g, path, &e);

	if (err && (is_of_system(err) || !is_file(path) || (is_unreadable(err) && access(path, R_OK))))
		return complain(path, e.text);
	report_begin(r, path);
	if (err) {
		if (!check_set(r, path) || !r->count[ERROR])
			check_say(r, ERROR, "file", e.offset, "%s", e.text);
		look_closer(r, path);
	} else {
		err = check_model(o, g);
		if (err)
			status = explain(o, path, err);
		r->canceled = err == -ECANCELED;
	}
	report_end(r, g);
	gguf_close(g);
	return status | (r->count[ERROR] ? UNCORRECTED : CLEAN);
}

/* ---- the command line ---- */

enum { OPT_JSON = 256, OPT_NO_PROGRESS, OPT_HELP };

static const struct option long_options[] = {
	{ "deep", no_argument, NULL, 'd' },
	{ "hash", no_argument, NULL, 'H' },
	{ "check", required_argument, NULL, 'c' },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "threads", required_argument, NULL, 'j' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "no-progress", no_argument, NULL, OPT_NO_PROGRESS },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 },
};

static const char help[] =
	"usage: fsck.gguf [-dHqv] [-c MANIFEST] [-j N] [--json] FILE...\n"
	"Checks GGUF model files: header, tables, layout, vocabulary and settings.\n"
	"  -d, --deep            read all data: values and scales that are no numbers\n"
	"  -H, --hash            print a manifest: SHA-256 and XXH64 of each tensor, file and the model\n"
	"  -c, --check MANIFEST  compare with a manifest\n"
	"      --json            findings as JSON\n"
	"  -j, --threads N       threads for -d, -H and -c (processors)\n"
	"  -q, --quiet           the exit status only\n"
	"  -v, --verbose         notes too\n"
	"      --no-progress     no bar on the terminal\n"
	"  -C[FD]                progress: lines to descriptor FD, or the bar without one\n"
	"  -a -f -n -p -r -y     are taken for fsck(8) and change nothing\n"
	"Status: 0 clean, 4 errors, 8 cannot be read, 16 usage, 32 canceled.\n";

/* As of e2fsck(8): the bar for 0 or nothing, none below 0, else a descriptor to write to. */
static int take_progress(struct options *o, const char *text)
{
	char *end;
	long fd = text ? strtol(text, &end, 10) : 0;

	if (text && (end == text || *end || fd > INT_MAX))
		return misused("option -C: %s is no descriptor", text);
	o->progress = fd >= 0;
	o->report.progress_fd = fd > 0 ? (int)fd : 0;
	return -1;
}

static unsigned processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

/* One option; last is the word that was read last. Returns -1 to go on, else the exit status. */
static int take(struct options *o, int c, const char *last)
{
	switch (c) {
	case 'd':
		o->deep = true;
		return -1;
	case 'H':
		o->hash = true;
		return -1;
	case 'c':
		o->manifest = optarg;
		return -1;
	case OPT_JSON:
		o->report.json = true;
		return -1;
	case 'j':
		o->threads = (unsigned)strtoul(optarg, NULL, 10);
		return o->threads ? -1 : misused("option -j: %s is no number of threads", optarg);
	case 'q':
		o->report.quiet = true;
		return -1;
	case 'v':
		o->report.verbose = true;
		return -1;
	case 'C':
		return take_progress(o, optarg);
	case OPT_NO_PROGRESS:
		o->progress = false;
		return -1;
	case OPT_HELP:
		fputs(help, stdout);
		return CLEAN;
	case 'V':
		puts("fsck.gguf " PACKAGE_VERSION);
		return CLEAN;
	case ':':
		return misused("option %s needs a value", last);
	case '?':
		return misused("unknown option %s", last);
	default:
		return -1;
	}
}

/* What was printed has to be written, too. */
static int finish(int status)
{
	if (fflush(stdout) || ferror(stdout))
		return status | complain("standard output", strerror(errno));
	return status;
}

int main(int argc, char **argv)
{
	struct options o = { .progress = isatty(STDERR_FILENO), .threads = processors() };
	struct sigaction sa = { .sa_handler = on_signal };
	int c, status = CLEAN;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":dHc:j:qvVafnpryC::t:", long_options, NULL)) != -1) {
		int end = take(&o, c, argv[optind - 1]);

		if (end >= 0)
			return finish(end);
	}
	if (optind == argc)
		return misused("no file is named");
	if (o.manifest && argc - optind > 1)
		return misused("option -c: a manifest is of one model, not of %d", argc - optind);
	if (o.hash && o.report.json)
		return misused("options --hash and --json exclude each other");
	o.report.out = o.hash ? stderr : stdout;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	report_open(&o.report);
	for (int i = optind; i < argc && !stop; i++)
		status |= check_file(&o, argv[i]);
	report_close(&o.report);
	return finish(status);
}
