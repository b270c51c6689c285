/* SPDX-License-Identifier: MIT */
/* The options of gguf-bench: llama-bench's, where they mean something here. */
#include "bench.h"
#include "cli.h"
#include <errno.h>
#include <stdlib.h>

/* A number at *s, which is moved behind it. */
static bool read_number(const char **s, uint64_t *v)
{
	char *end;

	if (**s < '0' || **s > '9')
		return false;
	errno = 0;
	*v = strtoull(*s, &end, 10);
	*s = end;
	return !errno && *v <= INT32_MAX;
}

/* FIRST, FIRST-LAST, FIRST-LAST+STEP or FIRST-LAST*FACTOR at *s, which is moved behind it. */
struct range {
	uint64_t first, last, step;
	bool factor;
};

static bool read_range(const char **s, struct range *r)
{
	*r = (struct range){ .step = 1 };
	if (!read_number(s, &r->first))
		return false;
	r->last = r->first;
	if (**s != '-')
		return true;
	++*s;
	if (!read_number(s, &r->last) || r->last < r->first)
		return false;
	if (**s != '+' && **s != '*')
		return true;
	r->factor = *(*s)++ == '*';
	return read_number(s, &r->step) && r->step > r->factor && (r->first || !r->factor);
}

static const char *read_list(void *field, const char *value)
{
	struct bench_list *l = field;
	struct range r;

	do {
		if (!read_range(&value, &r) || (*value && *value != ','))
			return "not numbers from 0 on or ranges of them (8-64, 8-64+8, 8-64*2), with commas between";
		for (uint64_t v = r.first; v <= r.last; v = r.factor ? v * r.step : v + r.step) {
			if (l->n == BENCH_LIST)
				return "too many values";
			l->v[l->n++] = (uint32_t)v;
		}
	} while (*value++);
	return NULL;
}

const char *bench_add_model(void *field, const char *value)
{
	struct bench_models *m = field;

	if (m->n == BENCH_LIST)
		return "too many models";
	m->path[m->n++] = value;
	return NULL;
}

static const char *read_pair(void *field, const char *value)
{
	struct bench_list l = { 0 }, *all = field;
	const char *wrong = read_list(&l, value);

	if (wrong || l.n != 2)
		return wrong ? wrong : "not PROMPT,TOKENS";
	if (all->n + 2 > BENCH_LIST)
		return "too many values";
	all->v[all->n++] = l.v[0];
	all->v[all->n++] = l.v[1];
	return NULL;
}

static const char *read_format(void *field, const char *value)
{
	const struct bench_format *f = bench_format(value);

	if (!f)
		return "not md, csv, json or jsonl";
	*(const struct bench_format **)field = f;
	return NULL;
}

#define AT(field) offsetof(struct bench, field)
const struct opt bench_options[] = {
	{ "Benchmark", NULL, NULL, OPT_GROUP, 0, NULL },
	{ "-h, --help", NULL, "print this and exit", OPT_ON, AT(help), NULL },
	{ "--version", NULL, "print version and kernels in use, and exit", OPT_ON, AT(version), NULL },
	{ "-m, --model", "PATH", "a mount, a directory of its layout, or a .gguf file; may be repeated", OPT_CALL, AT(models),
	  bench_add_model },
	{ "-p, --n-prompt", "N,..", "prompts of so many tokens; 0: none (default: 512)", OPT_CALL, AT(prompt), read_list },
	{ "-n, --n-gen", "N,..", "generate so many tokens; 0: none (default: 128)", OPT_CALL, AT(generate), read_list },
	{ "-pg", "P,N", "a prompt, and then tokens, besides", OPT_CALL, AT(both), read_pair },
	{ "-d, --n-depth", "N,..", "tokens already in the context (default: 0)", OPT_CALL, AT(depth), read_list },
	{ "-t, --threads", "N,..", "threads; 0: as gguf-run chooses (default: 0)", OPT_CALL, AT(threads), read_list },
	{ "-b, --batch-size, -ub, --ubatch-size", "N", "tokens of a prompt computed at once", OPT_UINT, AT(batch), NULL },
	{ "-ctk, --cache-type-k", "TYPE", "keys in the cache: " CLI_CACHE_TYPES " (default: auto)", OPT_CALL, AT(k),
	  cli_read_cache_type },
	{ "-ctv, --cache-type-v", "TYPE", "values in the cache: " CLI_CACHE_TYPES " (default: auto)", OPT_CALL, AT(v),
	  cli_read_cache_type },
	{ "-r, --repetitions", "N", "runs of each test", OPT_UINT, AT(runs), NULL },
	{ "-o, --output", "FORMAT", "md, csv, json, jsonl (default: md)", OPT_CALL, AT(format), read_format },
	{ "--override-kv", "KEY=TYPE:VALUE,...", "other values for keys of the model; TYPE is int, float, bool or str",
	  OPT_CALL, AT(overrides), cli_read_override },
	{ "-lm, --load-mode", "MODE", CLI_LOAD_MODES " (default: auto)", OPT_CALL, AT(mode), cli_read_load_mode },
	{ "--kernels", NULL, "time the matrix kernels instead, of all types or those of --type", OPT_ON, AT(kernels), NULL },
	{ "--type", "TYPE", "with --kernels: this one only", OPT_TEXT, AT(type), NULL },
	{ 0 },
};

static void default_to(struct bench_list *l, uint32_t v)
{
	if (!l->n)
		*l = (struct bench_list){ .v = { v }, .n = 1 };
}

void bench_defaults(struct bench *b)
{
	default_to(&b->prompt, 512);
	default_to(&b->generate, 128);
	default_to(&b->depth, 0);
	default_to(&b->threads, 0);
}
