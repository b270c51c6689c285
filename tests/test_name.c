/* SPDX-License-Identifier: MIT */
#include "name.h"
#include "tap.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define S(s) s, sizeof s - 1
static const struct {
	const char *what, *exact;
	size_t n;
	const char *file;
} whole[] = {
	{ "plain", S("blk.0.attn_q.weight"), "blk.0.attn_q.weight" },
	{ "empty", S(""), "%" },
	{ "dot", S("."), "%2E" },
	{ "two dots", S(".."), "%2E%2E" },
	{ "three dots", S("..."), "..." },
	{ "dot in front", S(".hidden"), ".hidden" },
	{ "slash", S("a/b"), "a%2Fb" },
	{ "only a slash", S("/"), "%2F" },
	{ "percent", S("50%"), "50%25" },
	{ "looks escaped", S("%2F"), "%252F" },
	{ "looks cut", S("a%~7"), "a%25~7" },
	{ "control bytes", S("a\n\x01\x7f"), "a%0A%01%7F" },
	{ "NUL inside", S("a\0b"), "a%00b" },
	{ "UTF-8", S("\xe2\x96\x81the"), "\xe2\x96\x81the" },
	{ "not UTF-8", S("\xff\x80"), "\xff\x80" },
	{ "space, backslash, quotes", S(" \\'\""), " \\'\"" },
};

static const struct {
	const char *what, *file;
} refused[] = {
	{ "escape of a byte that needs none", "%41" },
	{ "small letters", "a%2f" },
	{ "escape cut short", "a%2" },
	{ "percent at the end", "a%" },
	{ "dot escaped within", "a%2E" },
	{ "three dots escaped", "%2E%2E%2E" },
	{ "dot, as it is", "." },
	{ "control byte, as it is", "a\n" },
	{ "cut without a number", "a%~" },
	{ "cut number too long", "a%~12345678901234567890" },
};

static void test_whole(void)
{
	for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
		char file[NAME_SIZE];
		struct name back;
		size_t n = name_encode(file, (struct gguf_bytes){ whole[i].exact, whole[i].n }, 5);

		ok(n == strlen(whole[i].file) && !strcmp(file, whole[i].file), "%s: written", whole[i].what);
		ok(!name_decode(&back, file, n) && !back.cut && back.n == whole[i].n &&
			   !memcmp(back.exact, whole[i].exact, back.n),
		   "%s: and back", whole[i].what);
	}
}

static void test_refused(void)
{
	char longer[300];
	struct name back;

	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
		ok(name_decode(&back, refused[i].file, strlen(refused[i].file)) == -ENOENT, "no such name: %s",
		   refused[i].what);
	memset(longer, 'a', sizeof longer);
	ok(name_decode(&back, longer, 256) == -ENAMETOOLONG, "256 bytes are too long");
	ok(!name_decode(&back, longer, 255) && back.n == 255, "255 bytes are not");
}

/* A name of n copies of unit: how it is cut. */
static void test_cut(const char *what, const char *unit, size_t n, size_t kept)
{
	size_t width = strlen(unit), escaped = *unit == '/' ? 3 : width;
	char *exact = malloc(n * width), file[NAME_SIZE];
	struct name back;

	for (size_t i = 0; i < n; i++)
		memcpy(exact + i * width, unit, width);
	size_t size = name_encode(file, (struct gguf_bytes){ exact, n * width }, 4711);

	ok(size == strlen(file) && size == kept * escaped + 6 && !strcmp(file + size - 6, "%~4711"), "%s: %zu are kept",
	   what, kept);
	ok(!name_decode(&back, file, size) && back.cut && back.number == 4711, "%s: the number comes back", what);
	free(exact);
}

int main(void)
{
	char file[NAME_SIZE], most[255];

	test_whole();
	test_refused();
	test_cut("256 letters", "a", 256, 249);
	test_cut("a name of 70,000 letters", "a", 70000, 249);
	test_cut("characters of 3 bytes", "\xe6\xbc\xa2", 89, 83);
	test_cut("characters of 4 bytes", "\xf0\x9f\x98\x80", 65, 62);
	test_cut("slashes", "/", 90, 83);
	test_cut("no UTF-8 at all", "\x80", 300, 249);
	memset(most, 'x', sizeof most);
	ok(name_encode(file, (struct gguf_bytes){ most, sizeof most }, 1) == 255 && file[254] == 'x', "255 are not cut");
	done();
}
