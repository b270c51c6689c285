/* SPDX-License-Identifier: MIT */
/* Parsing and running together: a template is parsed once and may be rendered many times, by several threads. */
#include "template.h"
#include "exec.h"
#include "json.h"
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* What no published template comes near, and a hostile one has used up within a second. */
static const struct template_limits defaults = { .steps = 5u << 20, .bytes = 32u << 20, .depth = 2000 };

static int parse_guarded(struct template *t, const char *text, size_t n)
{
	if (setjmp(t->memory.out))
		return t->memory.code;
	parse(t, text, n);
	return 0;
}

int template_parse(struct template **out, const char *text, size_t n, struct gguf_error *e)
{
	struct gguf_error ignored;
	struct template *t = calloc(1, sizeof *t);
	int err;

	if (!t)
		return -ENOMEM;
	t->memory.e = e ? e : &ignored;
	t->memory.limit = (4u << 20) + 512 * (n < 49152 ? n : 49152);
	t->memory.steps = UINT64_MAX;
	err = parse_guarded(t, text, n);
	t->memory.e = NULL;
	if (err)
		template_free(t);
	else
		*out = t;
	return err;
}

void template_free(struct template *t)
{
	if (t)
		job_end(&t->memory);
	free(t);
}

static int render_guarded(struct run *r, const json_t *context, struct buf *text)
{
	if (setjmp(r->job.out))
		return r->job.code;
	struct value globals = value_of_json(&r->job, context);
	r->context = globals.type == V_DICT ? globals.d : dict_new(&r->job);
	r->out = text;
	scope_push(r, NULL);
	exec_body(r, &r->t->body);
	return 0;
}

static int hand_over(const struct buf *text, char **out, size_t *n)
{
	char *p = malloc(text->n + 1);

	if (!p)
		return -ENOMEM;
	if (text->n)
		memcpy(p, text->p, text->n);
	p[text->n] = 0;
	*out = p;
	*n = text->n;
	return 0;
}

int template_render(const struct template *t, const json_t *context, int64_t now, const struct template_limits *limits,
		    char **out, size_t *n, struct gguf_error *e)
{
	struct gguf_error ignored;
	struct run *r = calloc(1, sizeof *r);
	/* numbers have a point and months English names, whatever the program set */
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), old;
	int err = -ENOMEM;

	limits = limits ? limits : &defaults;
	if (!r || !c)
		goto out;
	old = uselocale(c);
	r->t = t;
	r->now = now;
	r->job.e = e ? e : &ignored;
	r->job.limit = limits->bytes;
	r->job.steps = limits->steps;
	r->job.depth_limit = limits->depth;
	struct buf text = { .j = &r->job };
	err = render_guarded(r, context, &text);
	if (!err)
		err = hand_over(&text, out, n);
	job_end(&r->job);
	uselocale(old);
out:
	if (c)
		freelocale(c);
	free(r);
	return err;
}
