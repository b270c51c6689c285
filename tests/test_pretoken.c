/* SPDX-License-Identifier: MIT */
/* Where the pre-tokenizers cut, and that none of them takes more than linear time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tap.h"
#include "token/split.h"

/* Words are separated by | in want, which no text here has. */
static const struct { const char *pre, *text, *want; } cases[] = {
	{ "gpt-2", "He's  got 12 %& x", "He|'s| | got| 12| %&| x" },
	{ "gpt-2", "a\n\nb", "a|\n|\n|b" },
	{ "gpt-2", "end  ", "end|  " },
	{ "llama3", "I'LL go  1234\r\n\r\n x", "I|'LL| go| | |123|4|\r\n\r\n| x" },
	{ "llama-bpe", "\xc3\x9c" "ber(x);\n", "\xc3\x9c" "ber|(x|);\n" },
	{ "qwen2", "x 123 \n y", "x| |1|2|3| \n| y" },
	{ "qwen35", "a\xcc\x81" "b 1", "a\xcc\x81" "b| |1" },
	{ "starcoder", "f(12)", "f|(|1|2|)" },
	{ "falcon", "a+b 12345", "a|+|b| |123|45" },
	{ "default", "a, 12345$", "a|,| |123|45|$" },
	{ "deepseek-coder", "if (x1)\n", "if| (|x|1|)|\n" },
	{ "deepseek-llm", "ab  \xe4\xb8\xad\xe6\x96\x87 12  ", "ab|  |\xe4\xb8\xad\xe6\x96\x87| |12|  " },
	{ "deepseek-v3", "a.b 1234 \xe3\x81\x82!", "a|.b| |123|4| |\xe3\x81\x82|!" },
	{ "tekken", "HelloWORLDfoo 12/\n", "Hello|WORLDfoo| |1|2|/\n" },
	{ "gpt-4o", "they'Re ABCdef's 1234", "they'Re| ABCdef's| |123|4" },
	{ "tiny_aya", "n 1234567", "n| |1|234|567" },
	{ "superbpe", "1234567 12", "1|234|567| |12" },
	{ "afmoe", "ab12345", "ab|12|345" },
	{ "kimi-k2", "ab\xe4\xb8\xad\xe6\x96\x87" "cd's 1234", "ab|\xe4\xb8\xad\xe6\x96\x87|cd's| |123|4" },
	{ "bloom", "one two, three", "one| two|,| three" },
	{ "viking", "a12 b", "a|1|2| b" },
	{ "seed-coder", "x;\n\ny", "x|;|\n\n|y" },
	{ "bailingmoe", "it's\n\nx", "it|'s|\n\n|x" },
	{ "exaone-moe", "a b c 1", "a b c| |1" },
	{ "jais-2", "a          b", "a|        | | b" },
	{ "chameleon", "<sentinel:12>    a1", "<|sentinel|:|1|2|>|    |a|1" },
	{ "youtu", "\xea\xb0\x80" "bc's1", "\xea\xb0\x80|bc's|1" },
	{ "gemma4", "a b\n\nc", "a b|\n\n|c" },
};

struct list {
	char text[256];
	size_t n;
};

static int append(void *ctx, const char *p, size_t n)
{
	struct list *l = ctx;

	if (l->n + n + 1 > sizeof l->text)
		return -ENOSPC;
	if (l->n)
		l->text[l->n++] = '|';
	memcpy(l->text + l->n, p, n);
	l->n += n;
	return 0;
}

static void test_case(const char *pre, const char *text, const char *want)
{
	struct splitter *s = NULL;
	struct split_state *st = split_state_make();
	struct list l = { .n = 0 };
	int err = splitter_make(&s, (struct gguf_bytes){ pre, strlen(pre) }, NULL);

	if (!err)
		err = split_text(s, st, text, strlen(text), append, &l);
	ok(!err && l.n == strlen(want) && !memcmp(l.text, want, l.n), "%s: %zu bytes of words", pre, strlen(text));
	if (l.n != strlen(want) || memcmp(l.text, want, l.n))
		printf("# got '%.*s'\n", (int)l.n, l.text);
	split_state_free(st);
	splitter_free(s);
}

struct cover {
	const char *next;
	bool gap;
};

static int check_next(void *ctx, const char *p, size_t n)
{
	struct cover *c = ctx;

	c->gap |= p != c->next || !n;
	c->next = p + n;
	return 0;
}

/* Long runs of one thing are what makes a pattern try again and again. */
static bool splits_long_text(const struct splitter *s, struct split_state *st, const char *unit, const char *end)
{
	enum { BYTES = 200000 };
	size_t n = strlen(unit), total = BYTES / n * n;
	char *text = malloc(total + strlen(end));
	struct cover c = { text, false };
	int err = text ? 0 : -ENOMEM;

	for (size_t at = 0; text && at < total; at += n)
		memcpy(text + at, unit, n);
	if (!err) {
		memcpy(text + total, end, strlen(end));
		total += strlen(end);
		err = split_text(s, st, text, total, check_next, &c);
	}
	c.gap |= c.next != text + total;
	free(text);
	return !err && !c.gap;
}

static void test_long(struct gguf_bytes name)
{
	static const char *const units[] = { "a", "A", " ", "\n", "\t ", "7", ".", "'", "\xc3\xa9", "\xe4\xb8\xad", "\xcc\x81", "a b" };
	struct splitter *s = NULL;
	struct split_state *st = split_state_make();
	bool good = !splitter_make(&s, name, NULL);

	for (size_t i = 0; good && i < sizeof units / sizeof *units; i++)
		good = splits_long_text(s, st, units[i], "") && splits_long_text(s, st, units[i], "x");
	ok(good, "%.*s: long texts of few characters", (int)name.n, name.p);
	split_state_free(st);
	splitter_free(s);
}

int main(void)
{
	struct splitter *s;
	struct gguf_error e = { 0 };
	struct gguf_bytes name;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		test_case(cases[i].pre, cases[i].text, cases[i].want);
	for (size_t i = 0; (name = split_name(i)).n; i++)
		test_long(name);
	ok(splitter_make(&s, (struct gguf_bytes){ "no-such", 7 }, &e) == -ENOTSUP && strstr(e.text, "'no-such'"),
	   "an unknown pre-tokenizer is refused by name");
	done();
}
