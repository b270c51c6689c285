/* SPDX-License-Identifier: MIT */
#include "check.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "tokenizer.ggml."

/* A key below tokenizer.ggml, or NULL. */
static const struct gguf_key *find(const struct gguf *g, const char *name, size_t *number)
{
	char full[64] = PREFIX;
	ssize_t i = gguf_find_key(g, strcat(full, name), strlen(PREFIX) + strlen(name));

	if (i < 0)
		return NULL;
	*number = (size_t)i;
	return gguf_key(g, (size_t)i);
}

/* Arrays that have an item per token. */
static void check_parallel(struct report *r, const struct gguf *g, const char *name, uint64_t tokens)
{
	char where[WHERE];
	size_t i;
	const struct gguf_key *k = find(g, name, &i);

	if (!k)
		return;
	where_key(where, k);
	if (k->type != GGUF_ARRAY)
		check_say(r, ERROR, where, k->offset, "type %s, expected an array", gguf_value_type_name(k->type));
	else if (k->count != tokens)
		check_say(r, ERROR, where, k->offset, "%" PRIu64 " items for %" PRIu64 " tokens", k->count, tokens);
}

static void check_ids(struct report *r, const struct gguf *g, uint64_t tokens)
{
	static const char suffix[] = "_token_id";
	char where[WHERE];

	for (size_t i = 0; i < gguf_key_count(g); i++) {
		const struct gguf_key *k = gguf_key(g, i);
		struct gguf_value v;

		if (k->name.n < sizeof suffix || k->name.n < strlen(PREFIX) ||
		    memcmp(k->name.p, PREFIX, strlen(PREFIX)) ||
		    memcmp(k->name.p + k->name.n - (sizeof suffix - 1), suffix, sizeof suffix - 1) ||
		    gguf_value(g, i, &v))
			continue;
		where_key(where, k);
		if (k->type == GGUF_STRING || k->type == GGUF_ARRAY || k->type == GGUF_F32 || k->type == GGUF_F64 ||
		    k->type == GGUF_BOOL)
			check_say(r, ERROR, where, k->offset, "type %s, expected an integer",
				  gguf_value_type_name(k->type));
		else if (v.u >= tokens && v.u != UINT32_MAX && v.i != -1)
			check_say(r, ERROR, where, k->offset, "%" PRId64 ", there are %" PRIu64 " tokens", v.i, tokens);
	}
}

/* Two parts with a space between them: a merge without one joins nothing. */
static void check_merges(struct report *r, const struct gguf *g)
{
	char where[WHERE];
	size_t i;
	const struct gguf_key *k = find(g, "merges", &i);
	uint64_t bad = 0, first = 0;
	const struct gguf_value *v;
	struct walk w = { .g = g };

	if (!k)
		return;
	where_key(where, k);
	if (k->type != GGUF_ARRAY || k->item != GGUF_STRING) {
		check_say(r, ERROR, where, k->offset, "no array of strings");
		return;
	}
	w.key = i;
	for (uint64_t n = 0; (v = walk_next(&w)); n++)
		if ((v->s.n < 3 || !memchr(v->s.p + 1, ' ', v->s.n - 2)) && !bad++)
			first = n;
	if (bad)
		check_say(r, ERROR, where, k->offset,
			  "%" PRIu64 " merges are not two parts with a space between, the first is number %" PRIu64,
			  bad, first);
}

static void check_scores(struct report *r, const struct gguf *g)
{
	char where[WHERE];
	size_t i;
	const struct gguf_key *k = find(g, "scores", &i);
	uint64_t bad = 0;
	const struct gguf_value *v;
	struct walk w = { .g = g };

	if (!k || k->type != GGUF_ARRAY || k->item != GGUF_F32)
		return;
	w.key = i;
	while ((v = walk_next(&w)))
		bad += isnan(v->f);
	if (bad)
		check_say(r, ERROR, where_key(where, k), k->offset, "%" PRIu64 " scores are NaN", bad);
}

enum { MOST_TOKENS = 1 << 20 }; /* that are compared: four times the largest vocabulary there is */

/* How many of the texts, of which count are walked through and kept in all, are there already. -ENOMEM. */
static int64_t count_twins(struct walk *w, struct gguf_bytes *all, size_t count)
{
	const struct gguf_value *v;
	struct names names;
	int64_t twins = 0;
	size_t n = 0, pair[2];

	if (names_new(&names, sizeof *all, count))
		return -ENOMEM;
	for (; n < count && (v = walk_next(w)); n++) {
		all[n] = v->s;
		twins += names_add(&names, all, n, pair) == -EEXIST;
	}
	names_free(&names);
	return twins;
}

/* Published models have a few: they are told, not refused. */
static void check_twins(struct report *r, const struct gguf *g, size_t i)
{
	const struct gguf_key *k = gguf_key(g, i);
	size_t count = k->count < MOST_TOKENS ? (size_t)k->count : MOST_TOKENS;
	struct gguf_bytes *all = calloc(count + 1, sizeof *all);
	struct walk w = { .g = g, .key = i };
	int64_t twins = all ? count_twins(&w, all, count) : -ENOMEM;
	size_t empty = 0;
	char where[WHERE];

	where_key(where, k);
	for (size_t n = 0; twins >= 0 && n < count; n++)
		empty += !all[n].n;
	free(all);
	if (k->count > MOST_TOKENS)
		check_say(r, WARNING, where, k->offset, "%" PRIu64 " tokens, of which the first %d are compared",
			  k->count, MOST_TOKENS);
	if (twins > 0)
		check_say(r, NOTE, where, k->offset, "%" PRId64 " tokens have the text of another", twins);
	if (empty)
		check_say(r, NOTE, where, k->offset, "%zu tokens are empty", empty);
}

/* The embedding has a row for each token; more are padding. */
static void check_rows(struct report *r, const struct gguf *g, uint64_t tokens)
{
	ssize_t t = gguf_find_tensor(g, "token_embd.weight", 17);

	if (t >= 0 && g->tensors[t].extent[1] < tokens)
		check_say(r, ERROR, "tensor 'token_embd.weight'", g->tensors[t].offset,
			  "%" PRIu64 " rows for %" PRIu64 " tokens", g->tensors[t].extent[1], tokens);
}

void check_tokens(struct report *r, const struct gguf *g)
{
	char where[WHERE];
	size_t i;
	const struct gguf_key *k = find(g, "tokens", &i);
	ssize_t template = gguf_find_key(g, "tokenizer.chat_template", 23);

	if (template >= 0 && gguf_key(g, (size_t)template)->type != GGUF_STRING)
		check_say(r, ERROR, "key 'tokenizer.chat_template'", gguf_key(g, (size_t)template)->offset,
			  "type %s, expected a string", gguf_value_type_name(gguf_key(g, (size_t)template)->type));
	if (!k)
		return;
	where_key(where, k);
	if (k->type != GGUF_ARRAY || k->item != GGUF_STRING) {
		check_say(r, ERROR, where, k->offset, "no array of strings");
		return;
	}
	check_parallel(r, g, "scores", k->count);
	check_parallel(r, g, "token_type", k->count);
	check_ids(r, g, k->count);
	check_merges(r, g);
	check_scores(r, g);
	check_twins(r, g, i);
	check_rows(r, g, k->count);
}
