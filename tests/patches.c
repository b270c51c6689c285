/* SPDX-License-Identifier: MIT */
#include "patches.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEMPLATE "tokenizer.chat_template"
/* Of the demo model: llama, 4 layers, 8 heads, 1024 tokens. */
const struct patch patches[] = {
	{ "layers-513", "log 27, llama.cpp#25821, llama.cpp#26051", "llama.block_count", "u32 u32 513", "block_count is 513", "block_count" },
	{ "layers-2^31", "log 27", "llama.block_count", "u32 u32 2^31", "'llama.block_count': 2147483648", "block_count" },
	{ "layers-0", "CVE-2024-8063", "llama.block_count", "u32 u32 0", "'llama.block_count': 0", "block_count" },
	{ "layers-string", "CVE-2024-8063", "llama.block_count", "string str four", "type string, expected an integer", "block_count" },
	{ "layers-f32", "CVE-2024-8063", "llama.block_count", "f32 f32 4", "type f32, expected an integer", "block_count" },
	{ "layers-absent", "CVE-2025-0312", "llama.block_count", NULL, NULL, "block_count" },
	{ "layers-i64", "log 21", "llama.block_count", "i64 i64 4", NULL, NULL },
	{ "layers-negative", "log 27", "llama.block_count", "i32 i32 -4", "is negative", "block_count" },
	{ "heads-0", "log 28", "llama.attention.head_count", "u32 u32 0", "'llama.attention.head_count': 0", "head_count" },
	{ "kv-heads-0", "log 28", "llama.attention.head_count_kv", "u32 u32 0", "head_count_kv': 0", "head_count_kv" },
	{ "kv-heads-3", "log 28", "llama.attention.head_count_kv", "u32 u32 3", "no multiple of head_count_kv 3", "head_count" },
	{ "kv-heads-array-short", "log 29", "llama.attention.head_count_kv", "array arr u32 2 u32 4 u32 4", NULL, "head_count_kv" },
	{ "width-0", "log 28", "llama.embedding_length", "u32 u32 0", "'llama.embedding_length': 0", "embedding_length" },
	{ "width-2^31", "CVE-2025-0315", "llama.embedding_length", "u32 u32 2^31", "'llama.embedding_length'", "" },
	{ "width-wrong", "CVE-2024-21802", "llama.embedding_length", "u32 u32 512", "extent 0 is 256, embedding_length says 512", "" },
	{ "ffn-wrong", "CVE-2025-0315", "llama.feed_forward_length", "u32 u32 2^30", "extent 1 is 512", "" },
	{ "context-2^32-1", "ollama#17042", "llama.context_length", "u32 u32 2^32-1", NULL, NULL },
	{ "rope-dims-1000", "CVE-2025-1975", "llama.rope.dimension_count", "u32 u32 1000", NULL, "dimension_count" },
	{ "rope-dims-odd", "CVE-2025-1975", "llama.rope.dimension_count", "u32 u32 31", NULL, "dimension_count" },
	{ "experts-2^31", "CVE-2025-0315", "llama.expert_count", "u32 u32 2^31", "'llama.expert_count': 2147483648", "expert" },
	{ "architecture-absent", "CVE-2025-0312", "general.architecture", NULL, "is absent or no string", "general.architecture" },
	{ "architecture-unknown", "log 33", "general.architecture", "string str lama", NULL, "lama" },
	{ "architecture-u32", "CVE-2024-8063", "general.architecture", "u32 u32 7", "is absent or no string", "general.architecture" },
	{ "architecture-escape", "control bytes in a text", "general.architecture", "string str %1B]0;x%07%1B[2J", NULL, "" },
	{ "mmproj", "log 33", "general.architecture", "string str clip", NULL, "projector" },
	{ "adapter", "log 33", "general.type", "string str adapter", NULL, "adapter" },
	{ "imatrix", "log 33", "general.type", "string str imatrix", NULL, "matrix" },
	{ "tokens-absent", "CVE-2025-0312", "tokenizer.ggml.tokens", NULL, NULL, "tokenizer.ggml.tokens" },
	{ "tokens-string", "log 21", "tokenizer.ggml.tokens", "string str abc", "'tokenizer.ggml.tokens': no array of strings", "tokenizer.ggml.tokens: its value" },
	{ "tokens-u32", "log 21", "tokenizer.ggml.tokens", "array arr u32 3 u32 1 u32 2 u32 3", "no array of strings", "tokens" },
	{ "tokens-too-few", "log 21", "tokenizer.ggml.tokens", "array arr string 3 str a str b str c", "1024 items for 3 tokens", "3 tokens" },
	{ "tokenizer-unknown", "log 33", "tokenizer.ggml.model", "string str nonesuch", NULL, "nonesuch" },
	{ "tokenizer-u8", "log 21", "tokenizer.ggml.model", "u8 u8 7", NULL, "tokenizer.ggml.model" },
	{ "scores-short", "log 21", "tokenizer.ggml.scores", "array arr f32 2 f32 0 f32 1", "2 items for 1024 tokens", "scores" },
	{ "scores-string", "log 21", "tokenizer.ggml.scores", "string str 1", "type string, expected an array", "scores" },
	{ "bos-1024", "log 21", "tokenizer.ggml.bos_token_id", "u32 u32 1024", "1024, there are 1024 tokens", "bos_token_id: 1024" },
	{ "eos-2^31", "log 21", "tokenizer.ggml.eos_token_id", "u32 u32 2^31", "there are 1024 tokens", "eos_token_id: 2147483648" },
	{ "bos-string", "log 21", "tokenizer.ggml.bos_token_id", "string str 1", "type string, expected an integer", "bos_token_id" },
	{ "template-array", "log 40", "tokenizer.chat_template", "array arr u8 1 u8 1", "'tokenizer.chat_template': type array", NULL },
	{ "template-not-utf8", "log 22", "tokenizer.chat_template", "string str %FF%FE", "the text is no UTF-8", NULL },
	{ "template-injection", "CVE-2024-34359", TEMPLATE, "string str {{''.__class__.__mro__[1].__subclasses__()}}", NULL, NULL },
	{ "template-import", "CVE-2024-34359", TEMPLATE, "string str {%25include'/etc/passwd'%25}", NULL, NULL },
	{ "template-endless", "hostile template", TEMPLATE, "string str {%25for%20i%20in%20range(2000000000)%25}{%25for%20k%20in%20range(2000000000)%25}"
	  "{%25endfor%25}{%25endfor%25}", NULL, NULL },
	{ "template-doubling", "hostile template", TEMPLATE, "string str {%25set%20n=namespace(s='xx')%25}{%25for%20i%20in%20range(99)%25}"
	  "{%25set%20n.s=n.s~n.s%25}{%25endfor%25}{{n.s}}", NULL, NULL },
	{ "template-recursion", "hostile template", TEMPLATE, "string str {%25macro%20m()%25}{{m()}}{%25endmacro%25}{{m()}}", NULL, NULL },
	{ "template-generation", "log 37", TEMPLATE, "string str {%25generation%25}x{%25endgeneration%25}", NULL, NULL },
	{ "template-go", "log 41", TEMPLATE, "string str {{-%20if%20.System%20}}{{%2520.System%20}}{{%2520end%20}}", NULL, NULL },
	{ "template-escape", "control bytes in a text", TEMPLATE, "string str {{raise_exception('%1B[2J%07')}}", NULL, NULL },
	{ "weight-absent", "CVE-2025-62609", "blk.2.ffn_up.weight", "name blk.2.ffn_xx.weight", NULL, "blk.2.ffn_up.weight" },
	{ "output-norm-absent", "CVE-2025-62609", "output_norm.weight", "name output_xxxx.weight", NULL, "output_norm.weight" },
	{ "scale-nan", "log 31, llama.cpp#7311", "blk.1.attn_q.weight", "data 144 007e", "blocks whose scale is no number (NaN 1, Inf 0), the first "
	  "is block 1", "blk.1.attn_q.weight" },
	{ "scale-inf", "log 31, llama.cpp#6884", "blk.3.ffn_gate.weight", "data 0 007c", "(NaN 0, Inf 1), the first is block 0",
	  "blk.3.ffn_gate.weight" },
	{ "norm-nan", "log 31", "output_norm.weight", "data 8 0000c07f", "values that are no number (NaN 1, Inf 0), the first is value 2",
	  "output_norm.weight" },
};
const size_t patch_count = sizeof patches / sizeof *patches;

static bool is_key(const struct patch *p)
{
	return !p->value || (strncmp(p->value, "name ", 5) && strncmp(p->value, "data ", 5));
}

/* Bytes of the first file, as they are. */
static void copy(struct build *b, const struct gguf *g, uint64_t from, uint64_t to)
{
	char *p = malloc(to - from + 1);

	if (!p || gguf_shard_read(g, 0, p, to - from, from))
		abort();
	build_bytes(b, p, to - from);
	free(p);
}

/* Where row i of the keys begins; behind the last: where the table of tensors does. */
static uint64_t key_start(const struct gguf *g, size_t i)
{
	const struct gguf_tensor *t = gguf_tensor(g, 0);
	const struct gguf_key *first = gguf_key(g, 0), *k = gguf_key(g, i);
	uint64_t base = first->offset - 4 - first->name.n;

	if (k)
		return k->offset - 4 - k->name.n - 8;
	return base + (uint64_t)(t->name.p - first->name.p) - 8;
}

static void put_patched_key(struct build *b, const struct patch *p)
{
	char script[512];

	snprintf(script, sizeof script, "key %s %s", p->key, p->value);
	build(b, script);
}

static void put_keys(struct build *b, const struct gguf *g, const struct patch *p)
{
	ssize_t old = is_key(p) ? gguf_find_key(g, p->key, strlen(p->key)) : -1;

	for (size_t i = 0; i < gguf_key_count(g); i++)
		if ((ssize_t)i != old)
			copy(b, g, key_start(g, i), key_start(g, i + 1));
		else if (p->value)
			put_patched_key(b, p);
	if (is_key(p) && p->value && old < 0)
		put_patched_key(b, p);
}

static size_t count_keys(const struct gguf *g, const struct patch *p)
{
	bool is_there = gguf_find_key(g, p->key, strlen(p->key)) >= 0;

	return gguf_key_count(g) + (is_key(p) && p->value && !is_there) - (!p->value && is_there);
}

/* Writes over what the table and the data of b hold; they are those of g, moved. */
static void patch_tensor(struct build *b, const struct gguf *g, const struct patch *p, size_t table, size_t data)
{
	ssize_t i = gguf_find_tensor(g, p->key, strlen(p->key));
	const struct gguf_tensor *t = gguf_tensor(g, (size_t)i);
	struct build bytes = { 0 };
	uint64_t name_at, skip;
	char script[64];

	if (i < 0)
		abort();
	name_at = table + (uint64_t)(t->name.p - gguf_tensor(g, 0)->name.p) + 8;
	if (!strncmp(p->value, "name ", 5)) {
		if (strlen(p->value + 5) != t->name.n)
			abort();
		memcpy(b->p + name_at, p->value + 5, t->name.n);
		return;
	}
	skip = strtoull(p->value + 5, NULL, 10);
	snprintf(script, sizeof script, "raw %s", strrchr(p->value, ' ') + 1);
	build(&bytes, script);
	memcpy(b->p + data + (t->offset - gguf_shard(g, 0)->data) + skip, bytes.p, bytes.n);
	build_free(&bytes);
}

void patch_model(struct build *b, const struct gguf *g, const struct patch *p)
{
	const struct gguf_shard *s = gguf_shard(g, 0);
	char script[96];
	size_t table, data;

	snprintf(script, sizeof script, "hdr 3 %zu %zu", gguf_tensor_count(g), count_keys(g, p));
	build(b, script);
	put_keys(b, g, p);
	table = b->n;
	copy(b, g, key_start(g, gguf_key_count(g)), s->header_size);
	build(b, "pad 32");
	data = b->n;
	copy(b, g, s->data, s->size);
	if (!is_key(p))
		patch_tensor(b, g, p, table, data);
}
