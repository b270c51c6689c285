/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "quote.h"
#include <inttypes.h>
#include <string.h>

const char *where_key(char out[WHERE], const struct gguf_key *k)
{
	memcpy(out, "key '", 5);
	gguf_quote(out + 5, WHERE - 7, k->name.p, k->name.n);
	return strcat(out, "'");
}

const char *where_tensor(char out[WHERE], const struct gguf_tensor *t)
{
	memcpy(out, "tensor '", 8);
	gguf_quote(out + 8, WHERE - 10, t->name.p, t->name.n);
	return strcat(out, "'");
}

/* Where the first byte is that is no UTF-8, or n. */
static size_t first_bad(const char *p, size_t n)
{
	size_t at = 0, len;
	unsigned point;

	for (; at < n; at += len) {
		len = gguf_utf8(p + at, n - at, &point);
		if (!len)
			break;
	}
	return at;
}

static bool is_snake(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] <= ' ' || p[i] > '~' || p[i] == '/')
			return false;
	return true;
}

static void check_name(struct report *r, const struct gguf_key *k, const char *where)
{
	if (k->name.n > UINT16_MAX)
		check_say(r, ERROR, where, k->offset, "the name has %zu bytes, expected 65535 at most", k->name.n);
	if (first_bad(k->name.p, k->name.n) < k->name.n)
		check_say(r, WARNING, where, k->offset, "the name is no UTF-8, expected ASCII");
	else if (!is_snake(k->name.p, k->name.n))
		check_say(r, WARNING, where, k->offset,
			  "the name has other characters than ASCII letters, digits and signs");
}

static void check_bools(struct report *r, const struct file *f, const struct gguf_key *k, const char *where)
{
	struct cursor c = file_cursor(f, k->offset);
	uint64_t v, odd = 0;

	if (k->type == GGUF_ARRAY)
		cursor_skip(&c, value_width(GGUF_ARRAY, c.narrow), "array");
	for (uint64_t i = 0; i < k->count; i++) {
		v = cursor_number(&c, 1, "bool");
		odd += v > 1;
	}
	if (odd)
		check_say(r, WARNING, where, k->offset, "%" PRIu64 " bools are neither 0 nor 1", odd);
}

const struct gguf_value *walk_next(struct walk *w)
{
	const struct gguf_key *k = gguf_key(w->g, w->key);
	uint64_t left = k->count - w->next, room = sizeof w->hand / sizeof *w->hand;

	if (w->used < w->have)
		return &w->hand[w->used++];
	w->have = (size_t)(left < room ? left : room);
	if (!w->have || gguf_items(w->g, w->key, w->next, w->have, w->hand))
		return NULL;
	w->next += w->have;
	w->used = 1;
	return w->hand;
}

/* The format wants UTF-8. In arrays it is a warning: there are vocabularies whose tokens are pieces of characters. */
static void check_strings(struct report *r, const struct gguf *g, size_t i, const char *where)
{
	const struct gguf_key *k = gguf_key(g, i);
	struct walk w = { .g = g, .key = i };
	const struct gguf_value *item;
	struct gguf_value v;
	uint64_t bad = 0, first = 0;

	if (k->type == GGUF_STRING && !gguf_value(g, i, &v)) {
		size_t at = first_bad(v.s.p, v.s.n);

		if (at < v.s.n)
			check_say(r, ERROR, where, k->offset, "the text is no UTF-8 at its byte %zu", at);
		return;
	}
	for (uint64_t n = 0; (item = walk_next(&w)); n++)
		if (first_bad(item->s.p, item->s.n) < item->s.n && !bad++)
			first = n;
	if (bad)
		check_say(r, WARNING, where, k->offset, "%" PRIu64 " texts are no UTF-8, the first is number %" PRIu64,
			  bad, first);
}

static bool equals(const struct gguf_bytes *b, const char *text)
{
	return b->n == strlen(text) && !memcmp(b->p, text, b->n);
}

/* What a file is that holds no plain language model: other programs say only "unknown architecture". */
static void check_kind(struct report *r, const struct gguf *g)
{
	static const struct { const char *key, *value, *what; } kinds[] = {
		{ "general.type", "adapter", "this is an adapter (LoRA): it goes on top of a model" },
		{ "general.type", "imatrix", "this is an importance matrix, made for quantizing" },
		{ "general.type", "mmproj", "this is a projector (mmproj): it goes beside a language model" },
		{ "general.architecture", "clip", "this is a projector (mmproj): it goes beside a language model" },
	};
	struct gguf_bytes got;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!gguf_get_string(g, kinds[i].key, &got) && equals(&got, kinds[i].value)) {
			check_say(r, NOTE, "file", 0, "%s", kinds[i].what);
			return;
		}
	if (gguf_find_key(g, "imatrix.datasets", 16) >= 0) {
		check_say(r, NOTE, "file", 0, "this is an importance matrix, made for quantizing");
		return;
	}
	if (!g->tensor_count && gguf_find_key(g, "tokenizer.ggml.tokens", 21) >= 0)
		check_say(r, NOTE, "file", 0, "this is a vocabulary without tensors");
	if (gguf_get_string(g, "general.architecture", &got))
		check_say(r, g->tensor_count ? ERROR : WARNING, "key 'general.architecture'", 0,
			  "is absent or no string: no program will know the model");
}

void check_keys(struct report *r, const struct gguf *g)
{
	char where[WHERE];

	for (size_t i = 0; i < gguf_key_count(g); i++) {
		const struct gguf_key *k = gguf_key(g, i);
		enum gguf_value_type type = k->type == GGUF_ARRAY ? k->item : k->type;

		where_key(where, k);
		check_name(r, k, where);
		if (type == GGUF_BOOL)
			check_bools(r, &g->files[0], k, where);
		if (type == GGUF_STRING)
			check_strings(r, g, i, where);
		if (type == GGUF_ARRAY)
			check_say(r, NOTE, where, k->offset, "arrays inside an array: ggml refuses them");
	}
	check_kind(r, g);
}
