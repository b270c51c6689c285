/* SPDX-License-Identifier: MIT */
/* The settings below ARCHITECTURE. that a program divides by, counts layers with or sizes arrays by. */
#include "check.h"
#include "quote.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* One line per setting: its name, the least value. An array has one per layer, where zeros may be meant. */
static const struct setting {
	const char *name;
	uint64_t least, most;
} settings[] = {
	{ "context_length", 1, UINT32_MAX },
	{ "embedding_length", 1, 1 << 24 },
	{ "block_count", 1, 1 << 16 },
	{ "feed_forward_length", 0, 1 << 28 },
	{ "attention.head_count", 1, 1 << 20 },
	{ "attention.head_count_kv", 1, 1 << 20 },
	{ "attention.key_length", 1, 1 << 20 },
	{ "attention.value_length", 1, 1 << 20 },
	{ "rope.dimension_count", 0, 1 << 20 },
	{ "expert_count", 0, 1 << 20 },
	{ "expert_used_count", 0, 1 << 20 },
	{ "vocab_size", 1, 1 << 28 },
};

struct arch {
	const struct gguf *g;
	struct report *r;
	struct gguf_bytes name;
};

static const char *full_name(const struct arch *a, const char *setting, char out[128])
{
	size_t n = a->name.n < 64 ? a->name.n : 64;

	memcpy(out, a->name.p, n);
	out[n] = '.';
	strcpy(out + n + 1, setting);
	return out;
}

/* Whether the setting is one integer, and which. */
static bool scalar(const struct arch *a, const char *setting, uint64_t *v)
{
	char name[128];

	return !gguf_get_u64(a->g, full_name(a, setting, name), v);
}

static void check_setting(const struct arch *a, const struct setting *s)
{
	char name[128], where[WHERE];
	uint64_t v;
	const struct gguf_key *k;
	ssize_t i;
	int err;

	full_name(a, s->name, name);
	i = gguf_find_key(a->g, name, strlen(name));
	if (i < 0)
		return;
	k = gguf_key(a->g, (size_t)i);
	if (k->type == GGUF_ARRAY)
		return;
	err = gguf_get_u64(a->g, name, &v);
	if (err == -EINVAL)
		check_say(a->r, ERROR, where_key(where, k), k->offset, "type %s, expected an integer",
			  gguf_value_type_name(k->type));
	else if (err)
		check_say(a->r, ERROR, where_key(where, k), k->offset, "is negative");
	else if (v < s->least || v > s->most)
		check_say(a->r, ERROR, where_key(where, k), k->offset, "%" PRIu64 ", expected %" PRIu64 " to %" PRIu64,
			  v, s->least, s->most);
}

static void check_heads(const struct arch *a)
{
	uint64_t heads, kv, experts, used;

	if (scalar(a, "attention.head_count", &heads) && scalar(a, "attention.head_count_kv", &kv) && kv && heads % kv)
		check_say(a->r, ERROR, "settings", 0,
			  "attention.head_count %" PRIu64 " is no multiple of head_count_kv %" PRIu64, heads, kv);
	if (scalar(a, "expert_count", &experts) && scalar(a, "expert_used_count", &used) && used > experts)
		check_say(a->r, ERROR, "settings", 0,
			  "expert_used_count %" PRIu64 " is more than expert_count %" PRIu64, used, experts);
}

/* One more than the highest N of the tensors blk.N. */
static uint64_t count_layers(const struct gguf *g)
{
	uint64_t layers = 0;

	for (size_t i = 0; i < g->tensor_count; i++) {
		const struct gguf_bytes *b = &g->tensors[i].name;
		uint64_t n = 0;
		size_t k = 4;

		if (b->n < 6 || memcmp(b->p, "blk.", 4))
			continue;
		for (; k < b->n && isdigit((unsigned char)b->p[k]) && n < UINT32_MAX; k++)
			n = n * 10 + (uint64_t)(b->p[k] - '0');
		if (k > 4 && k < b->n && b->p[k] == '.' && n >= layers)
			layers = n + 1;
	}
	return layers;
}

/* Extent number dim of a tensor against the setting that gives it. */
static void check_extent(const struct arch *a, const char *tensor, unsigned dim, const char *setting)
{
	ssize_t i = gguf_find_tensor(a->g, tensor, strlen(tensor));
	const struct gguf_tensor *t;
	char where[WHERE];
	uint64_t want;

	if (i < 0 || !scalar(a, setting, &want))
		return;
	t = gguf_tensor(a->g, (size_t)i);
	if (want != t->extent[dim])
		check_say(a->r, ERROR, where_tensor(where, t), t->offset, "extent %u is %" PRIu64 ", %s says %" PRIu64,
			  dim, t->extent[dim], setting, want);
}

static void check_layers(const struct arch *a)
{
	uint64_t layers = count_layers(a->g), want;

	if (layers && scalar(a, "block_count", &want) && want != layers)
		check_say(a->r, want > layers ? ERROR : WARNING, "settings", 0,
			  "block_count is %" PRIu64 ", the tensors have %" PRIu64 " layers", want, layers);
}

void check_settings(struct report *r, const struct gguf *g)
{
	struct arch a = { .g = g, .r = r };

	if (gguf_get_string(g, "general.architecture", &a.name))
		return;
	for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
		check_setting(&a, &settings[i]);
	check_heads(&a);
	check_layers(&a);
	check_extent(&a, "token_embd.weight", 0, "embedding_length");
	check_extent(&a, "blk.0.ffn_gate.weight", 1, "feed_forward_length");
}
