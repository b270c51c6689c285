/* SPDX-License-Identifier: MIT */
/* Options, messages and phases that the programs share. What is printed of a model or a command line is escaped. */
#include "config.h"
#include "cli.h"
#include "clock.h"
#include "descriptors.h"
#include "matmul.h"
#include "safe.h"
#include "threads.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct cli cli_defaults = { .batch = 512, .check = true };

#define CACHE_DEFAULT " (default: auto; of gguf-embed: f32)"

struct word { const char *name; int value; };

static const char *read_word(const struct word *words, int *field, const char *value, const char *wrong)
{
	for (; words->name; words++)
		if (!strcmp(words->name, value)) {
			*field = words->value;
			return NULL;
		}
	return wrong;
}

const char *cli_read_cache_type(void *field, const char *value)
{
	static const struct word words[] = {
		{ "f16", CACHE_F16 }, { "f32", CACHE_F32 }, { "q8_0", CACHE_Q8_0 }, { "auto", CACHE_AUTO }, { 0 }
	};
	int v = CACHE_AUTO;
	const char *wrong = read_word(words, &v, value, "not one of " CLI_CACHE_TYPES);

	*(enum cache_type *)field = (enum cache_type)v;
	return wrong;
}

const char *cli_read_load_mode(void *field, const char *value)
{
	static const struct word words[] = {
		{ "auto", LOAD_AUTO }, { "backing", LOAD_BACKING }, { "mmap", LOAD_MMAP }, { "mlock", LOAD_MLOCK },
		{ "populate", LOAD_POPULATE }, { "read", LOAD_READ }, { 0 },
	};
	int v = LOAD_AUTO;
	const char *wrong = read_word(words, &v, value, "not one of " CLI_LOAD_MODES);

	*(enum load_mode *)field = (enum load_mode)v;
	return wrong;
}

const char *cli_read_override(void *field, const char *value)
{
	return overrides_add(field, value);
}

static const char *add_number(void *field, const char *key, const char *value)
{
	float v;

	return opt_float(value, &v) ? overrides_add_float(field, key, (double)v) : "not a number";
}

static const char *read_rope_type(void *field, const char *value)
{
	return overrides_add_str(field, ".rope.scaling.type", value);
}

static const char *read_rope_scale(void *field, const char *value)
{
	return add_number(field, ".rope.scaling.factor", value);
}

static const char *read_rope_freq_scale(void *field, const char *value)
{
	float v;

	if (!opt_float(value, &v) || !(v > 0))
		return "not a number above 0";
	return overrides_add_float(field, ".rope.scaling.factor", 1 / (double)v);
}

static const char *read_rope_base(void *field, const char *value)
{
	return add_number(field, ".rope.freq_base", value);
}

static const char *read_yarn_context(void *field, const char *value)
{
	long long n;

	if (!opt_int(value, 1, INT32_MAX, &n))
		return "not a number from 1 on";
	return overrides_add_int(field, ".rope.scaling.original_context_length", n);
}

static const char *read_mlock(void *field, const char *value)
{
	(void)value;
	*(enum load_mode *)field = LOAD_MLOCK;
	return NULL;
}

static const char *read_no_mmap(void *field, const char *value)
{
	(void)value;
	*(enum load_mode *)field = LOAD_READ;
	return NULL;
}

#define AT(field) offsetof(struct cli, field)
const struct opt cli_options[] = {
	{ "Common", NULL, NULL, OPT_GROUP, 0, NULL },
	{ "-h, --help, --usage", NULL, "print this and exit", OPT_ON, AT(help), NULL },
	{ "--version", NULL, "print version and kernels in use, and exit", OPT_ON, AT(version), NULL },
	{ "-m, --model", "PATH", "the model: a mount, a directory of its layout, or a .gguf file",
	  OPT_TEXT, AT(model), NULL },
	{ "-t, --threads", "N", "threads; 0: as many as affinity, cgroup and the model's size allow", OPT_UINT, AT(threads), NULL },
	{ "-c, --ctx-size", "N", "tokens of context; 0: the model's own", OPT_UINT, AT(context), NULL },
	{ "-b, --batch-size, -ub, --ubatch-size", "N", "tokens of a prompt computed at once",
	  OPT_UINT, AT(batch), NULL },
	{ "-ctk, --cache-type-k", "TYPE", "keys in the cache: " CLI_CACHE_TYPES CACHE_DEFAULT,
	  OPT_CALL, AT(k), cli_read_cache_type },
	{ "-ctv, --cache-type-v", "TYPE", "values in the cache: " CLI_CACHE_TYPES CACHE_DEFAULT,
	  OPT_CALL, AT(v), cli_read_cache_type },
	{ "-lm, --load-mode", "MODE", CLI_LOAD_MODES " (default: auto)", OPT_CALL, AT(mode),
	  cli_read_load_mode },
	{ "--mlock", NULL, "the same as --load-mode mlock", OPT_CALL, AT(mode), read_mlock },
	{ "--mmap", NULL, "map weights as --load-mode says (always so)", OPT_ALWAYS, 0, NULL },
	{ "--no-mmap", NULL, "the same as --load-mode read", OPT_CALL, AT(mode), read_no_mmap },
	{ "--lazy", NULL, "leave embeddings alone until they are needed", OPT_ON, AT(lazy), NULL },
	{ "--no-check", NULL, "do not look for NaN and Inf in the weights", OPT_OFF, AT(check), NULL },
	{ "--check-tensors", NULL, "look for NaN and Inf in the weights (the default)", OPT_ON, AT(check), NULL },
	{ "--timings", NULL, "print what each phase of loading took", OPT_ON, AT(timings), NULL },
	{ "--override-kv", "KEY=TYPE:VALUE,...", "other values for keys of the model; TYPE is int, float, bool or str",
	  OPT_CALL, AT(overrides), cli_read_override },
	{ "--rope-scaling", "TYPE", "none, linear, yarn or longrope, whatever the model says", OPT_CALL, AT(overrides),
	  read_rope_type },
	{ "--rope-scale", "X", "stretch positions by X", OPT_CALL, AT(overrides), read_rope_scale },
	{ "--rope-freq-scale", "X", "the same, as 1 / X", OPT_CALL, AT(overrides), read_rope_freq_scale },
	{ "--rope-freq-base", "X", "another base of the frequencies", OPT_CALL, AT(overrides), read_rope_base },
	{ "--yarn-orig-ctx", "N", "tokens of context that the model was trained with", OPT_CALL, AT(overrides),
	  read_yarn_context },
	/* llama.cpp's options for what is not here, and what to do instead */
	{ "-ngl, --gpu-layers, --n-gpu-layers, -sm, --split-mode, -ts, --tensor-split, -mg, --main-gpu, -dev, --device, "
	  "-nkvo, --no-kv-offload, -kvo, --kv-offload, -ot, --override-tensor, -cmoe, --cpu-moe, -ncmoe, --n-cpu-moe, "
	  "-fit, --fit, --no-op-offload, --op-offload", NULL, "everything runs on the CPU: leave it out", OPT_NONE, 0, NULL },
	{ "-fa, --flash-attn", NULL, "attention is always computed that way: leave it out", OPT_NONE, 0, NULL },
	{ "--repack, -nr, --no-repack", NULL, "weights are never repacked: leave it out", OPT_NONE, 0, NULL },
	{ "-tb, --threads-batch", NULL, "prompts use the threads of -t", OPT_NONE, 0, NULL },
	{ "-C, --cpu-mask, -Cr, --cpu-range, --cpu-strict, --numa", NULL, "use taskset or numactl", OPT_NONE, 0, NULL },
	{ "--lora, --lora-scaled, --control-vector", NULL, "adapters are not supported", OPT_NONE, 0, NULL },
	{ "-hf, -hfr, --hf-repo, -hff, --hf-file, -mu, --model-url, -dr, --docker-repo", NULL,
	  "models are not downloaded: name a file", OPT_NONE, 0, NULL },
	{ 0 },
};

void cli_start(struct cli *c, const char *argv0)
{
	const char *slash = strrchr(argv0, '/');

	hold_descriptors();
	c->program = slash ? slash + 1 : argv0;
	c->start = c->last = clock_now();
	cli_signals(c);
}

/* ---- messages ---- */

__attribute__((format(printf, 3, 0)))
static void say(const struct cli *c, const char *object, const char *fmt, va_list ap)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	fprintf(stderr, "%s: ", c->program);
	if (object) {
		safe_print(stderr, object, strlen(object));
		fputs(": ", stderr);
	}
	if (text)
		safe_print(stderr, text, strlen(text));
	fputc('\n', stderr);
	free(text);
}

int cli_error(const struct cli *c, const char *object, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(c, object, fmt, ap);
	va_end(ap);
	return 1;
}

int cli_usage(const struct cli *c, const char *reason)
{
	cli_error(c, NULL, "%s", reason);
	opt_try_help(c->program);
	return 2;
}

void cli_warn(const struct cli *c, const char *object, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(c, object, fmt, ap);
	va_end(ap);
}

int cli_fail(const struct cli *c, const char *object, const struct gguf_error *e)
{
	return cli_error(c, object, "%s", e->text);
}

int cli_end(const struct cli *c, int status)
{
	int err = fflush(stdout) ? errno : ferror(stdout) ? EIO : 0;

	return err && !status ? cli_error(c, "standard output", "%s", strerror(err)) : status;
}

void cli_version(const struct cli *c)
{
	struct gguf_error e;

	if (mat_init(&e)) {
		printf("%s (%s %s), %s\n", c->program, PACKAGE_NAME, PACKAGE_VERSION, e.text);
		return;
	}
	printf("%s (%s %s), kernels: %s\n", c->program, PACKAGE_NAME, PACKAGE_VERSION, mat_tier());
}

static int read_command_line(const struct cli_program *p, int argc, char **argv)
{
	const char **words = calloc((size_t)argc + 1, sizeof *words), *wrong;
	size_t n = 0;
	int err;

	if (!words)
		return cli_error(p->cli, NULL, "out of memory");
	err = opt_parse(p->tables, argc, argv, words, &n);
	wrong = err || p->cli->help || p->cli->version ? NULL : p->wrong(p->ctx, n);
	if (n)
		p->cli->model = words[0];
	free(words);
	return err ? 2 : wrong ? cli_usage(p->cli, wrong) : 0;
}

int cli_main(const struct cli_program *p, int argc, char **argv)
{
	int status;

	cli_start(p->cli, argv[0]);
	status = read_command_line(p, argc, argv);
	if (status)
		return status;
	if (p->cli->version) {
		cli_version(p->cli);
	} else if (p->cli->help) {
		puts(p->usage);
		opt_help(p->tables);
	} else {
		status = p->run(p->ctx);
	}
	return cli_end(p->cli, status);
}

/* ---- loading ---- */

static void clear_bar(struct cli *c)
{
	if (c->bar_drawn > 0)
		fputs("\r\033[K", stderr);
	c->bar_drawn = 0;
}

/* Not before loading takes long enough to be waited for, and gone when all is there. */
static void draw_bar(void *ctx, uint64_t done, uint64_t total)
{
	enum { WIDTH = 40 };
	static const char full[] = "########################################";
	static const char none[] = "........................................";
	struct cli *c = ctx;
	double now = clock_now();
	int n = (int)((double)done / (double)total * WIDTH);

	if (done >= total) {
		clear_bar(c);
		return;
	}
	if (now - c->start < 0.3 || now - c->bar_drawn < 0.05)
		return;
	c->bar_drawn = now;
	fprintf(stderr, "\rloading [%.*s%.*s] %3d %%", n, full, WIDTH - n, none, (int)(100.0 * n / WIDTH));
}

int cli_source(struct cli *c, struct source **s)
{
	struct source_options o = { .mode = c->mode, .lazy = c->lazy, .overrides = &c->overrides };
	struct gguf_error e = { 0 };

	if (isatty(STDERR_FILENO)) {
		o.progress = draw_bar;
		o.progress_ctx = c;
	}
	if (source_open(s, c->model, &o, &e))
		return cli_fail(c, c->model, &e);
	cli_phase(c, "open");
	return 0;
}

static struct llm_options llm_options(const struct cli *c)
{
	return (struct llm_options){
		.threads = c->threads, .context = c->context, .batch = c->batch, .k = c->k, .v = c->v,
		.check = c->check,
	};
}

static void clamp_threads(struct cli *c)
{
	unsigned allowed = threads_allowed();

	if (c->threads > allowed) {
		cli_warn(c, "threads", "%u asked for, affinity and cgroup allow %u: using %u", c->threads, allowed,
			 allowed);
		c->threads = allowed;
	}
}

static void print_bytes(FILE *f, const char *what, uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB" };
	double n = (double)bytes;
	size_t u = 0;

	for (; n >= 1024 && u + 1 < sizeof(units) / sizeof(*units); u++)
		n /= 1024;
	fprintf(f, "%-10s %15llu bytes  (%.1f %s)\n", what, (unsigned long long)bytes, n, units[u]);
}

static void print_estimate(FILE *f, const struct llm_estimate *est)
{
	print_bytes(f, "weights", est->weights);
	print_bytes(f, "KV cache", est->cache);
	print_bytes(f, "buffers", est->buffers);
}

int cli_estimate(struct cli *c, struct source *s)
{
	struct llm_options o = llm_options(c);
	struct llm_estimate est;
	struct gguf_error e = { 0 };

	if (llm_estimate(s, &o, &est, &e))
		return cli_fail(c, c->model, &e);
	print_estimate(stdout, &est);
	return 0;
}

/* Bytes that can be had without swapping, as the kernel reckons; UINT64_MAX when it does not say. */
static uint64_t available(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	if (!f)
		return UINT64_MAX;
	while (fgets(line, sizeof line, f) && sscanf(line, "MemAvailable: %llu kB", &kib) != 1)
		;
	fclose(f);
	return kib ? kib << 10 : UINT64_MAX;
}

/*
 * Before anything is loaded. Weights that are mapped can go and come again, those that are copied or locked cannot, and
 * a cache takes memory as it fills: the first is an error, the second may end well.
 */
static int check_memory(const struct cli *c, const struct llm_estimate *est)
{
	uint64_t have = available(), fixed = est->buffers;
	bool held = c->mode == LOAD_READ || c->mode == LOAD_MLOCK || c->mode == LOAD_POPULATE;

	fixed += held ? est->weights : 0;
	if (fixed <= have && est->cache <= have - fixed)
		return 0;
	print_estimate(stderr, est);
	if (fixed > have)
		return cli_error(c, c->model, "does not fit into the %llu MiB of memory that are available",
				 (unsigned long long)have >> 20);
	cli_warn(c, c->model, "the cache may outgrow the %llu MiB of memory that are available (see -c)",
		 (unsigned long long)have >> 20);
	return 0;
}

int cli_llm(struct cli *c, struct source *s, struct llm **m)
{
	struct llm_options o;
	struct llm_estimate est;
	struct gguf_error e = { 0 };
	int err;

	clamp_threads(c);
	o = llm_options(c);
	if (llm_estimate(s, &o, &est, &e))
		return cli_fail(c, c->model, &e);
	if (check_memory(c, &est))
		return 1;
	err = llm_open(m, s, &o, &e);
	clear_bar(c);
	if (err == -ENOMEM)
		print_estimate(stderr, &est);
	if (err)
		return cli_fail(c, c->model, &e);
	if (llm_context(*m) > llm_trained(*m))
		cli_warn(c, c->model, "a context of %u tokens is more than the %u that the model was trained with",
			 llm_context(*m), llm_trained(*m));
	cli_phase(c, "map");
	return 0;
}

/* ---- phases ---- */

void cli_phase(struct cli *c, const char *name)
{
	double now = clock_now();

	if (c->phases < CLI_PHASES) {
		c->phase[c->phases].name = name;
		c->phase[c->phases++].seconds = now - c->last;
	}
	c->last = now;
}

void cli_print_phases(const struct cli *c)
{
	if (!c->timings)
		return;
	for (unsigned i = 0; i < c->phases; i++)
		fprintf(stderr, "%-12s %10.3f ms\n", c->phase[i].name, 1e3 * c->phase[i].seconds);
	fprintf(stderr, "%-12s %10.3f ms\n", "in all", 1e3 * (c->last - c->start));
}
