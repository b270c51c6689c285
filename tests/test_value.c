/* SPDX-License-Identifier: MIT */
/* Values of all types, arrays and what is in them, and the typed getters. */
#include "build.h"
#include "gguf.h"
#include "quote.h"
#include "tap.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SCALARS "key u8 u8 u8 200 key i8 i8 i8 -3 key u16 u16 u16 60000 key i16 i16 i16 -300 key u32 u32 u32 4000000000 " \
		"key i32 i32 i32 -70000 key f32 f32 f32 0.1 key bool bool u8 2 key string string str a%00b " \
		"key u64 u64 u64 -1 key i64 i64 i64 2^63 key f64 f64 f64 0.1 "
#define ARRAYS "key au8 array arr u8 3 u8 7 u8 8 u8 9 key ai16 array arr i16 2 i16 -1 i16 2 " \
	       "key af64 array arr f64 2 f64 0.5 f64 -4 key nested array arr array 3 arr u8 2 u8 1 u8 2 arr string 2 str p str q " \
	       "arr array 1 arr i32 1 i32 -9 key empty array arr string 0 "

static struct gguf *open_script(struct build *b, const char *version, const char *rest, int keys)
{
	struct gguf *g = NULL;
	struct gguf_error e;
	char head[64];

	snprintf(head, sizeof head, "hdr %s 0 %d ", version, keys);
	build(b, head);
	build(b, rest);
	if (gguf_open_memory(&g, b->p, b->n, &e)) {
		printf("Bail out! %s\n", e.text);
		exit(1);
	}
	return g;
}

static struct gguf_value value_of(const struct gguf *g, const char *name)
{
	struct gguf_value v = { .type = GGUF_VALUE_TYPES };
	ssize_t i = gguf_find_key(g, name, strlen(name));

	if (i >= 0)
		gguf_value(g, (size_t)i, &v);
	return v;
}

static void check_scalars(const struct gguf *g, const char *version)
{
	static const struct { const char *name; uint64_t want; } numbers[] = {
		{ "u8", 200 }, { "i8", (uint64_t)-3 }, { "u16", 60000 }, { "i16", (uint64_t)-300 }, { "u32", 4000000000 },
		{ "i32", (uint64_t)-70000 }, { "bool", 1 }, { "u64", UINT64_MAX }, { "i64", UINT64_C(1) << 63 },
	};
	struct gguf_value v;

	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		v = value_of(g, numbers[i].name);
		ok(v.u == numbers[i].want && !strcmp(gguf_value_type_name(v.type), numbers[i].name), "version %s: %s", version,
		   numbers[i].name);
	}
	ok(value_of(g, "f32").f == (double)0.1f && value_of(g, "f64").f == 0.1, "version %s: floats", version);
	v = value_of(g, "string");
	ok(v.type == GGUF_STRING && v.s.n == 3 && !memcmp(v.s.p, "a\0b", 3), "version %s: a string with a zero in it", version);
}

static void check_arrays(const struct gguf *g, const char *version)
{
	struct gguf_value v[4], w, x;
	ssize_t i = gguf_find_key(g, "au8", 3);

	ok(!gguf_items(g, (size_t)i, 0, 3, v) && v[0].u == 7 && v[2].u == 9 && v[1].type == GGUF_U8, "version %s: u8 items", version);
	ok(!gguf_items(g, (size_t)i, 2, 1, v) && v[0].u == 9 && !gguf_items(g, (size_t)i, 3, 0, v) &&
		   gguf_items(g, (size_t)i, 3, 1, v) == -ERANGE && gguf_items(g, (size_t)i, 1, SIZE_MAX, v) == -ERANGE &&
		   gguf_items(g, 0, 0, 1, v) == -EINVAL && gguf_items(g, 1000, 0, 1, v) == -EINVAL,
	   "version %s: bounds of items", version);
	v[0] = value_of(g, "ai16");
	ok(v[0].type == GGUF_ARRAY && v[0].a.item == GGUF_I16 && v[0].a.count == 2 && !gguf_array_item(g, &v[0].a, 0, &w) &&
		   w.i == -1 && gguf_array_item(g, &v[0].a, 2, &w) == -ERANGE,
	   "version %s: an array as a value", version);
	v[0] = value_of(g, "af64");
	ok(!gguf_array_item(g, &v[0].a, 1, &w) && w.f == -4, "version %s: f64 item", version);
	i = gguf_find_key(g, "nested", 6);
	ok(!gguf_items(g, (size_t)i, 0, 3, v) && v[0].a.count == 2 && v[1].a.item == GGUF_STRING && v[2].a.item == GGUF_ARRAY,
	   "version %s: arrays in an array", version);
	ok(!gguf_array_item(g, &v[0].a, 1, &w) && w.u == 2 && !gguf_array_item(g, &v[1].a, 1, &w) && w.s.n == 1 && *w.s.p == 'q',
	   "version %s: their items", version);
	ok(!gguf_array_item(g, &v[2].a, 0, &w) && w.type == GGUF_ARRAY && !gguf_array_item(g, &w.a, 0, &x) && x.i == -9,
	   "version %s: and what is within those", version);
	i = gguf_find_key(g, "empty", 5);
	ok(gguf_key(g, (size_t)i)->count == 0 && gguf_key(g, (size_t)i)->item == GGUF_STRING && !gguf_items(g, (size_t)i, 0, 0, v),
	   "version %s: an empty array keeps its type", version);
}

static void check_getters(const struct gguf *g)
{
	uint64_t u = 0;
	int64_t s = 0;
	double f = 0;
	bool b = false;
	struct gguf_bytes t;

	ok(!gguf_get_u64(g, "u8", &u) && u == 200 && !gguf_get_u64(g, "u64", &u) && u == UINT64_MAX, "u64 from any width");
	ok(gguf_get_u64(g, "i8", &u) == -ERANGE && gguf_get_i64(g, "u64", &s) == -ERANGE, "numbers that do not fit");
	ok(gguf_get_u64(g, "f32", &u) == -EINVAL && gguf_get_u64(g, "bool", &u) == -EINVAL && gguf_get_i64(g, "string", &s) == -EINVAL,
	   "types that do not serve");
	ok(!gguf_get_i64(g, "i32", &s) && s == -70000 && !gguf_get_i64(g, "u16", &s) && s == 60000, "i64 from any width");
	ok(!gguf_get_f64(g, "f32", &f) && f == (double)0.1f && !gguf_get_f64(g, "i16", &f) && f == -300 && !gguf_get_f64(g, "u32", &f) &&
		   f == 4e9 && gguf_get_f64(g, "string", &f) == -EINVAL, "f64 from any number");
	ok(!gguf_get_bool(g, "bool", &b) && b && gguf_get_bool(g, "u8", &b) == -EINVAL, "bool");
	ok(!gguf_get_string(g, "string", &t) && t.n == 3 && gguf_get_string(g, "u8", &t) == -EINVAL, "string");
	ok(gguf_get_u64(g, "nope", &u) == -ENOENT && gguf_get_string(g, "nope", &t) == -ENOENT && gguf_get_bool(g, "nope", &b) == -ENOENT &&
		   gguf_get_f64(g, "", &f) == -ENOENT && gguf_get_i64(g, "nope", &s) == -ENOENT, "keys that are not there");
	ok(gguf_value_type_name(13) == NULL, "no name for an unknown type");
}

enum { TOKENS = 150000, THREADS = 4 };

static void *read_backwards(void *arg)
{
	const struct gguf *g = arg;
	struct gguf_value v;
	char want[16];

	for (int i = TOKENS - 1; i >= 0; i -= 7) {
		int n = snprintf(want, sizeof want, "t%d", i);

		if (gguf_items(g, 0, (uint64_t)i, 1, &v) || v.s.n != (size_t)n || memcmp(v.s.p, want, (size_t)n))
			return arg;
	}
	return NULL;
}

/* Many threads make the index of one array at once. */
static void check_index(void)
{
	struct build b = { 0 };
	struct gguf *g;
	pthread_t threads[THREADS];
	char token[16];
	void *result;
	int failed = 0;

	build(&b, "hdr 3 0 1 key tokens array arr string 150000");
	for (int i = 0; i < TOKENS; i++)
		build_string(&b, token, (size_t)snprintf(token, sizeof token, "t%d", i));
	if (gguf_open_memory(&g, b.p, b.n, NULL)) {
		ok(0, "a large vocabulary opens");
		return;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, read_backwards, g);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &result);
		failed += result != NULL;
	}
	ok(!failed, "%d threads read %d tokens in any order", THREADS, TOKENS);
	gguf_close(g);
	build_free(&b);
}

static void check_quote(void)
{
	static const struct { const char *in; size_t n; const char *want; } cases[] = {
		{ "plain", 5, "plain" }, { "a\nb\033[2J", 7, "a\\x0ab\\x1b[2J" }, { "\\x", 2, "\\\\x" }, { "", 0, "" },
		{ "\xe2\x96\x81x", 4, "\xe2\x96\x81x" }, { "\xff\xc0\x80", 3, "\\xff\\xc0\\x80" }, { "\xc2\x9b", 2, "\\xc2\\x9b" },
		{ "\xe2\x80\xae", 3, "\\xe2\\x80\\xae" }, { "\xe2\x96", 2, "\\xe2\\x96" }, { "a\0b", 3, "a\\x00b" },
		{ "\xed\xa0\x80", 3, "\\xed\\xa0\\x80" }, { "\xf4\x90\x80", 3, "\\xf4\\x90\\x80" },
		{ "12345678901234567", 17, "123456789012..." }, { "123456789012345", 15, "123456789012345" },
		{ "12345678901\n67", 14, "12345678901..." }, { "\n\n\n\n\n", 5, "\\x0a\\x0a\\x0a..." },
	};
	char out[16];

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		ok(!strcmp(gguf_quote(out, sizeof out, cases[i].in, cases[i].n), cases[i].want), "quoted: %s", out);
}

int main(void)
{
	static const char *const versions[] = { "1", "2", "3", "1b", "2b", "3b" };

	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
		struct build b = { 0 };
		struct gguf *g = open_script(&b, versions[i], SCALARS ARRAYS, 17);

		check_scalars(g, versions[i]);
		check_arrays(g, versions[i]);
		if (i == 2)
			check_getters(g);
		gguf_close(g);
		build_free(&b);
	}
	check_index();
	check_quote();
	done();
}
