/* SPDX-License-Identifier: MIT */
/* --override-kv: what its text means, and that a source answers with it. */
#include "build.h"
#include "source.h"
#include "tap.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *text;
	const char *wrong; /* NULL: it is taken */
	size_t n;
} texts[] = {
	{ "a=int:3", NULL, 1 },
	{ "a=int:-3,b=bool:true", NULL, 2 },
	{ "a=str:x\\,y,b=float:1e-5", NULL, 2 },
	{ "a=str:", NULL, 1 },
	{ "tokenizer.ggml.pre=str:a=b:c", NULL, 1 },
	{ "a", "not KEY=TYPE:VALUE", 0 },
	{ "", "not KEY=TYPE:VALUE", 0 },
	{ "a=3", "not KEY=TYPE:VALUE", 0 },
	{ "=int:3", "not KEY=TYPE:VALUE", 0 },
	{ "a=int:3,", "not KEY=TYPE:VALUE", 1 },
	{ "a=u32:3", "its type is none", 0 },
	{ "a=int:3x", "not a whole number", 0 },
	{ "a=int:9223372036854775808", "not a whole number", 0 },
	{ "a=float:nan", "not a finite number", 0 },
	{ "a=float:", "not a finite number", 0 },
	{ "a=bool:1", "neither true nor false", 0 },
};

static void parse(void)
{
	struct overrides *o = calloc(1, sizeof(*o));
	const struct override *v;
	char many[400] = "k=str:";

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		const char *wrong;

		o->n = 0;
		wrong = overrides_add(o, texts[i].text);
		ok(o->n == texts[i].n && !wrong == !texts[i].wrong && (!wrong || strstr(wrong, texts[i].wrong)), "\"%s\": %s",
		   texts[i].text, wrong ? wrong : "taken");
	}
	o->n = 0;
	ok(!overrides_add(o, "a=str:x\\,y") && (v = overrides_find(o, "a")) && !strcmp(v->s, "x,y"), "a comma in a value");
	ok(!overrides_add(o, "a=int:7") && (v = overrides_find(o, "a")) && v->type == OVERRIDE_INT && v->i == 7, "the last counts");
	ok(!overrides_add_int(o, ".rope.freq_base", 5) && overrides_find(o, "qwen2.rope.freq_base") &&
	   !overrides_find(o, "rope.freq_base") && !overrides_find(o, "qwen2.rope.freq"), "a setting of any architecture");
	memset(many + 6, 'x', 300);
	ok(strstr(overrides_add(o, many), "longer than 127") != NULL, "a text that is too long");
	for (o->n = 0; o->n < OVERRIDES_MAX;)
		if (overrides_add(o, "a=int:1"))
			break;
	ok(o->n == OVERRIDES_MAX && strstr(overrides_add(o, "a=int:1"), "more than 32"), "too many");
	free(o);
}

static struct source *open_with(const char *path, const char *overrides)
{
	struct overrides *o = calloc(1, sizeof(*o));
	struct source_options opt = { .overrides = o };
	struct source *s = NULL;

	if (overrides_add(o, overrides) || source_open(&s, path, &opt, NULL))
		puts("Bail out! no source"), exit(99);
	free(o);
	return s;
}

static void answers(const char *path)
{
	struct source *s = open_with(path, "llama.block_count=int:5,llama.new=float:0.5,tokenizer.ggml.pre=str:gpt-2,"
					   "llama.flag=bool:true,llama.negative=int:-1");
	struct gguf_error e = { 0 };
	struct gguf_bytes text;
	const int64_t *list;
	uint64_t u;
	double d;
	size_t n;
	bool b;

	ok(!source_u64(s, "llama.block_count", &u, &e) && u == 5, "a whole number in place of the file's");
	ok(!source_f64(s, "llama.block_count", &d, &e) && d == 5, "which is a number, too");
	ok(!source_i64s(s, "llama.block_count", &list, &n, &e) && n == 1 && *list == 5, "and a list of one");
	ok(source_has(s, "llama.new") && !source_f64(s, "llama.new", &d, &e) && d == 0.5, "a key that the file has not");
	ok(!source_string(s, "tokenizer.ggml.pre", &text, &e) && text.n == 5 && !memcmp(text.p, "gpt-2", 5), "a text");
	ok(!source_bool(s, "llama.flag", &b, &e) && b, "a bool");
	ok(source_bool(s, "llama.block_count", &b, &e) == -EINVAL && strstr(e.text, "llama.block_count: its override is not"),
	   "of the wrong type: %s", e.text);
	ok(source_u64(s, "llama.negative", &u, &e) == -EINVAL, "a negative one where none may be");
	ok(source_string(s, "llama.new", &text, &e) == -EINVAL && source_i64s(s, "llama.new", &list, &n, &e) == -EINVAL,
	   "a fraction is no text and no list of whole numbers");
	ok(!source_u64(s, "llama.other", &u, &e) && u == 9, "other keys are the file's");
	source_close(s);
}

int main(void)
{
	char path[] = "/tmp/overrideXXXXXX";
	struct build b = { 0 };
	int fd = mkstemp(path);

	parse();
	build(&b, "hdr 3 0 2");
	build(&b, "key llama.block_count u32 u32 2");
	build(&b, "key llama.other u32 u32 9");
	if (fd < 0 || write(fd, b.p, b.n) != (ssize_t)b.n || close(fd))
		puts("Bail out! no temporary file"), exit(99);
	answers(path);
	unlink(path);
	build_free(&b);
	done();
}
