/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
/* Special tokens: which there are, which end a generation, and where they stand in a text. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "vocab.h"

/* Keys below tokenizer.ggml. */
static const struct {
	const char *key;
	enum role role;
} role_keys[] = {
	{ "bos_token_id", ROLE_BOS },         { "eos_token_id", ROLE_EOS },         { "eot_token_id", ROLE_EOT },
	{ "eom_token_id", ROLE_EOM },         { "unknown_token_id", ROLE_UNK },     { "padding_token_id", ROLE_PAD },
	{ "separator_token_id", ROLE_SEP },   { "seperator_token_id", ROLE_SEP },   { "mask_token_id", ROLE_MASK },
	{ "cls_token_id", ROLE_CLS },         { "prefix_token_id", ROLE_FIM_PRE },  { "suffix_token_id", ROLE_FIM_SUF },
	{ "middle_token_id", ROLE_FIM_MID },  { "fim_pre_token_id", ROLE_FIM_PRE }, { "fim_suf_token_id", ROLE_FIM_SUF },
	{ "fim_mid_token_id", ROLE_FIM_MID }, { "fim_pad_token_id", ROLE_FIM_PAD }, { "fim_rep_token_id", ROLE_FIM_REP },
	{ "fim_sep_token_id", ROLE_FIM_SEP },
};

#define NO_ROLE ROLE_COUNT
/* Texts by which models are known to mean something, in the order in which a role is given to them. */
static const struct {
	const char *text;
	enum role role;
	bool eog;
} known[] = {
	{ "<|eot_id|>", ROLE_EOT, true },
	{ "<|im_end|>", ROLE_EOT, true },
	{ "<|end|>", ROLE_EOT, true },
	{ "<end_of_turn>", ROLE_EOT, true },
	{ "<|endoftext|>", ROLE_EOT, true },
	{ "<|end_of_text|>", ROLE_EOT, true },
	{ "<EOT>", ROLE_EOT, true },
	{ "_<EOT>", ROLE_EOT, true },
	{ "[EOT]", ROLE_EOT, true },
	{ "<｜end▁of▁sentence｜>", ROLE_EOT, true },
	{ "<end_of_utterance>", ROLE_EOT, true },
	{ "<|eom_id|>", ROLE_EOM, true },
	{ "<|return|>", NO_ROLE, true },
	{ "<|call|>", NO_ROLE, true },
	{ "<|flush|>", NO_ROLE, true },
	{ "<|calls|>", NO_ROLE, true },
	{ "</s>", NO_ROLE, true },
	{ "[EOS]", NO_ROLE, true },
	{ "<eos>", NO_ROLE, true },
	{ "<turn|>", NO_ROLE, true },
	{ "<|tool_response>", NO_ROLE, true },
	{ "<|fim_prefix|>", ROLE_FIM_PRE, false },
	{ "<fim-prefix>", ROLE_FIM_PRE, false },
	{ "<fim_prefix>", ROLE_FIM_PRE, false },
	{ "<｜fim▁begin｜>", ROLE_FIM_PRE, false },
	{ "<PRE>", ROLE_FIM_PRE, false },
	{ LOW_BLOCK "<PRE>", ROLE_FIM_PRE, false },
	{ "<|code_prefix|>", ROLE_FIM_PRE, false },
	{ "<|prefix|>", ROLE_FIM_PRE, false },
	{ "<|fim_suffix|>", ROLE_FIM_SUF, false },
	{ "<fim-suffix>", ROLE_FIM_SUF, false },
	{ "<fim_suffix>", ROLE_FIM_SUF, false },
	{ "<｜fim▁hole｜>", ROLE_FIM_SUF, false },
	{ "<SUF>", ROLE_FIM_SUF, false },
	{ LOW_BLOCK "<SUF>", ROLE_FIM_SUF, false },
	{ "<|code_suffix|>", ROLE_FIM_SUF, false },
	{ "<|suffix|>", ROLE_FIM_SUF, false },
	{ "<|fim_middle|>", ROLE_FIM_MID, false },
	{ "<fim-middle>", ROLE_FIM_MID, false },
	{ "<fim_middle>", ROLE_FIM_MID, false },
	{ "<｜fim▁end｜>", ROLE_FIM_MID, false },
	{ "<MID>", ROLE_FIM_MID, false },
	{ LOW_BLOCK "<MID>", ROLE_FIM_MID, false },
	{ "<|code_middle|>", ROLE_FIM_MID, false },
	{ "<|middle|>", ROLE_FIM_MID, false },
	{ "<|fim_pad|>", ROLE_FIM_PAD, false },
	{ "<fim-pad>", ROLE_FIM_PAD, false },
	{ "<fim_pad>", ROLE_FIM_PAD, false },
	{ "<PAD>", ROLE_FIM_PAD, false },
	{ "[PAD]", ROLE_FIM_PAD, false },
	{ "<|fim_repo|>", ROLE_FIM_REP, false },
	{ "<|repo_name|>", ROLE_FIM_REP, false },
	{ "<fim-repo>", ROLE_FIM_REP, false },
	{ "<REPO>", ROLE_FIM_REP, false },
	{ "<reponame>", ROLE_FIM_REP, false },
	{ "<|file_sep|>", ROLE_FIM_SEP, false },
};

#define EACH(i, table) (size_t i = 0; i < sizeof table / sizeof *table; i++)

static int32_t find(const struct vocab *v, const char *text)
{
	return vocab_find(v, text, strlen(text));
}

static bool in_range(const struct vocab *v, int32_t id)
{
	return id >= 0 && (size_t)id < v->n;
}

static void default_roles(struct vocab *v)
{
	const struct token_model *m = v->model;

	memset(v->role, 0xff, sizeof v->role);
	v->role[ROLE_BOS] = in_range(v, m->bos) ? m->bos : -1;
	v->role[ROLE_EOS] = in_range(v, m->eos) ? m->eos : -1;
	v->role[ROLE_UNK] = in_range(v, m->unk) ? m->unk : -1;
	v->role[ROLE_SEP] = in_range(v, m->sep) ? m->sep : -1;
	v->role[ROLE_PAD] = in_range(v, m->pad) ? m->pad : -1;
	v->role[ROLE_MASK] = in_range(v, m->mask) ? m->mask : -1;
}

/* Writers say "none" as -1, in 32 or 64 bits. Any other id that is no token means that the vocabulary is broken. */
static int check_role(struct vocab *v, const char *key, int64_t id, struct gguf_error *e)
{
	if (id != -1 && id != UINT32_MAX)
		return gguf_fail(e, -EINVAL, 0, "%s: %lld is not a token, there are %zu", key, (long long)id, v->n);
	vocab_warn(v, "%s: %lld is not a token: taken for none", key, (long long)id);
	return 0;
}

static int roles_by_key(struct vocab *v, struct source *s, struct gguf_error *e)
{
	bool bos = false;

	for EACH(i, role_keys) {
		char key[64];
		int64_t id;
		int err;

		snprintf(key, sizeof key, "tokenizer.ggml.%s", role_keys[i].key);
		err = source_i64(s, key, &id, e);
		if (err == -ENOENT)
			continue;
		if (!err && (id < 0 || (uint64_t)id >= v->n)) {
			err = check_role(v, key, id, e);
			id = -1;
		}
		if (err)
			return err;
		if (id < 0)
			continue;
		v->role[role_keys[i].role] = (int32_t)id;
		bos |= role_keys[i].role == ROLE_BOS;
	}
	if (!bos && v->role[ROLE_CLS] >= 0)
		v->role[ROLE_BOS] = v->role[ROLE_CLS];
	return 0;
}

static void roles_by_text(struct vocab *v)
{
	for EACH(i, known) {
		int32_t id;

		if (known[i].role == NO_ROLE || v->role[known[i].role] >= 0)
			continue;
		id = find(v, known[i].text);
		if (id < 0)
			continue;
		v->role[known[i].role] = id;
		v->attr[id] |= ATTR_CONTROL;
	}
}

/* Attributes of token id become attrs and no others. */
static void retype(struct vocab *v, int32_t id, unsigned attrs)
{
	if (id >= 0)
		v->attr[id] = (uint8_t)attrs;
}

static void mark_ends(struct vocab *v)
{
	static const char *const said_aloud[] = { "<|channel|>", "<|message|>", "<|start|>", "<|constrain|>" };
	static const enum role ending[] = { ROLE_FIM_PAD, ROLE_FIM_REP, ROLE_FIM_SEP, ROLE_EOS, ROLE_EOT, ROLE_EOM };

	for EACH(i, known) {
		int32_t id = known[i].eog ? find(v, known[i].text) : -1;

		if (id >= 0)
			v->attr[id] |= ATTR_EOG | ATTR_CONTROL;
	}
	for EACH(i, said_aloud)
		retype(v, find(v, said_aloud[i]), ATTR_USER);
	for EACH(i, ending)
		if (v->role[ending[i]] >= 0)
			v->attr[v->role[ending[i]]] |= ATTR_EOG;
}

static bool ends(const struct vocab *v, const char *text)
{
	int32_t id = find(v, text);

	return id >= 0 && token_is(v, id, ATTR_EOG);
}

/* Where others end a message, <|end|> and </s> only end a part of it. */
static void unmark_parts(struct vocab *v)
{
	bool call = ends(v, "<|call|>") || ends(v, "<|calls|>");

	if (call && (ends(v, "<|return|>") || ends(v, "<|flush|>")) && ends(v, "<|end|>"))
		retype(v, find(v, "<|end|>"), ATTR_USER);
	if (ends(v, "<|tool_response>") && ends(v, "</s>"))
		retype(v, find(v, "</s>"), 0);
}

/* ---- tokens that are looked for in text ---- */

static int collect(struct vocab *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->n; i++)
		n += token_is(v, (int32_t)i, ATTR_CONTROL | ATTR_USER | ATTR_UNKNOWN) && v->text[i].n;
	v->special = malloc(n ? n * sizeof *v->special : 1);
	if (!v->special)
		return -ENOMEM;
	for (size_t i = 0; i < v->n; i++)
		if (token_is(v, (int32_t)i, ATTR_CONTROL | ATTR_USER | ATTR_UNKNOWN) && v->text[i].n)
			v->special[v->nspecial++] = (int32_t)i;
	return 0;
}

static int longer_first(const void *a, const void *b, void *ctx)
{
	const struct vocab *v = ctx;
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	size_t nx = v->text[x].n, ny = v->text[y].n;

	return nx != ny ? (nx < ny) - (nx > ny) : (x > y) - (x < y);
}

static bool contains(struct gguf_bytes text, const char *word)
{
	return text.n && memmem(text.p, text.n, word, strlen(word));
}

static struct gguf_bytes string_or_empty(struct source *s, const char *key)
{
	struct gguf_bytes text = { "", 0 };

	source_string(s, key, &text, NULL);
	return text;
}

static void set(struct vocab *v, const char *text, unsigned attr, bool on)
{
	int32_t id = find(v, text);

	if (id >= 0)
		v->attr[id] = (uint8_t)(on ? v->attr[id] | attr : v->attr[id] & ~attr);
}

/* Files do not say which tokens take white space with them; it is known of these models. */
static void strip_by_model(struct vocab *v, struct source *s)
{
	struct gguf_bytes pre = string_or_empty(s, "tokenizer.ggml.pre");
	struct gguf_bytes arch = string_or_empty(s, "general.architecture");
	struct gguf_bytes name = string_or_empty(s, "general.name");
	char lower[64];
	size_t n = name.n < sizeof lower ? name.n : sizeof lower;

	for (size_t i = 0; i < n; i++)
		lower[i] = (char)tolower((unsigned char)name.p[i]);
	name = (struct gguf_bytes){ lower, n };
	if (contains(pre, "jina-v2-de") || contains(pre, "jina-v2-es") || contains(pre, "jina-v2-code") ||
	    contains(arch, "nomic-bert-moe") || contains(arch, "jina-bert-v3")) {
		set(v, "<mask>", ATTR_LSTRIP, true);
	} else if (contains(name, "phi-3") || contains(name, "phi3")) {
		for (size_t i = 0; i < v->nspecial; i++)
			v->attr[v->special[i]] |= ATTR_RSTRIP;
		set(v, "</s>", ATTR_RSTRIP, true);
		set(v, "<unk>", ATTR_RSTRIP, false);
		set(v, "<s>", ATTR_RSTRIP, false);
		set(v, "<|endoftext|>", ATTR_RSTRIP, false);
	} else if (contains(name, "modern-bert")) {
		set(v, "[MASK]", ATTR_LSTRIP, true);
	}
}

int special_load(struct vocab *v, struct source *s, struct gguf_error *e)
{
	int err;

	default_roles(v);
	err = roles_by_key(v, s, e);
	if (err)
		return err;
	roles_by_text(v);
	mark_ends(v);
	unmark_parts(v);
	err = collect(v);
	if (!err)
		err = trie_init(&v->special_trie);
	if (!err)
		qsort_r(v->special, v->nspecial, sizeof *v->special, longer_first, v);
	for (size_t i = 0; i < v->nspecial && !err; i++) {
		struct gguf_bytes text = v->text[v->special[i]];

		err = trie_put(&v->special_trie, text.p, text.n, (int32_t)i);
	}
	if (err)
		return gguf_fail(e, err, 0, "no memory for the vocabulary");
	strip_by_model(v, s);
	return 0;
}

void special_unload(struct vocab *v)
{
	free(v->special);
	trie_free(&v->special_trie);
}

/* ---- cutting ---- */

struct fragments {
	struct fragment *f; /* free() */
	size_t n, cap;
};

static int add(struct fragments *to, const char *p, size_t n, int32_t token)
{
	if (to->n == to->cap) {
		size_t cap = to->cap ? 2 * to->cap : 16;
		struct fragment *more = realloc(to->f, cap * sizeof *more);

		if (!more)
			return -ENOMEM;
		to->f = more;
		to->cap = cap;
	}
	to->f[to->n++] = (struct fragment){ .p = p, .n = n, .token = token };
	return 0;
}

/* Sets seen[i] for each special token i that stands somewhere in text. Returns whether there is any. */
static bool look(const struct vocab *v, const char *text, size_t n, bool parse, bool *seen)
{
	const struct trie *t = &v->special_trie;
	bool any = false;

	for (size_t at = 0; at < n; at++) {
		uint32_t node = 0;

		for (size_t i = at; i < n && (node = trie_step(t, node, (unsigned char)text[i])); i++) {
			int32_t k = t->value[node];

			if (k >= 0 && (parse || !token_is(v, v->special[k], ATTR_CONTROL | ATTR_UNKNOWN)))
				any = seen[k] = true;
		}
	}
	return any;
}

/* Cuts one run of text at each place where token id stands. */
static int cut_run(const struct vocab *v, const struct fragment *f, int32_t id, struct fragments *to)
{
	struct gguf_bytes what = v->text[id];
	const char *p = f->p, *end = f->p + f->n, *hit;
	int err = 0;

	while (!err && p < end && (hit = memmem(p, (size_t)(end - p), what.p, what.n))) {
		const char *left = hit;

		while (token_is(v, id, ATTR_LSTRIP) && left > p && isspace((unsigned char)left[-1]))
			left--;
		if (left > p)
			err = add(to, p, (size_t)(left - p), -1);
		if (!err)
			err = add(to, hit, what.n, id);
		p = hit + what.n;
		while (token_is(v, id, ATTR_RSTRIP) && p < end && isspace((unsigned char)*p))
			p++;
	}
	return !err && p < end ? add(to, p, (size_t)(end - p), -1) : err;
}

static int cut_all(const struct vocab *v, const struct fragments *from, int32_t id, struct fragments *to)
{
	int err = 0;

	to->n = 0;
	for (size_t i = 0; i < from->n && !err; i++) {
		const struct fragment *f = &from->f[i];

		err = f->token < 0 ? cut_run(v, f, id, to) : add(to, f->p, f->n, f->token);
	}
	return err;
}

/* The longest token goes first and wins everywhere, also over a shorter one that begins before it. */
int special_cut(const struct vocab *v, const char *text, size_t n, bool parse, struct fragment **out, size_t *count)
{
	struct fragments now = { 0 }, next = { 0 };
	bool *seen = calloc(v->nspecial + 1, 1);
	int err = seen ? 0 : -ENOMEM;

	if (!err && n)
		err = add(&now, text, n, -1);
	if (!err && look(v, text, n, parse, seen)) {
		for (size_t i = 0; i < v->nspecial && !err; i++) {
			struct fragments swap = now;

			if (!seen[i])
				continue;
			err = cut_all(v, &now, v->special[i], &next);
			now = next;
			next = swap;
		}
	}
	for (size_t i = 0; i < now.n; i++)
		now.f[i].after_token = !i || now.f[i - 1].token >= 0;
	free(seen);
	free(next.f);
	*out = now.f;
	*count = now.n;
	return err;
}
