/* SPDX-License-Identifier: MIT */
#include "opt.h"
#include "safe.h"
#include "tap.h"
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct values { bool on, off; unsigned u; int i; size_t z; float f; const char *text; char letter; };

static const char *read_letter(void *field, const char *value)
{
	*(char *)field = *value;
	return value[1] ? "more than a letter" : NULL;
}

#define AT(field) offsetof(struct values, field)
static const struct opt rows[] = {
	{ "Things", NULL, NULL, OPT_GROUP, 0, NULL },
	{ "-o, --on", NULL, "on", OPT_ON, AT(on), NULL },
	{ "--off", NULL, "off", OPT_OFF, AT(off), NULL },
	{ "-u, -un, --unsigned", "N", "from 0 on", OPT_UINT, AT(u), NULL },
	{ "-i", "N", "whole", OPT_INT, AT(i), NULL },
	{ "-z", "N", "size", OPT_SIZE, AT(z), NULL },
	{ "-f, --float", "X", "number", OPT_FLOAT, AT(f), NULL },
	{ "-t, --text", "TEXT", "text", OPT_TEXT, AT(text), NULL },
	{ "-l", "LETTER", "letter", OPT_CALL, AT(letter), read_letter },
	{ "--always", NULL, "so in any case", OPT_ALWAYS, 0, NULL },
	{ "--elsewhere, -e", NULL, "not here: do without", OPT_NONE, 0, NULL },
	{ 0 },
};

enum { WORDS = 8 };
static const struct {
	const char *what;
	const char *argv[WORDS];
	int want;
	struct values v;
	size_t words;
} cases[] = {
	{ "nothing", { NULL }, 0, { .off = true }, 0 },
	{ "each kind", { "-o", "--off", "-u", "7", "-i", "-3" }, 0, { .on = true, .u = 7, .i = -3 }, 0 },
	{ "numbers", { "-f", "-1.5e3", "-z", "5000000000" }, 0, { .off = true, .f = -1500, .z = 5000000000 }, 0 },
	{ "infinity", { "-f", "-inf" }, 0, { .off = true, .f = -INFINITY }, 0 },
	{ "a name among others", { "-un", "1" }, 0, { .off = true, .u = 1 }, 0 },
	{ "with =", { "--unsigned=4", "--text=a=b" }, 0, { .off = true, .u = 4, .text = "a=b" }, 0 },
	{ "a text like an option", { "-t", "-u" }, 0, { .off = true, .text = "-u" }, 0 },
	{ "an empty text", { "--text=" }, 0, { .off = true, .text = "" }, 0 },
	{ "words", { "one", "-", "-o", "two" }, 0, { .on = true, .off = true }, 3 },
	{ "after --", { "-o", "--", "-i", "--" }, 0, { .on = true, .off = true }, 2 },
	{ "a function", { "-l", "x" }, 0, { .off = true, .letter = 'x' }, 0 },
	{ "a function that refuses", { "-l", "xy" }, -EINVAL, { 0 }, 0 },
	{ "what is so in any case", { "--always" }, 0, { .off = true }, 0 },
	{ "what others have", { "-e", "3" }, -EINVAL, { 0 }, 0 },
	{ "unknown", { "-q" }, -EINVAL, { 0 }, 0 },
	{ "part of a name", { "--unsig", "1" }, -EINVAL, { 0 }, 0 },
	{ "a heading is none", { "Things" }, 0, { .off = true }, 1 },
	{ "no value", { "-u" }, -EINVAL, { 0 }, 0 },
	{ "a value for a flag", { "--on=1" }, -EINVAL, { 0 }, 0 },
	{ "not a number", { "-u", "7x" }, -EINVAL, { 0 }, 0 },
	{ "an empty number", { "-f", "" }, -EINVAL, { 0 }, 0 },
	{ "NaN", { "-f", "nan" }, -EINVAL, { 0 }, 0 },
	{ "negative", { "-u", "-1" }, -EINVAL, { 0 }, 0 },
	{ "too large", { "-i", "99999999999" }, -EINVAL, { 0 }, 0 },
	{ "far too large", { "-z", "99999999999999999999" }, -EINVAL, { 0 }, 0 },
};

static int same(const struct values *a, const struct values *b)
{
	return a->on == b->on && a->off == b->off && a->u == b->u && a->i == b->i && a->z == b->z && !(a->f < b->f) &&
	       !(a->f > b->f) && !a->text == !b->text && (!a->text || !strcmp(a->text, b->text)) && a->letter == b->letter;
}

static void test_parse(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct values v = { .off = true };
		const struct opt_table tables[] = { { rows, &v }, { NULL, NULL } };
		const char *words[WORDS + 1];
		char *argv[WORDS + 2] = { "dir/program" };
		size_t n = 0;
		int argc = 1, err;

		for (; cases[i].argv[argc - 1]; argc++)
			argv[argc] = (char *)cases[i].argv[argc - 1];
		err = opt_parse(tables, argc, argv, words, &n);
		ok(err == cases[i].want && (err || (n == cases[i].words && same(&v, &cases[i].v))), "%s", cases[i].what);
	}
}

/* What print writes to file descriptor 1, or safe_print to a stream. */
static void test_help(void)
{
	static char text[4096];
	struct values v = { .u = 12, .text = "word" };
	const struct opt_table tables[] = { { rows, &v }, { NULL, NULL } };
	FILE *f = tmpfile();
	int kept = dup(1);
	size_t n;

	if (!f || kept < 0)
		return;
	fflush(stdout);
	dup2(fileno(f), 1);
	opt_help(tables);
	fflush(stdout);
	dup2(kept, 1);
	close(kept);
	rewind(f);
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	ok(strstr(text, "-un, --unsigned N") && strstr(text, "(default: 12)") && strstr(text, "(default: word)") &&
	   strstr(text, "\nThings\n"), "help has names, headings and defaults");
	for (const struct opt *o = rows; o->names; o++)
		if (!strstr(text, o->names) != (o->kind == OPT_NONE))
			ok(0, "help has %s where it is one of ours", o->names);
}

static void test_safe(void)
{
	static const struct { const char *what, *in, *out; } texts[] = {
		{ "plain", "a b\tc\n", "a b\tc\n" },
		{ "an escape sequence", "\033[31mred", "\\x1b[31mred" },
		{ "carriage return and bell", "x\r\a", "x\\x0d\\x07" },
		{ "C1 in UTF-8", "\xc2\x9b" "2J", "\\x9b2J" },
		{ "letters with marks", "\xc3\xa9\xc2\xa0\xe6\xbc\xa2", "\xc3\xa9\xc2\xa0\xe6\xbc\xa2" },
		{ "delete", "\x7f", "\\x7f" },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char *got = NULL;
		size_t n;
		FILE *f = open_memstream(&got, &n);

		if (!f)
			return;
		safe_print(f, texts[i].in, strlen(texts[i].in));
		fclose(f);
		ok(!strcmp(got, texts[i].out), "%s", texts[i].what);
		free(got);
	}
}

int main(void)
{
	test_parse();
	test_help();
	test_safe();
	done();
}
