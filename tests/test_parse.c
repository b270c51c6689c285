/* SPDX-License-Identifier: MIT */
/* Each case of the table from memory, through a reader and from a file; then what a whole file reads as. */
#include "build.h"
#include "cases.h"
#include "gguf.h"
#include "tap.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static ssize_t read_build(void *ctx, void *buf, size_t n, uint64_t offset)
{
	const struct build *b = ctx;

	if (offset > b->n)
		return 0;
	if (n > b->n - offset)
		n = b->n - offset;
	if (n > 1000)
		n = 1000; /* short reads are a reader's right */
	memcpy(buf, b->p + offset, n);
	return (ssize_t)n;
}

static void check_case(const struct gguf_case *c)
{
	struct build b = { 0 };
	struct gguf *g = NULL, *h = NULL;
	struct gguf_error e = { 0 }, f = { 0 };
	struct gguf_reader r = { .read = read_build, .ctx = &b };
	int err, err2;

	build(&b, c->script);
	r.size = b.n;
	err = gguf_open_memory(&g, b.p, b.n, &e);
	err2 = gguf_open_reader(&h, &r, &f);
	if (c->text)
		ok(err < 0 && !g && e.code == err && strstr(e.text, c->text) && !strpbrk(e.text, "\n\033"),
		   "%s (%s) is refused: %s", c->name, c->from, err ? e.text : "it was not");
	else
		ok(!err && g, "%s (%s) opens: %s", c->name, c->from, err ? e.text : "yes");
	ok(err == err2 && !strcmp(e.text, f.text), "%s through a reader: the same", c->name);
	gguf_close(g);
	gguf_close(h);
	build_free(&b);
}

/* Every prefix of a whole file is refused, and never crashes. */
static void check_prefixes(void)
{
	struct build b = { 0 };
	size_t opened = 0;

	build(&b, "hdr 3 2 4 key a u32 u32 1 key b string str hello key c array arr string 3 str x str y str zz "
		  "key d array arr array 1 arr f32 1 f32 2 ten a 2 32,2 Q8_0 0 ten b 3 2,2,2 f16 96 pad 32 zero 112");
	for (size_t n = 0; n <= b.n; n++) {
		uint8_t *exact = malloc(n + 1);
		struct gguf *g = NULL;

		memcpy(exact, b.p, n);
		if (!gguf_open_memory(&g, exact, n, NULL))
			opened += n;
		gguf_close(g);
		free(exact);
	}
	ok(opened == b.n, "of all prefixes of a file only the whole one opens");
	build_free(&b);
}

static bool key_is(const struct gguf *g, const char *name, enum gguf_value_type type, uint64_t u)
{
	ssize_t i = gguf_find_key(g, name, strlen(name));
	struct gguf_value v;

	return i >= 0 && gguf_key(g, (size_t)i)->type == type && !gguf_value(g, (size_t)i, &v) && v.type == type && v.u == u;
}

static void check_whole(const char *version)
{
	char script[512];
	struct build b = { 0 };
	struct gguf *g = NULL;
	const struct gguf_tensor *t;
	const struct gguf_shard *s;

	snprintf(script, sizeof script, "hdr %s 2 2 key a u16 u16 515 key b i64 i64 77 ten first 2 3,2 i16 0 "
		 "ten second 1 2 f32 32 pad 32", version);
	build(&b, script);
	for (int i = 1; i <= 6; i++)
		build(&b, (char[]){ 'u', '1', '6', ' ', (char)('0' + i), 0 });
	build(&b, "pad 32 f32 1.5 f32 -2");
	ok(!gguf_open_memory(&g, b.p, b.n, NULL), "version %s opens", version);
	s = gguf_shard(g, 0);
	ok(s->version == (unsigned)(version[0] - '0') && s->big_endian == (version[1] == 'b') && s->size == b.n &&
		   s->alignment == 32 && s->data % 32 == 0 && s->data >= s->header_size && s->fd == -1 && s->tensors == 2,
	   "version %s: the shard says so", version);
	ok(gguf_key_count(g) == 2 && key_is(g, "a", GGUF_U16, 515) && key_is(g, "b", GGUF_I64, 77), "version %s: keys", version);
	t = gguf_tensor(g, 1);
	ok(gguf_find_tensor(g, "second", 6) == 1 && gguf_find_tensor(g, "third", 5) == -ENOENT && t->dims == 1 &&
		   t->extent[0] == 2 && t->extent[3] == 1 && t->offset == s->data + 32 && t->size == 8 && t->values == 2,
	   "version %s: tensors", version);
	float f[2];
	uint8_t bytes[5];
	ok(!gguf_tensor_read(g, 1, f, 8, 0) && f[0] == 1.5f && f[1] == -2, "version %s: floats are little-endian", version);
	ok(!gguf_tensor_read(g, 0, bytes, 5, 3) && !memcmp(bytes, "\0\3\0\4\0", 5), "version %s: bytes from within", version);
	ok(gguf_tensor_read(g, 1, f, 8, 1) == -ERANGE && gguf_tensor_read(g, 2, f, 1, 0) == -ERANGE &&
		   gguf_tensor(g, 2) == NULL && gguf_key(g, 2) == NULL,
	   "version %s: nothing past the end", version);
	gguf_close(g);
	build_free(&b);
}

static void check_unknown_types(void)
{
	struct build b = { 0 };
	struct gguf *g = NULL;
	uint8_t byte;

	build(&b, "hdr 3 3 0 ten a 1 8 77 0 ten b 1 8 f32 64 ten c 1 8 4 96 pad 32 zero 100 u8 9");
	ok(!gguf_open_memory(&g, b.p, b.n, NULL), "unknown types open");
	ok(gguf_tensor(g, 0)->size == 64 && gguf_tensor(g, 2)->size == 5, "their size is the gap to what follows");
	ok(!gguf_tensor_read(g, 2, &byte, 1, 4) && byte == 9, "their bytes are there");
	gguf_close(g);
	build_free(&b);
}

/* Writes b over the file until the clock of the file system has moved. */
static bool rewrite(int fd, const struct build *b)
{
	struct stat before, now;

	if (fstat(fd, &before))
		return false;
	do
		if (pwrite(fd, b->p, b->n, 0) != (ssize_t)b->n || fstat(fd, &now))
			return false;
	while (now.st_mtim.tv_sec == before.st_mtim.tv_sec && now.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
	return true;
}

/* A file on disk that changes while it is open. */
static void check_changes(void)
{
	char path[] = "/tmp/test_parse.XXXXXX";
	int fd = mkstemp(path);
	struct build b = { 0 };
	struct gguf *g = NULL;
	char buf[64];

	build(&b, "hdr 3 1 0 ten t 1 8 f32 0 pad 32 zero 32");
	ok(fd >= 0 && write(fd, b.p, b.n) == (ssize_t)b.n && !gguf_open(&g, path, NULL), "a file opens");
	ok(!gguf_shard_read(g, 0, buf, 4, 0) && !memcmp(buf, "GGUF", 4), "and reads");
	ok(gguf_shard_read(g, 0, buf, 2, b.n - 1) == -EIO, "not past its end");
	ok(ftruncate(fd, 40) == 0 && gguf_tensor_read(g, 0, buf, 4, 0) == -EIO, "truncated it gives EIO");
	ok(gguf_shard_read(g, 0, buf, 4, 0) == -EIO, "also where bytes are left");
	ok(rewrite(fd, &b) && gguf_tensor_read(g, 0, buf, 4, 0) == -EIO, "rewritten it still does");
	gguf_close(g);
	close(fd);
	unlink(path);
	build_free(&b);
}

/* Far too many of everything, in time that does not grow with its square. */
static void check_many(const char *kind)
{
	enum { MANY = 50000 };
	struct build b = { 0 };
	struct gguf *g = NULL;
	char line[96];
	bool keys = kind[0] == 'k';
	clock_t start;
	double seconds;

	snprintf(line, sizeof line, "hdr 3 %d %d", keys ? 0 : MANY, keys ? MANY : 0);
	build(&b, line);
	for (int i = 0; i < MANY; i++) {
		snprintf(line, sizeof line, keys ? "key key.%d u32 u32 %d" : "ten tensor.%d 1 8 f32 %d", i, i * 32);
		build(&b, line);
	}
	build(&b, keys ? "" : "pad 32 zero 1600000");
	start = clock();
	ok(!gguf_open_memory(&g, b.p, b.n, NULL), "%d %s open", MANY, kind);
	seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	ok(seconds < 1, "in less than a second of CPU");
	ok((keys ? gguf_find_key(g, "key.49999", 9) : gguf_find_tensor(g, "tensor.49999", 12)) == MANY - 1, "and are found");
	gguf_close(g);
	build_free(&b);
}

static void check_paths(void)
{
	struct gguf *g = NULL;
	struct gguf_error e;

	ok(gguf_open(&g, "/nowhere/x.gguf", &e) == -ENOENT && strstr(e.text, "cannot be opened"), "no such file: %s", e.text);
	ok(gguf_open(&g, "/", &e) == -EISDIR, "a directory: %s", e.text);
	ok(gguf_open(&g, "/dev/null", &e) == -EINVAL, "a device: %s", e.text);
	ok(g == NULL, "and nothing is handed out");
	gguf_close(NULL);
}

int main(void)
{
	static const char *const versions[] = { "1", "2", "3", "1b", "2b", "3b" };

	for (size_t i = 0; i < gguf_case_count; i++)
		check_case(&gguf_cases[i]);
	check_prefixes();
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++)
		check_whole(versions[i]);
	check_unknown_types();
	check_changes();
	check_many("keys");
	check_many("tensors");
	check_paths();
	done();
}
