/* SPDX-License-Identifier: MIT */
#include "fsck_report.h"
#include "quote.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FINDINGS = 500 }; /* of a file: a hostile one can have millions */

static const char *const names[SEVERITIES] = { "note", "warning", "error" };

/* Text here is safe for a terminal already: quotes and backslashes are what JSON minds. */
static void print_json(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

void report_progress(void *report, uint64_t done, uint64_t of)
{
	struct report *r = report;
	char bar[41];
	unsigned filled = of ? (unsigned)((double)done / (double)of * (sizeof bar - 1)) : 0;

	if (r->progress_fd) {
		if (of)
			dprintf(r->progress_fd, "1 %" PRIu64 " %" PRIu64 " %s\n", done, of, r->file);
		return;
	}
	if (of) {
		for (unsigned i = 0; i < sizeof bar - 1; i++)
			bar[i] = i < filled ? '#' : '.';
		bar[sizeof bar - 1] = 0;
		fprintf(stderr, "\r%s %3d%% ", bar, (int)((double)done / (double)of * 100));
	} else if (r->on_bar) {
		fputs("\r\033[K", stderr);
	}
	r->on_bar = of != 0;
}

void check_say(struct report *r, enum severity how, const char *where, uint64_t offset, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	r->count[how]++;
	if (r->quiet || (how == NOTE && !r->verbose && !r->json))
		return;
	if (r->count[NOTE] + r->count[WARNING] + r->count[ERROR] > MOST_FINDINGS && !r->verbose) {
		r->left_out++;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	report_progress(r, 0, 0);
	if (!r->json) {
		fprintf(r->out, "%s: %s: %s: %s", names[how], r->file, where, text);
		fprintf(r->out, offset ? " (byte %" PRIu64 ")\n" : "\n", offset);
		return;
	}
	printf("%s\n    {\"severity\": \"%s\", \"where\": ",
	       r->count[NOTE] + r->count[WARNING] + r->count[ERROR] > 1 ? "," : "", names[how]);
	print_json(where);
	printf(", \"byte\": %" PRIu64 ", \"what\": ", offset);
	print_json(text);
	putchar('}');
}

void report_open(struct report *r)
{
	if (r->json)
		putchar('[');
}

void report_close(struct report *r)
{
	if (r->json)
		puts("\n]");
}

void report_begin(struct report *r, const char *path)
{
	static char quoted[4096];

	r->file = gguf_quote(quoted, sizeof quoted, path, strlen(path));
	memset(r->count, 0, sizeof r->count);
	r->left_out = 0;
	r->canceled = false;
	if (r->json) {
		printf("%s\n  {\"file\": ", r->files ? "," : "");
		print_json(r->file);
		printf(", \"findings\": [");
	}
	r->files++;
}

static void print_json_end(const struct report *r, const struct gguf *g)
{
	printf("], \"errors\": %lu, \"warnings\": %lu", r->count[ERROR], r->count[WARNING]);
	if (g)
		printf(", \"version\": %" PRIu32
		       ", \"big_endian\": %s, \"shards\": %zu, \"keys\": %zu, \"tensors\": %zu",
		       g->files[0].about.version, g->files[0].about.big_endian ? "true" : "false", g->file_count,
		       gguf_key_count(g), g->tensor_count);
	printf(", \"clean\": %s}", r->count[ERROR] || r->canceled ? "false" : "true");
}

static const char *plural(unsigned long n)
{
	return n == 1 ? "" : "s";
}

void report_end(struct report *r, const struct gguf *g)
{
	report_progress(r, 0, 0);
	if (r->json) {
		print_json_end(r, g);
		return;
	}
	if (r->quiet)
		return;
	if (r->left_out)
		fprintf(r->out, "%s: %lu more findings\n", r->file, r->left_out);
	fprintf(r->out, "%s: %s", r->file, r->count[ERROR] ? "NOT SOUND" : r->canceled ? "canceled" : "clean");
	if (g)
		fprintf(r->out, ", version %" PRIu32 "%s, %zu keys, %zu tensors, %zu file%s", g->files[0].about.version,
			g->files[0].about.big_endian ? " big-endian" : "", gguf_key_count(g), g->tensor_count,
			g->file_count, plural(g->file_count));
	if (r->count[ERROR] || r->count[WARNING])
		fprintf(r->out, ", %lu error%s, %lu warning%s", r->count[ERROR], plural(r->count[ERROR]),
			r->count[WARNING], plural(r->count[WARNING]));
	fputc('\n', r->out);
}
