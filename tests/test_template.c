/* SPDX-License-Identifier: MIT */
/* Chat templates: Jinja's semantics case by case, templates that mean harm, and the templates of published models. */
#include "tap.h"
#include "template.h"
#include "template_cases.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NOW = 1767323045 }; /* 2026-01-02 03:04:05 UTC */

static int render(const char *text, size_t n, const json_t *context, char **out, struct gguf_error *e)
{
	struct template *t;
	size_t size;
	int err = template_parse(&t, text, n, e);

	if (err)
		return err;
	err = template_render(t, context, NOW, NULL, out, &size, e);
	template_free(t);
	return err;
}

static void test_case(const struct template_case *c, size_t i)
{
	json_t *context = json_loads(c->context ? c->context : "{}", 0, NULL);
	struct gguf_error e = { .text = "" };
	char *out = NULL;
	int err = render(c->text, strlen(c->text), context, &out, &e);

	if (c->want && !ok(!err && !strcmp(out, c->want), "%s %zu", c->topic, i))
		printf("# %s\n# want %s\n# got  %s\n", c->text, c->want, err ? e.text : out);
	if (c->error && !ok(err == -EINVAL && strstr(e.text, c->error), "%s %zu: refused", c->topic, i))
		printf("# %s\n# want %s\n# got  %s\n", c->text, c->error, err ? e.text : out);
	free(out);
	json_decref(context);
}

static char *repeated(const char *head, const char *unit, size_t n, const char *tail)
{
	char *text = malloc(strlen(head) + n * strlen(unit) + strlen(tail) + 1), *p = stpcpy(text, head);

	while (n--)
		p = stpcpy(p, unit);
	strcpy(p, tail);
	return text;
}

/* What must end, soon and with that code (0: with a text). */
static const struct { const char *what, *head, *unit; size_t n; const char *tail; int code; } hostile[] = {
	{ "loops inside loops", "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "", 0, "", -E2BIG },
	{ "a text that doubles", "{% set ns = namespace(s='ab') %}{% for i in range(99) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}", "", 0, "", -E2BIG },
	{ "a list that doubles", "{% set ns = namespace(l=[1]) %}{% for i in range(99) %}{% set ns.l = ns.l + ns.l %}{% endfor %}", "", 0, "", -E2BIG },
	{ "a text repeated", "{{ 'x' * 9999999999 }}", "", 0, "", -E2BIG },
	{ "a text padded", "{{ 'x'.center(9999999999) }}", "", 0, "", -E2BIG },
	{ "a format of great width", "{{ '%9999999999d' % 1 }}", "", 0, "", -EINVAL },
	{ "a format of some width", "{{ '%999999999d' % 1 }}", "", 0, "", -E2BIG },
	{ "replacing the empty text", "{% set s = 'x' * 9999999 %}{{ s.replace('', s) }}", "", 0, "", -E2BIG },
	{ "a macro that calls itself", "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "", 0, "", -E2BIG },
	{ "a caller without end", "{% macro m() %}{% call m() %}{{ caller() }}{% endcall %}{% endmacro %}{{ m() }}", "", 0, "", -E2BIG },
	{ "a recursive loop without end", "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}", "", 0, "", -E2BIG },
	{ "values inside values", "{% set ns = namespace(l=[]) %}{% for i in range(99999) %}{% set ns.l = [ns.l] %}{% endfor %}", "", 0, "", -E2BIG },
	{ "a wide value that is small", "{% set ns = namespace(l=(1,)) %}{% for i in range(99) %}{% set ns.l = (ns.l, ns.l) %}{% endfor %}{{ ns.l }}", "", 0, "", -E2BIG },
	{ "comparing such values", "{% set ns = namespace(l=(1,), m=(1,)) %}{% for i in range(99) %}{% set ns.l = (ns.l, ns.l) %}{% set ns.m = (ns.m, ns.m) %}{% endfor %}{{ ns.l == ns.m }}", "", 0, "", -E2BIG },
	{ "hashing such a value", "{% set ns = namespace(l=(1,)) %}{% for i in range(99) %}{% set ns.l = (ns.l, ns.l) %}{% endfor %}{{ {ns.l: 1} }}", "", 0, "", -E2BIG },
	{ "a namespace inside itself", "{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}", "", 0, "", -E2BIG },
	{ "a range too long", "{{ range(0, 9223372036854775807) }}", "", 0, "", -EINVAL },
	{ "a range round the end", "{{ range(-9223372036854775807, 9223372036854775807, 9223372036854775807) | list }}", "", 0, "", 0 },
	{ "integers out of range", "{{ 9223372036854775807 + 1 }}", "", 0, "", -EINVAL },
	{ "the smallest integer by -1", "{{ (-9223372036854775807 - 1) // -1 }}", "", 0, "", -EINVAL },
	{ "brackets inside brackets", "{{ ", "(", 100000, "", -EINVAL },
	{ "minus upon minus", "{{ ", "-", 100000, "1 }}", -EINVAL },
	{ "not upon not", "{{ ", "not ", 100000, "1 }}", -EINVAL },
	{ "if inside if", "", "{% if 1 %}", 20000, "", -EINVAL },
	{ "a long sum", "{{ 1", " + 1", 100000, " }}", -EINVAL },
	{ "a long row of filters", "{{ 1", " | abs", 20000, " }}", -EINVAL },
	{ "a long row of attributes", "{{ d", ".a", 20000, " }}", -EINVAL },
	{ "a long row of conditions", "{{ 1", " if 1 else 1", 20000, " }}", -EINVAL },
	{ "many an elif", "{% if 0 %}", "{% elif 0 %}", 10000, "{% endif %}", 0 },
	{ "a long concatenation", "{{ 1", " ~ 1", 20000, " }}", 0 },
	{ "a hundred terms", "{{ 1", " + 1", 300, " }}", 0 },
	{ "many tags that are raw", "{% raw %}", "{% raw", 50000, "", -EINVAL },
	{ "many comments", "", "{#", 100000, "", -EINVAL },
	{ "an unpacking without end", "{% for a in range(99999) %}{% set x = range(99999) | list %}{% endfor %}", "", 0, "", -E2BIG },
	{ "sorting without end", "{% for a in range(99999) %}{% set x = range(99999) | sort %}{% endfor %}", "", 0, "", -E2BIG },
	{ "searching without end", "{% set s = 'a' * 9999999 %}{% for a in range(99999) %}{{ 'b' in s }}{% endfor %}", "", 0, "", -E2BIG },
	{ "counting without end", "{% set s = '\xc3\xa9' * 999999 %}{% for a in range(99999) %}{{ s[a] }}{% endfor %}", "", 0, "", -E2BIG },
	{ "text without end", "{% for a in range(99999) %}{% for b in range(999) %}{{ 'x' * 9999 }}{% endfor %}{% endfor %}", "", 0, "", -E2BIG },
};

static void test_hostile(size_t i)
{
	char *text = repeated(hostile[i].head, hostile[i].unit, hostile[i].n, hostile[i].tail), *out = NULL;
	json_t *context = json_object();
	struct gguf_error e = { .text = "" };
	clock_t start = clock();
	int err = render(text, strlen(text), context, &out, &e);
	double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;

	/* a sanitizer may make it ten times as slow */
	if (!ok(err == hostile[i].code && seconds < 20, "%s: %s", hostile[i].what, err ? e.text : "ends"))
		printf("# code %d, %.1f s\n", err, seconds);
	free(out);
	free(text);
	json_decref(context);
}

/* Every prefix of a template either parses or does not; none does harm. */
static void test_prefixes(void)
{
	static const char text[] = "{% macro m(a, b=[1, {'x': 2}]) -%} {{ a.b[1:]['c'](1, *x, **y)|join('\\x41')|default(1 if 2 else 3) }}"
				   "{%- endmacro %}{% for a, (b, c) in d if e recursive %}{% raw %}x{% endraw %}{# c #}{{ 1.5e3 ~ 'a' }}{% endfor %}";
	json_t *context = json_object();
	int parsed = 0;

	for (size_t n = 0; n < sizeof text; n++) {
		char *copy = malloc(n + !n), *out = NULL; /* exactly as long, for the sanitizer */

		memcpy(copy, text, n);
		parsed += !render(copy, n, context, &out, NULL);
		free(out);
		free(copy);
	}
	ok(parsed > 0 && parsed < (int)sizeof text, "prefixes of a template: %d of %zu are templates too", parsed, sizeof text);
	json_decref(context);
}

static void test_limits(void)
{
	const struct template_limits small = { .steps = 1000, .bytes = 1 << 20, .depth = 50 };
	json_t *context = json_object();
	struct gguf_error e;
	struct template *t;
	char *out = NULL;
	size_t n = 0;

	template_parse(&t, "{% for i in range(n) %}x{% endfor %}", 36, &e);
	json_object_set_new(context, "n", json_integer(100));
	ok(!template_render(t, context, 0, &small, &out, &n, &e) && n == 100 && !out[100], "within given limits");
	free(out);
	json_object_set_new(context, "n", json_integer(1000));
	ok(template_render(t, context, 0, &small, &out, &n, &e) == -E2BIG && strstr(e.text, "steps"), "past them: %s", e.text);
	template_free(t);
	json_decref(context);
}

static void test_error_place(void)
{
	static const char text[] = "line one\n{{ 1 }}\n  {{ 2 | nothing }}\n";
	struct gguf_error e = { .text = "" };
	struct template *t = NULL;

	ok(template_parse(&t, text, strlen(text), &e) == -EINVAL && !strncmp(e.text, "line 3: ", 8) &&
	   e.offset > 17 && e.offset < strlen(text), "an error says its line and offset: %s", e.text);
	ok(template_parse(&t, "x\n{{ .Prompt }}", 15, &e) == -EINVAL && strstr(e.text, "line 2") && strstr(e.text, "Go template"),
	   "a Go template is told by name: %s", e.text);
}

/* ---- templates of published models ---- */

static void vector_case(const char *name, const struct template *t, json_t *input, json_t *want)
{
	json_t *context = json_copy(input);
	const char *text = json_string_value(json_object_get(want, "text"));
	const char *what = json_string_value(json_object_get(input, "name"));
	struct gguf_error e = { .text = "" };
	char *out = NULL;
	size_t n = 0;

	json_object_set_new(context, "bos_token", json_string("<s>"));
	json_object_set_new(context, "eos_token", json_string("</s>"));
	int err = template_render(t, context, NOW, NULL, &out, &n, &e);
	if (text)
		ok(!err && n == strlen(text) && !memcmp(out, text, n), "%s: %s %s", name, what, err ? e.text : "");
	else
		ok(err == -EINVAL, "%s: %s is refused: %s", name, what, e.text);
	free(out);
	json_decref(context);
}

static char *read_file(const char *path, size_t *n)
{
	FILE *f = fopen(path, "rb");
	char *text = NULL;

	if (f && !fseek(f, 0, SEEK_END)) {
		*n = (size_t)ftell(f);
		rewind(f);
		text = malloc(*n + 1);
		*n = fread(text, 1, *n, f);
		fclose(f);
	}
	return text;
}

static void test_model(const char *dir, const char *name, json_t *inputs, json_t *wants)
{
	struct gguf_error e = { .text = "" };
	struct template *t = NULL;
	char path[1000];
	size_t n = 0, i;
	json_t *input;

	snprintf(path, sizeof path, "%s/%s.jinja", dir, name);
	char *text = read_file(path, &n);
	if (!text || template_parse(&t, text, n, &e)) {
		ok(0, "%s: %s", name, e.text);
	} else {
		json_array_foreach(inputs, i, input)
			vector_case(name, t, input, json_object_get(wants, json_string_value(json_object_get(input, "name"))));
	}
	template_free(t);
	free(text);
}

static void test_models(const char *shared)
{
	char dir[900], path[1000];
	const char *name;
	json_t *wants;

	snprintf(dir, sizeof dir, "%s/vectors/templates", shared ? shared : "");
	snprintf(path, sizeof path, "%s/cases.json", dir);
	json_t *inputs = json_load_file(path, 0, NULL);
	snprintf(path, sizeof path, "%s/expected.json", dir);
	json_t *expected = json_load_file(path, 0, NULL);
	if (!inputs || !expected)
		skip("templates of published models", "no shared/vectors/templates");
	else
		json_object_foreach(expected, name, wants)
			test_model(dir, name, inputs, wants);
	json_decref(inputs);
	json_decref(expected);
}

int main(void)
{
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		test_case(&cases[i], i);
	test_prefixes();
	test_limits();
	test_error_place();
	for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++)
		test_hostile(i);
	test_models(getenv("shared"));
	done();
}
