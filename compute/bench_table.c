/* SPDX-License-Identifier: MIT */
/* The results of gguf-bench: as a table for reading, or for programs. */
#include "bench.h"
#include "matmul.h"
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

static void none(void)
{
}

static void no_end(const struct bench_limits *l, unsigned n)
{
	(void)l;
	(void)n;
}

static void test_name(const struct bench_test *t, char name[48])
{
	int n = 0;

	if (t->prompt)
		n += snprintf(name, 48, t->generate ? "pp%u+tg%u" : "pp%u", t->prompt, t->generate);
	else
		n += snprintf(name, 48, "tg%u", t->generate);
	if (t->depth)
		snprintf(name + n, (size_t)(48 - n), " @ d%u", t->depth);
}

/* ---- md ---- */

static void md_begin(void)
{
	puts("| model | size | params | backend | threads | test | t/s | GB/s | GMAC/s |");
	puts("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |");
}

static void md_row(const struct bench_model *m, const struct bench_test *t, bool first)
{
	char test[48], bytes[24] = "";

	(void)first;
	test_name(t, test);
	if (t->bytes > 0)
		snprintf(bytes, sizeof bytes, "%.1f", t->bytes * 1e-9);
	printf("| %s | %.2f MiB | %.2f M | %s | %u | %s | %.2f ± %.2f | %s | %.0f |\n", m->what, m->size / (1 << 20),
	       m->values * 1e-6, mat_tier(), t->threads, test, t->rate, t->spread, bytes, t->macs * 1e-9);
	fflush(stdout);
}

static void md_end(const struct bench_limits *l, unsigned n)
{
	for (; n; n--, l++) {
		if (!l->threads)
			continue;
		printf("\nThis machine with %s, %u thread%s: reads %.1f GB/s, multiplies %.0f GMAC/s in bytes, ", mat_tier(), l->threads,
		       l->threads == 1 ? "" : "s", l->read * 1e-9, l->ints * 1e-9);
		if (l->pairs > 0)
			printf("%.0f in BFloat16, ", l->pairs * 1e-9);
		printf("%.0f in floats\n", l->fmas * 1e-9);
	}
}

/* ---- csv ---- */

static void csv_begin(void)
{
	puts("model_filename,model_type,model_size,model_n_params,backend,n_threads,n_prompt,n_gen,n_depth,avg_ts,stddev_ts,"
	     "bytes_per_second,macs_per_second,limit_bytes_per_second,limit_int_macs_per_second,"
	     "limit_bf16_macs_per_second,limit_float_macs_per_second");
}

static void csv_text(const char *s)
{
	putchar('"');
	for (; *s; s++)
		printf(*s == '"' ? "\"\"" : "%c", *s);
	putchar('"');
}

static void csv_row(const struct bench_model *m, const struct bench_test *t, bool first)
{
	(void)first;
	csv_text(m->path);
	printf(",\"%s\",%.0f,%.0f,%s,%u,%u,%u,%u,%.6f,%.6f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f\n", m->what, m->size, m->values,
	       mat_tier(), t->threads, t->prompt, t->generate, t->depth, t->rate, t->spread, t->bytes, t->macs, t->limits->read,
	       t->limits->ints, t->limits->pairs, t->limits->fmas);
	fflush(stdout);
}

/* ---- json, jsonl ---- */

/* Bytes that are no UTF-8 become U+FFFD each. */
static void json_text(const char *s)
{
	for (putchar('"'); *s;) {
		utf8proc_int32_t c;
		utf8proc_ssize_t n = utf8proc_iterate((const utf8proc_uint8_t *)s, -1, &c);

		if (n <= 0)
			fputs("\\ufffd", stdout);
		else if (c < ' ')
			printf("\\u%04x", (unsigned)c);
		else
			printf(c == '"' || c == '\\' ? "\\%.*s" : "%.*s", (int)n, s);
		s += n > 0 ? n : 1;
	}
	putchar('"');
}

static void json_object(const struct bench_model *m, const struct bench_test *t)
{
	printf("{\"model_filename\": ");
	json_text(m->path);
	printf(", \"model_type\": ");
	json_text(m->what);
	printf(", \"model_size\": %.0f, \"model_n_params\": %.0f, \"backend\": \"%s\", \"n_threads\": %u, \"n_prompt\": %u, "
	       "\"n_gen\": %u, \"n_depth\": %u, \"avg_ts\": %.6f, \"stddev_ts\": %.6f, \"bytes_per_second\": %.0f, "
	       "\"macs_per_second\": %.0f, \"limit_bytes_per_second\": %.0f, \"limit_int_macs_per_second\": %.0f, "
	       "\"limit_bf16_macs_per_second\": %.0f, \"limit_float_macs_per_second\": %.0f}", m->size, m->values, mat_tier(), t->threads, t->prompt, t->generate, t->depth,
	       t->rate, t->spread, t->bytes, t->macs, t->limits->read, t->limits->ints, t->limits->pairs, t->limits->fmas);
}

static void json_begin(void)
{
	printf("[");
}

static void json_row(const struct bench_model *m, const struct bench_test *t, bool first)
{
	printf(first ? "\n  " : ",\n  ");
	json_object(m, t);
	fflush(stdout);
}

static void json_end(const struct bench_limits *l, unsigned n)
{
	(void)l;
	(void)n;
	puts("\n]");
}

static void jsonl_row(const struct bench_model *m, const struct bench_test *t, bool first)
{
	(void)first;
	json_object(m, t);
	putchar('\n');
	fflush(stdout);
}

const struct bench_format *bench_format(const char *name)
{
	static const struct bench_format formats[] = {
		{ "md", md_begin, md_row, md_end },
		{ "csv", csv_begin, csv_row, no_end },
		{ "json", json_begin, json_row, json_end },
		{ "jsonl", none, jsonl_row, no_end },
	};

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}
