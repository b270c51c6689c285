/* SPDX-License-Identifier: MIT */
/*
 * A vocabulary, and texts in it. An input that is a GGUF file is the vocabulary, and the text is its own bytes; any other
 * one is text, for each vocabulary of tests/corpus/token/.
 */
#define _GNU_SOURCE
#include <glob.h>
#include "fuzz.h"
#include "fuzz_source.h"
#include "token/token.h"

struct known {
	struct source *s;
	struct vocab *v;
};

static void check_ids(const struct vocab *v, const struct tokens *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct gguf_bytes p = vocab_piece(v, t->id[i], true);

		if (t->id[i] < 0 || (size_t)t->id[i] >= vocab_size(v) || (p.n && !p.p))
			abort();
	}
}

static void encode(const struct vocab *v, const uint8_t *data, size_t size)
{
	for (unsigned flags = 0; flags < 4; flags++) {
		struct tokens t = { 0 };

		if (vocab_encode(v, (const char *)data, size, flags, &t))
			abort();
		check_ids(v, &t);
		free(t.id);
	}
}

static int open_path(struct known *k, const char *path)
{
	struct gguf_error e = { 0 };
	int err = source_open(&k->s, path, NULL, &e);

	if (!err)
		err = vocab_open(&k->v, k->s, &e);
	fuzz_expect_reason(err, &e);
	return err;
}

static void close_known(struct known *k)
{
	vocab_close(k->v);
	source_close(k->s);
}

static void run_vocabulary(const uint8_t *data, size_t size)
{
	struct known k = { .s = fuzz_source(data, size) };
	struct gguf_error e = { 0 };

	if (k.s)
		fuzz_expect_reason(vocab_open(&k.v, k.s, &e), &e);
	if (k.v)
		encode(k.v, data, size);
	close_known(&k);
}

/* The vocabularies that come with the tests, opened once and kept. */
static size_t known_vocabularies(const struct known **out)
{
	static struct known known[16];
	static size_t n;
	const char *top = getenv("top_srcdir");
	char pattern[512];
	glob_t found;

	*out = known;
	if (n)
		return n;
	snprintf(pattern, sizeof pattern, "%s/tests/corpus/token/*.gguf", top ? top : ".");
	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (size_t i = 0; i < found.gl_pathc && n < sizeof known / sizeof *known; i++) {
		if (open_path(&known[n], found.gl_pathv[i]))
			close_known(&known[n]);
		else
			n++;
	}
	globfree(&found);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct known *known;
	size_t n;

	if (size >= 4 && !memcmp(data, "GGUF", 4)) {
		run_vocabulary(data, size);
		return 0;
	}
	n = known_vocabularies(&known);
	for (size_t i = 0; i < n; i++)
		encode(known[i].v, data, size);
	return 0;
}
