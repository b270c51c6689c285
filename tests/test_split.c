/* SPDX-License-Identifier: MIT */
/* Sets of shards on disk: any of them opens the whole; what is wrong with a set is said. */
#include "build.h"
#include "gguf.h"
#include "tap.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/test_split.XXXXXX";

static const char *path_of(const char *name)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static void put(const char *name, const char *script)
{
	struct build b = { 0 };
	FILE *f = fopen(path_of(name), "wb");

	build(&b, script);
	if (!f || fwrite(b.p, 1, b.n, f) != b.n || fclose(f)) {
		printf("Bail out! %s cannot be written\n", name);
		exit(1);
	}
	build_free(&b);
}

#define KEYS(no, count, total) "key split.no u16 u16 " no " key split.count u16 u16 " count " key split.tensors.count i32 i32 " total " "
#define A "m-00001-of-00003.gguf"
#define B "m-00002-of-00003.gguf"
#define C "m-00003-of-00003.gguf"
#define SHARD1 "hdr 3 1 4 " KEYS("0", "3", "4") "key general.architecture string str llama ten a 1 8 f32 0 pad 32 f32 1 zero 28"
#define SHARD2 "hdr 3 2 4 " KEYS("1", "3", "4") "key general.alignment u32 u32 128 ten b 1 8 f32 0 ten c 1 8 f32 128 pad 128 " \
	       "f32 2 zero 124 f32 3 zero 124"
#define SHARD3 "hdr 3b 1 3 " KEYS("2", "3", "4") "ten d 1 8 f32 0 pad 32 f32 4 zero 28"

static void put_set(void)
{
	put(A, SHARD1);
	put(B, SHARD2);
	put(C, SHARD3);
}

static void opens(const char *name, const char *what)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	struct gguf *g = NULL;
	struct gguf_error e = { 0 };
	struct gguf_bytes arch;
	int wrong = 0;

	if (!ok(!gguf_open(&g, path_of(name), &e), "%s: %s", what, e.text))
		return;
	ok(gguf_shard_count(g) == 3 && gguf_tensor_count(g) == 4 && !gguf_get_string(g, "general.architecture", &arch),
	   "%s: 3 shards, 4 tensors, the keys of the first", what);
	for (size_t i = 0; i < 4; i++) {
		float f = 0;

		wrong += gguf_find_tensor(g, names[i], 1) != (ssize_t)i || gguf_tensor_read(g, i, &f, 4, 0) || f != (float)(i + 1);
	}
	ok(!wrong, "%s: every tensor reads from its shard", what);
	gguf_close(g);
}

static void refuses(const char *name, const char *text, const char *what)
{
	struct gguf *g = NULL;
	struct gguf_error e = { 0 };
	int err = gguf_open(&g, path_of(name), &e);

	ok(err < 0 && !g && strstr(e.text, text), "%s: %s", what, err ? e.text : "it opened");
	gguf_close(g);
}

/* One file of the set replaced, its set opened by the first. */
static const struct { const char *what, *name, *script, *text; } spoiled[] = {
	{ "a shard that is cut", B, SHARD2 " cut 130", "shard 2 of 3, 'm-00002-of-00003.gguf': tensor 'c'" },
	{ "a shard that is none", B, "fill 99 65", "shard 2 of 3, 'm-00002-of-00003.gguf': not a GGUF file" },
	{ "a shard of another number", B, "hdr 3 0 3 " KEYS("2", "3", "4"), "says shard 3 of 3" },
	{ "a shard of another set", B, "hdr 3 0 3 " KEYS("1", "5", "4"), "says shard 2 of 5" },
	{ "a shard without split keys", C, "hdr 3 1 0 ten d 1 8 f32 0 pad 32 zero 32", "expected 3 of 3" },
	{ "a name in two shards", C, "hdr 3 1 3 " KEYS("2", "3", "4") "ten a 1 8 f32 0 pad 32 zero 32", "tensor 'a'" },
	{ "too few tensors", C, "hdr 3 0 3 " KEYS("2", "3", "4"), "'split.tensors.count' is 4, the 3 shards have 3" },
	{ "split.count as a string (log 21)", A, "hdr 3 0 2 key split.no u16 u16 0 key split.count string str 3",
	  "key 'split.count': type string, expected an integer" },
	{ "split.count negative", A, "hdr 3 0 2 key split.no u16 u16 0 key split.count i32 i32 -3", "key 'split.count'" },
	{ "split.count too large", A, "hdr 3 0 2 key split.no u16 u16 0 key split.count u32 u32 65536", "key 'split.count'" },
	{ "split.no beyond split.count", A, "hdr 3 0 2 key split.no u16 u16 3 key split.count u16 u16 3", "expected less than" },
	{ "no split.no", A, "hdr 3 0 1 key split.count u16 u16 3", "no key 'split.no'" },
	{ "split.count of another name", A, "hdr 3 0 2 key split.no u16 u16 0 key split.count u16 u16 2",
	  "expected a name that ends in '-00001-of-00002.gguf'" },
};

static void check_spoiled(void)
{
	for (size_t i = 0; i < sizeof spoiled / sizeof *spoiled; i++) {
		put_set();
		put(spoiled[i].name, spoiled[i].script);
		refuses(A, spoiled[i].text, spoiled[i].what);
	}
}

/* Hugging Face's cache: the names are links to files that are called by their hashes. */
static void check_links(void)
{
	static const char *const names[] = { A, B, C };

	put_set();
	mkdir(path_of("blobs"), 0700);
	for (int i = 0; i < 3; i++) {
		char blob[64], from[256];

		snprintf(blob, sizeof blob, "blobs/5f3759d%d", i);
		snprintf(from, sizeof from, "%s", path_of(names[i]));
		if (rename(from, path_of(blob)) || symlink(blob, from))
			printf("Bail out! no links here\n");
	}
	opens(B, "names that are links (log 20)");
}

static void check_alone(void)
{
	struct gguf *g = NULL;
	struct build b = { 0 };

	build(&b, SHARD2);
	ok(!gguf_open_memory(&g, b.p, b.n, NULL) && gguf_shard_count(g) == 1 && gguf_tensor_count(g) == 2, "a shard in memory opens alone");
	gguf_close(g);
	build_free(&b);
	put("one.gguf", "hdr 3 0 2 key split.no u16 u16 0 key split.count u16 u16 1");
	ok(!gguf_open(&g, path_of("one.gguf"), NULL) && gguf_shard_count(g) == 1, "a set of one needs no other name");
	gguf_close(g);
}

static void check_pieces(void)
{
	put("x.gguf.part1of2", "hdr 3 1 0 ten t 1 99 f32 0 pad 32 zero 99");
	refuses("x.gguf.part1of2", "join them with cat", "the first piece of a plain cut (log 16)");
	put("x.gguf.part2of2", "fill 99 3");
	refuses("x.gguf.part2of2", "join them with cat", "the second piece");
	put("x.gguf-split-b", "fill 99 3");
	refuses("x.gguf-split-b", "join them with cat", "a piece by letter");
	put("x-party.gguf", "fill 99 3");
	refuses("x-party.gguf", "not a GGUF file", "a name that only looks so");
}

int main(void)
{
	char clean[64];

	if (!mkdtemp(dir))
		return 99;
	put_set();
	opens(A, "by the first shard");
	opens(B, "by the second (log 18)");
	opens(C, "by the third");
	unlink(path_of(B));
	refuses(A, "shard 2 of 3 is missing: no file 'm-00002-of-00003.gguf'", "a shard that is absent (log 17)");
	refuses(C, "shard 2 of 3 is missing", "the same by the third");
	check_spoiled();
	check_links();
	check_alone();
	check_pieces();
	snprintf(clean, sizeof clean, "rm -rf %s", dir);
	ok(system(clean) == 0, "cleaned");
	done();
}
