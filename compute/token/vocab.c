/* SPDX-License-Identifier: MIT */
/*
 * A vocabulary from tokenizer.ggml.*: texts and their types, then what the tokenizer's kind needs, then special tokens.
 * Anything that does not fit together is refused here, before a token is used as an index.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "vocab.h"

static const struct token_model *const models[] = {
#define M(name) &token_model_##name,
	TOKEN_MODELS(M)
#undef M
};

/* Keys below tokenizer.ggml. */
static const struct {
	const char *key;
	enum habit habit;
} habit_keys[] = {
	{ "add_bos_token", HABIT_BOS },
	{ "add_eos_token", HABIT_EOS },
	{ "add_sep_token", HABIT_SEP },
	{ "add_space_prefix", HABIT_SPACE_PREFIX },
	{ "remove_extra_whitespaces", HABIT_MERGE_SPACES },
};

int tokens_push(struct tokens *t, int32_t id)
{
	if (t->n == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 64;
		int32_t *more = realloc(t->id, cap * sizeof *more);

		if (!more)
			return -ENOMEM;
		t->id = more;
		t->cap = cap;
	}
	t->id[t->n++] = id;
	return 0;
}

void vocab_warn(struct vocab *v, const char *fmt, ...)
{
	va_list ap;

	if (v->warnings == WARNINGS_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(v->warning[v->warnings++], sizeof v->warning[0], fmt, ap);
	va_end(ap);
}

const char *vocab_warning(const struct vocab *v, size_t i)
{
	return i < v->warnings ? v->warning[i] : NULL;
}

int32_t vocab_byte(const struct vocab *v, unsigned char byte)
{
	static const char digit[] = "0123456789ABCDEF";
	char text[6] = { '<', '0', 'x', digit[byte >> 4], digit[byte & 15], '>' };
	int32_t id = vocab_find(v, text, sizeof text);

	return id >= 0 ? id : vocab_find(v, (const char *)&byte, 1);
}

static int find_model(struct vocab *v, struct source *s, struct gguf_error *e)
{
	static const char key[] = "tokenizer.ggml.model";
	struct gguf_bytes name;
	int err = source_string(s, key, &name, e);

	if (err == -ENOENT || (!err && ((name.n == 4 && !memcmp(name.p, "none", 4)) ||
					(name.n == 8 && !memcmp(name.p, "no_vocab", 8)))))
		return gguf_fail(e, -ENOENT, 0, "the model has no vocabulary (%s)", key);
	if (err)
		return err;
	for (size_t i = 0; i < sizeof models / sizeof *models; i++)
		if (strlen(models[i]->name) == name.n && !memcmp(models[i]->name, name.p, name.n))
			v->model = models[i];
	if (!v->model)
		return gguf_fail(e, -ENOTSUP, 0, "%s: the tokenizer '%.*s' is unknown", key,
				 (int)(name.n < 60 ? name.n : 60), name.p);
	v->habits = v->model->habits;
	return 0;
}

/* Texts that are empty in the file get a name that no other has. */
static int name_empty(struct vocab *v, size_t empty)
{
	enum { NAME_MAX_BYTES = 32 };
	char *at = v->empty_names = malloc(empty * NAME_MAX_BYTES);
	struct gguf_bytes *text = v->own_text = malloc(v->n * sizeof *text);

	if (!at || !text)
		return -ENOMEM;
	memcpy(text, v->text, v->n * sizeof *text);
	for (size_t i = 0; i < v->n; i++) {
		if (text[i].n)
			continue;
		text[i] = (struct gguf_bytes){ at, (size_t)snprintf(at, NAME_MAX_BYTES, "[EMPTY_%zu]", i) };
		at += NAME_MAX_BYTES;
	}
	v->text = text;
	return 0;
}

static int load_texts(struct vocab *v, struct source *s, struct gguf_error *e)
{
	static const char key[] = "tokenizer.ggml.tokens";
	size_t empty = 0;
	int err = source_strings(s, key, &v->text, &v->n, e);

	if (err == -ENOENT || (!err && !v->n))
		return gguf_fail(e, -EINVAL, 0, "%s: %s", key, err ? "missing" : "no tokens");
	if (err)
		return err;
	if (v->n > INT32_MAX)
		return gguf_fail(e, -EINVAL, 0, "%s: %zu tokens are too many", key, v->n);
	for (size_t i = 0; i < v->n; i++)
		empty += !v->text[i].n;
	if (empty)
		err = name_empty(v, empty);
	for (size_t i = 0; i < v->n && !err; i++) {
		if (v->text[i].n > INT32_MAX)
			return gguf_fail(e, -EINVAL, 0, "%s: token %zu has %zu bytes", key, i, v->text[i].n);
		v->longest = v->text[i].n > v->longest ? v->text[i].n : v->longest;
	}
	if (!err)
		err = index_build(&v->index, v->text, v->n, INDEX_LAST);
	return err ? gguf_fail(e, err, 0, "no memory for %zu tokens", v->n) : 0;
}

/* Embeddings, where the model has any, have a row for each token. */
static int check_rows(const struct vocab *v, struct source *s, struct gguf_error *e)
{
	static const char table[] = "token_embd.weight";
	const struct weight *w = source_find(s, table);

	if (!w || w->extent[1] == v->n)
		return 0;
	return gguf_fail(e, -EINVAL, 0, "tokenizer.ggml.tokens: %zu tokens, but %s has %llu rows", v->n, table,
			 (unsigned long long)w->extent[1]);
}

static int load_types(struct vocab *v, struct source *s, struct gguf_error *e)
{
	static const char key[] = "tokenizer.ggml.token_type";
	static const uint8_t attr_of_type[] = {
		[2] = ATTR_UNKNOWN, [3] = ATTR_CONTROL, [4] = ATTR_USER, [5] = ATTR_UNUSED, [6] = ATTR_BYTE,
	};
	const int64_t *type;
	size_t n;
	int err = source_i64s(s, key, &type, &n, e);

	v->attr = calloc(v->n, 1);
	if (!v->attr)
		return gguf_fail(e, -ENOMEM, 0, "no memory for %zu tokens", v->n);
	if (err)
		return err == -ENOENT ? 0 : err;
	if (n < v->n)
		return gguf_fail(e, -EINVAL, 0, "%s: %zu types for %zu tokens", key, n, v->n);
	for (size_t i = 0; i < v->n; i++)
		v->attr[i] = type[i] >= 0 && type[i] < (int64_t)sizeof attr_of_type ? attr_of_type[type[i]] : 0;
	return 0;
}

static int load_scores(struct vocab *v, struct source *s, struct gguf_error *e)
{
	static const char key[] = "tokenizer.ggml.scores";
	size_t n;
	int err = source_f32s(s, key, &v->score, &n, e);

	if (err)
		return err == -ENOENT ? 0 : err;
	return n < v->n ? gguf_fail(e, -EINVAL, 0, "%s: %zu scores for %zu tokens", key, n, v->n) : 0;
}

static int load_habits(struct vocab *v, struct source *s, struct gguf_error *e)
{
	for (size_t i = 0; i < sizeof habit_keys / sizeof *habit_keys; i++) {
		char key[64];
		bool on;
		int err;

		snprintf(key, sizeof key, "tokenizer.ggml.%s", habit_keys[i].key);
		err = source_bool(s, key, &on, e);
		if (err == -ENOENT)
			continue;
		if (err)
			return err;
		v->habits = on ? v->habits | habit_keys[i].habit : v->habits & ~(unsigned)habit_keys[i].habit;
	}
	v->habits |= v->model->forced;
	return 0;
}

static int load(struct vocab *v, struct source *s, struct gguf_error *e)
{
	int err = find_model(v, s, e);

	if (!err && v->model->begin_load)
		err = v->model->begin_load(v, s, e);
	if (!err)
		err = load_texts(v, s, e);
	if (!err)
		err = check_rows(v, s, e);
	if (!err)
		err = load_types(v, s, e);
	if (!err)
		err = load_scores(v, s, e);
	if (!err)
		err = v->model->load(v, s, e);
	if (!err)
		err = load_habits(v, s, e);
	if (!err)
		err = special_load(v, s, e);
	if (!err && pieces_make(v))
		err = gguf_fail(e, -ENOMEM, 0, "no memory for %zu tokens", v->n);
	return err;
}

int vocab_open(struct vocab **out, struct source *s, struct gguf_error *e)
{
	struct vocab *v = calloc(1, sizeof *v);
	int err = v ? load(v, s, e) : gguf_fail(e, -ENOMEM, 0, "no memory for a vocabulary");

	if (err)
		vocab_close(v);
	else
		*out = v;
	return err;
}

void vocab_close(struct vocab *v)
{
	if (!v)
		return;
	if (v->model)
		v->model->unload(v);
	special_unload(v);
	pieces_free(v->pieces);
	index_free(&v->index);
	free(v->attr);
	free(v->own_text);
	free(v->empty_names);
	free(v);
}

static int encode_fragments(const struct vocab *v, const struct fragment *f, size_t n, size_t bytes, struct tokens *out)
{
	void *scratch = v->model->begin(v, bytes);
	int err = scratch ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		err = f[i].token >= 0 ? tokens_push(out, f[i].token) : v->model->encode(v, scratch, &f[i], out);
	if (scratch)
		v->model->end(scratch);
	return err;
}

static int push_role(const struct vocab *v, enum habit habit, enum role role, struct tokens *out)
{
	return v->habits & habit && v->role[role] >= 0 ? tokens_push(out, v->role[role]) : 0;
}

int vocab_encode(const struct vocab *v, const char *text, size_t n, unsigned flags, struct tokens *out)
{
	struct fragment *f;
	size_t count, before = out->n;
	int err;

	if (n > INT32_MAX)
		return -EINVAL;
	err = special_cut(v, text, n, flags & VOCAB_PARSE, &f, &count);
	if (!err && flags & VOCAB_SPECIAL)
		err = push_role(v, HABIT_BOS, ROLE_BOS, out);
	if (!err)
		err = encode_fragments(v, f, count, n, out);
	if (!err && flags & VOCAB_SPECIAL)
		err = push_role(v, HABIT_SEP, ROLE_SEP, out);
	if (!err && flags & VOCAB_SPECIAL)
		err = push_role(v, HABIT_EOS, ROLE_EOS, out);
	free(f);
	if (err)
		out->n = before;
	return err;
}

size_t vocab_size(const struct vocab *v)
{
	return v->n;
}

static bool has(const struct vocab *v, int32_t id)
{
	return id >= 0 && (size_t)id < v->n;
}

struct gguf_bytes vocab_text(const struct vocab *v, int32_t id)
{
	return has(v, id) ? v->text[id] : (struct gguf_bytes){ "", 0 };
}

bool vocab_is_eog(const struct vocab *v, int32_t id)
{
	return has(v, id) && token_is(v, id, ATTR_EOG);
}

bool vocab_is_control(const struct vocab *v, int32_t id)
{
	return has(v, id) && token_is(v, id, ATTR_CONTROL);
}

int32_t vocab_bos(const struct vocab *v)
{
	return v->role[ROLE_BOS];
}

int32_t vocab_eos(const struct vocab *v)
{
	return v->role[ROLE_EOS];
}

int32_t vocab_find(const struct vocab *v, const char *text, size_t n)
{
	return index_find(&v->index, v->text, text, n);
}

bool vocab_adds_bos(const struct vocab *v)
{
	return v->habits & HABIT_BOS;
}
