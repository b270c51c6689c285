/* SPDX-License-Identifier: MIT */
/* Values as lines and as JSON, whole and read in pieces from any offset. */
#include "value.h"
#include "made.h"
#include "tap.h"
#include <stdlib.h>

static char *whole(const struct text *t, size_t *n)
{
	char *p = malloc(t->size + 1);
	ssize_t got = text_read(t, p, t->size + 1, 0);

	*n = got < 0 ? 0 : (size_t)got;
	p[*n] = '\0';
	return p;
}

/* Reads of len bytes at each step-th offset say what the whole says. */
static bool pieces_agree(const struct text *t, const char *all, size_t n, size_t len, size_t step)
{
	char *p = malloc(len);
	bool same = true;

	for (size_t at = 0; at <= n + step && same; at += step) {
		size_t want = at >= n ? 0 : n - at < len ? n - at : len;
		ssize_t got = text_read(t, p, len, at);

		same = got == (ssize_t)want && !memcmp(p, all + (at < n ? at : n), want);
	}
	free(p);
	return same;
}

static void check(const char *what, const struct gguf *g, text_step *step, uint64_t i, const char *want, size_t want_n)
{
	struct text *t = NULL;
	size_t n;

	if (!ok(!text_new(&t, step, g, i), "%s: made", what))
		return;
	char *all = whole(t, &n);
	if (!ok(n == t->size && n == want_n && !memcmp(all, want, n), "%s: whole, %zu bytes", what, n))
		printf("# got %.300s\n", all);
	ok(pieces_agree(t, all, n, 7, n / 500 + 1), "%s: 7 bytes at a time", what);
	ok(pieces_agree(t, all, n, 100000, n / 50 + 1), "%s: much at a time", what);
	free(all);
	text_free(t);
}

static void check_string(const char *what, const struct gguf *g, text_step *step, uint64_t i, const char *want)
{
	check(what, g, step, i, want, strlen(want));
}

static void nested(struct build *m)
{
	made_key(m, "nested", GGUF_ARRAY);
	made_array(m, GGUF_ARRAY, 4);
	made_array(m, GGUF_U8, 3);
	build_number(m, 0x030201, 3);
	made_array(m, GGUF_STRING, 2);
	made_string(m, "a\"\n");
	made_string(m, "");
	made_array(m, GGUF_ARRAY, 2);
	made_array(m, GGUF_I32, 0);
	made_array(m, GGUF_BOOL, 1);
	build_number(m, 1, 1);
	made_array(m, GGUF_F32, 0);
}

static struct gguf *small_model(struct build *m)
{
	made_head(m, 0, 8);
	made_key(m, "str\"ing", GGUF_STRING);
	build_string(m, "a\0\t\xff\xe2\x96\x81\\", 8);
	made_key(m, "strings", GGUF_ARRAY);
	made_array(m, GGUF_STRING, 5);
	made_string(m, "plain");
	made_string(m, "");
	made_string(m, "back\\slash\nline\r\t\x01\x7f");
	build_string(m, "nul\0", 4);
	made_string(m, "\xc3\xa9\xed\xa0\x80\xe2\x96");
	made_key(m, "floats", GGUF_ARRAY);
	made_array(m, GGUF_F32, 3);
	build_number(m, 0x3dcccccd, 4);
	build_number(m, 0x7f800000, 4);
	build_number(m, 0xff800000, 4);
	made_key(m, "ints", GGUF_ARRAY);
	made_array(m, GGUF_I8, 2);
	build_number(m, 0x7f80, 2);
	made_key(m, "none", GGUF_ARRAY);
	made_array(m, GGUF_STRING, 0);
	nested(m);
	made_key(m, "large", GGUF_U64);
	build_number(m, UINT64_MAX, 8);
	made_key(m, "yes", GGUF_BOOL);
	build_number(m, 1, 1);
	return made_open(m);
}

static void test_small(void)
{
	struct build m = { 0 };
	struct gguf *g = small_model(&m);

	check_string("strings", g, array_step, 1,
		     "plain\n\nback\\\\slash\\nline\\r\\t\\x01\\x7f\nnul\\x00\n\xc3\xa9\xed\xa0\x80\xe2\x96\n");
	check_string("floats", g, array_step, 2, "0.1\ninf\n-inf\n");
	check_string("signed bytes", g, array_step, 3, "-128\n127\n");
	check_string("empty array", g, array_step, 4, "");
	check_string("arrays inside an array", g, array_step, 5, "[1,2,3]\n[\"a\\\"\\n\",\"\"]\n[[],[true]]\n[]\n");
	check_string("JSON", g, json_step, 0,
		     "{\n  \"str\\\"ing\": \"a\\u0000\\t\\ufffd\xe2\x96\x81\\\\\""
		     ",\n  \"strings\": [\"plain\",\"\",\"back\\\\slash\\nline\\r\\t\\u0001\\u007f\",\"nul\\u0000\","
		     "\"\xc3\xa9\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\"]"
		     ",\n  \"floats\": [0.1,null,null],\n  \"ints\": [-128,127],\n  \"none\": []"
		     ",\n  \"nested\": [[1,2,3],[\"a\\\"\\n\",\"\"],[[],[true]],[]]"
		     ",\n  \"large\": 18446744073709551615,\n  \"yes\": true\n}\n");
	gguf_close(g);
	build_free(&m);
}

static void test_no_keys(void)
{
	struct build m = { 0 };
	struct gguf *g;

	made_head(&m, 0, 0);
	g = made_open(&m);
	check_string("JSON of no keys", g, json_step, 0, "{}\n");
	gguf_close(g);
	build_free(&m);
}

/* Strings beyond what one step puts, of characters of 3 bytes, one after short ones; and one of bytes that are none. */
enum { LONG = 50001 };

static void long_item(struct build *m, struct build *want, bool json)
{
	build_bytes(want, json ? "\"" : "", json);
	for (int i = 0; i < LONG; i++)
		build_bytes(want, "\xe2\x96\x81", 3);
	build_bytes(want, json ? "\"" : "\n", 1);
	if (!m)
		return;
	build_number(m, 3 * LONG, 8);
	for (int i = 0; i < LONG; i++)
		build_bytes(m, "\xe2\x96\x81", 3);
}

static void test_long(void)
{
	struct build m = { 0 }, lines = { 0 }, json = { 0 };
	struct gguf *g;

	made_head(&m, 0, 1);
	made_key(&m, "k", GGUF_ARRAY);
	made_array(&m, GGUF_STRING, 3);
	made_string(&m, "x");
	long_item(&m, &lines, false);
	made_string(&m, "y");
	g = made_open(&m);

	struct build want = { 0 };
	build_bytes(&want, "x\n", 2);
	build_bytes(&want, lines.p, lines.n);
	build_bytes(&want, "y\n", 2);
	check("long string in an array", g, array_step, 0, (char *)want.p, want.n);
	build_bytes(&json, "{\n  \"k\": [\"x\",", 14);
	long_item(NULL, &json, true);
	build_bytes(&json, ",\"y\"]\n}\n", 8);
	check("long string in JSON", g, json_step, 0, (char *)json.p, json.n);
	gguf_close(g);
	build_free(&m);
	build_free(&lines);
	build_free(&json);
	build_free(&want);
}

enum { MANY = 40000 };

static void test_many(void)
{
	struct build m = { 0 }, want = { 0 }, inner = { 0 };
	struct gguf *g;
	char text[32];

	made_head(&m, 0, 2);
	made_key(&m, "flat", GGUF_ARRAY);
	made_array(&m, GGUF_U32, MANY);
	for (unsigned i = 0; i < MANY; i++) {
		build_number(&m, i * 7919, 4);
		build_bytes(&want, text, (size_t)sprintf(text, "%u\n", i * 7919));
	}
	made_key(&m, "deep", GGUF_ARRAY);
	made_array(&m, GGUF_ARRAY, 1);
	made_array(&m, GGUF_STRING, MANY);
	build_bytes(&inner, "[", 1);
	for (unsigned i = 0; i < MANY; i++) {
		sprintf(text, "t%u", i);
		made_string(&m, text);
		build_bytes(&inner, text, (size_t)sprintf(text, "%s\"t%u\"", i ? "," : "", i));
	}
	build_bytes(&inner, "]\n", 2);
	g = made_open(&m);
	check("40,000 numbers", g, array_step, 0, (char *)want.p, want.n);
	check("40,000 strings in an inner array", g, array_step, 1, (char *)inner.p, inner.n);
	gguf_close(g);
	build_free(&m);
	build_free(&want);
	build_free(&inner);
}

int main(void)
{
	test_small();
	test_no_keys();
	test_long();
	test_many();
	done();
}
