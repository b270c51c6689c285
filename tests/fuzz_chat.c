/* SPDX-License-Identifier: MIT */
/* What a model says about its chat, parts between NULs: the name asked for, templates, a name for the second, texts. */
#define _GNU_SOURCE
#include "chat/chat.h"
#include "fuzz.h"
#include "fuzz_source.h"
#include <errno.h>

static struct source *make(struct fuzz_rest *r)
{
	struct gguf_bytes first = fuzz_part(r, 0), second = fuzz_part(r, 0), name = fuzz_part(r, 0);
	struct gguf_writer *w;
	char key[128];

	if (gguf_writer_new(&w))
		abort();
	fuzz_put_string(w, "general.architecture", (struct gguf_bytes){ "llama", 5 });
	fuzz_put_string(w, "tokenizer.chat_template", first);
	snprintf(key, sizeof key, "tokenizer.chat_template.%.*s", (int)(name.n < 64 ? name.n : 64), name.p);
	fuzz_put_string(w, key, second);
	return fuzz_source_of(w);
}

static void render(const struct chat *c, struct fuzz_rest *r)
{
	char *texts[3], *out;
	size_t n;
	struct gguf_error e = { 0 };

	for (int i = 0; i < 3; i++) {
		struct gguf_bytes t = fuzz_part(r, 0);

		texts[i] = strndup(t.p ? t.p : "", t.n);
	}
	const struct chat_message m[] = { { "system", texts[0] }, { "user", texts[1] }, { "assistant", texts[2] } };
	const struct chat_request q = { .messages = m, .n = 3, .answer = true, .now = 1767323045 };
	int err = chat_render(c, &q, &out, &n, &e);

	if (!err)
		free(out);
	else if (!e.text[0] || e.code != err)
		abort();
	for (int i = 0; i < 3; i++)
		free(texts[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_rest r = { data, size };
	struct gguf_bytes asked = fuzz_part(&r, 0);
	char *name = asked.n ? strndup(asked.p, asked.n) : NULL;
	struct source *s = make(&r);
	struct gguf_error e = { 0 };
	struct chat *c = NULL;

	if (s) {
		int err = chat_open(&c, s, NULL, name, &e);

		if (err && (!e.text[0] || e.code != err))
			abort();
		for (size_t i = 0; chat_model_template(s, i); i++)
			if (i > 2)
				abort();
		if (c)
			render(c, &r);
		chat_close(c);
	}
	source_close(s);
	free(name);
	return 0;
}
