/* SPDX-License-Identifier: MIT */
/*
 * Models that must be refused before anything is computed, each by the name of what is wrong. A small sound model is
 * written as a plain directory; each row spoils one file of it.
 */
#define _GNU_SOURCE
#include "plain.h"
#include "tap.h"
#include "vectors.h"
#include <errno.h>
#include <ftw.h>
#include <unistd.h>

static char tmp[] = "/tmp/badXXXXXX";

static const struct bad {
	const char *dir;  /* of the sound model */
	const char *file; /* below the tree; a name without a slash is a key, the architecture put before it */
	const char *text; /* what it holds instead; NULL: it is taken away */
	const char *says; /* in the refusal */
} rows[] = {
	{ "logits/llama", "metadata/general.architecture", "llamb\n", "llamb is unknown" },
	{ "logits/llama", "metadata/general.architecture", NULL, "general.architecture: this key is missing" },
	{ "logits/llama", "metadata/general.architecture", "clip\n", "projector" },
	{ "logits/llama", "metadata/general.type", "adapter\n", "LoRA" },
	{ "logits/llama", "metadata/general.type", "mmproj\n", "projector" },
	{ "logits/llama", "metadata/general.type", "imatrix\n", "imatrix" },
	{ "logits/llama", "block_count", NULL, "llama.block_count: this key is missing" },
	{ "logits/llama", "block_count", "0\n", "llama.block_count" },
	{ "logits/llama", "block_count", "513\n", "llama.block_count" },
	{ "logits/llama", "block_count", "2147483648\n", "llama.block_count" },
	{ "logits/llama", "block_count", "18446744073709551615\n", "llama.block_count" },
	{ "logits/llama", "block_count", "4\n", "blk.3." },
	{ "logits/llama", "block_count", "three\n", "llama.block_count" },
	{ "logits/llama", "context_length", NULL, "llama.context_length" },
	{ "logits/llama", "context_length", "0\n", "llama.context_length" },
	{ "logits/llama", "embedding_length", NULL, "llama.embedding_length" },
	{ "logits/llama", "embedding_length", "0\n", "llama.embedding_length" },
	{ "logits/llama", "embedding_length", "129\n", "llama." },
	{ "logits/llama", "embedding_length", "256\n", "token_embd.weight: its shape is 128 1400 1 1" },
	{ "logits/llama", "attention.head_count", NULL, "llama.attention.head_count: this key is missing" },
	{ "logits/llama", "attention.head_count", "0\n", "llama.attention.head_count" },
	{ "logits/llama", "attention.head_count", "3\n", "llama.attention.head_count" },
	{ "logits/llama", "attention.head_count", "4000000000\n", "llama.attention.head_count" },
	{ "logits/llama", "attention.head_count_kv", "0\n", "llama.attention.head_count_kv" },
	{ "logits/llama", "attention.head_count_kv", "3\n", "llama.attention.head_count_kv" },
	{ "logits/llama", "attention.head_count_kv", "2\n2\n", "llama.attention.head_count_kv" },
	{ "logits/llama", "attention.head_count_kv", "2\n0\n2\n", "llama.attention.head_count_kv" },
	{ "logits/llama", "attention.head_count_kv", "-1\n", "llama.attention.head_count_kv" },
	{ "logits/llama", "attention.layer_norm_rms_epsilon", NULL, "layer_norm_rms_epsilon" },
	{ "logits/llama", "attention.layer_norm_rms_epsilon", "nan\n", "layer_norm_rms_epsilon" },
	{ "logits/llama", "attention.layer_norm_rms_epsilon", "-1\n", "layer_norm_rms_epsilon" },
	{ "logits/llama", "attention.key_length", "0\n", "llama.attention.key_length" },
	{ "logits/llama", "attention.value_length", "70000\n", "llama.attention.value_length" },
	{ "logits/llama", "feed_forward_length", NULL, "llama.feed_forward_length" },
	{ "logits/llama", "feed_forward_length", "0\n", "llama.feed_forward_length" },
	{ "logits/llama", "feed_forward_length", "353\n", "blk.0.ffn_" },
	{ "logits/llama", "feed_forward_length", "2000000000\n", "llama.feed_forward_length" },
	{ "logits/llama", "block_count", "2\n", "llama.block_count: there are 2, and yet a tensor 'blk." },
	{ "logits/llama", "rope.dimension_count", "33\n", "llama.rope.dimension_count" },
	{ "logits/llama", "rope.dimension_count", "64\n", "llama.rope.dimension_count" },
	{ "logits/llama", "rope.freq_base", "0\n", "llama.rope.freq_base" },
	{ "logits/llama", "rope.freq_base", "inf\n", "llama.rope.freq_base" },
	{ "logits/llama", "rope.scaling.type", "spiral\n", "llama.rope.scaling.type" },
	{ "logits/llama", "rope.scaling.factor", "-2\n", "llama.rope.scaling.factor" },
	{ "logits/llama", "tensors/token_embd.weight", NULL, "token_embd.weight is missing" },
	{ "logits/llama", "tensors/output_norm.weight", NULL, "output_norm.weight is missing" },
	{ "logits/llama", "tensors/blk.1.attn_q.weight", NULL, "blk.1.attn_q.weight is missing" },
	{ "logits/llama", "tensors/blk.2.ffn_down.weight", NULL, "blk.2.ffn_down.weight is missing" },
	{ "logits/llama", "tensors/blk.0.attn_norm.weight", NULL, "blk.0.attn_norm.weight is missing" },
	{ "logits/llama", "tensors/blk.0.attn_q.weight/shape", "64 256\n", "blk.0.attn_q.weight: its shape" },
	{ "logits/llama", "tensors/output.weight/shape", "1400 128\n", "output.weight: its shape" },
	{ "logits/llama", "tensors/blk.0.attn_norm.weight/shape", "2 64\n", "blk.0.attn_norm.weight: its shape" },
	{ "logits/llama", "tensors/blk.0.attn_k.weight/type", "63\n", "blk.0.attn_k.weight" },
	{ "logits/qwen2", "tensors/blk.0.attn_k.bias", NULL, "blk.0.attn_k.bias is missing" },
	{ "logits/qwen3", "tensors/blk.2.attn_q_norm.weight", NULL, "blk.2.attn_q_norm.weight is missing" },
	{ "logits/gemma2", "tensors/blk.7.post_ffw_norm.weight", NULL, "blk.7.post_ffw_norm.weight is missing" },
	{ "logits/gpt2", "tensors/position_embd.weight", NULL, "position_embd.weight is missing" },
	{ "logits/mixtral", "expert_used_count", "5\n", "llama.expert_used_count" },
	{ "logits/mixtral", "expert_used_count", "0\n", "llama.expert_used_count" },
	{ "logits/mixtral", "expert_count", "5\n", "ffn_gate_inp.weight" },
	{ "logits/mixtral", "expert_count", "100000\n", "llama.expert_count" },
	{ "logits/mixtral", "expert_gating_func", "9\n", "llama.expert_gating_func" },
	{ "logits/mixtral", "tensors/blk.1.ffn_up_exps.weight", NULL, "blk.1.ffn_up_exps.weight is missing" },
	{ "logits2/granite", "logit_scale", "0\n", "granite.logit_scale" },
	{ "logits2/gptoss", "tensors/blk.3.attn_sinks.weight", NULL, "blk.3.attn_sinks.weight is missing" },
	{ "logits2/deepseek2", "expert_group_count", "3\n", "deepseek2.expert_group_count" },
	{ "logits2/deepseek2", "expert_group_used_count", "9\n", "deepseek2.expert_group_used_count" },
	{ "logits2/deepseek2", "attention.kv_lora_rank", NULL, "deepseek2.attention.kv_lora_rank" },
	{ "logits2/deepseek2", "attention.key_length_mla", "16\n", "deepseek2.attention.key_length_mla" },
	{ "logits2/deepseek2", "tensors/blk.1.attn_v_b.weight", NULL, "blk.1.attn_v_b.weight is missing" },
	{ "logits2/llama_yarn", "rope.scaling.original_context_length", "0\n", "llama.rope.scaling.original_context_length" },
	{ "logits2/bert_mean", "pooling_type", "7\n", "bert.pooling_type" },
	{ "logits2/bert_mean", "tensors/blk.0.layer_output_norm.weight", NULL, "blk.0.layer_output_norm.weight is missing" },
};

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void remove_tree(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* "metadata/ARCH.key" for a key, the name itself for a file. */
static void file_of(const struct bad *b, const char *tree, char *name, size_t room)
{
	char path[300], arch[40] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/metadata/general.architecture", tree);
	f = fopen(path, "r");
	if (f && fgets(arch, sizeof(arch), f))
		arch[strcspn(arch, "\n")] = '\0';
	if (f)
		fclose(f);
	if (strchr(b->file, '/'))
		snprintf(name, room, "%s", b->file);
	else
		snprintf(name, room, "metadata/%s.%s", arch, b->file);
}

static int try_tree(const char *tree, struct gguf_error *e)
{
	const struct llm_options opt = { .threads = 1, .context = 32, .check = true };
	struct opened o;
	int err = vectors_open(&o, tree, &opt);

	err = err ? err : llm_check(o.m, &o.e);
	*e = o.e;
	vectors_close(&o);
	return err;
}

static void refuse(const struct bad *b)
{
	char tree[100], model[100], name[300], path[500];
	struct gguf_error e = { 0 };
	int err;

	snprintf(tree, sizeof(tree), "%s/m", tmp);
	snprintf(model, sizeof(model), "vectors/%s/model.gguf", b->dir);
	if (!ok(!plain_tree(vectors_path(model, ""), tree), "%s as a directory", b->dir))
		return;
	file_of(b, tree, name, sizeof(name));
	snprintf(path, sizeof(path), "%s/%s", tree, name);
	if (b->text)
		plain_file(tree, name, b->text, strlen(b->text));
	else
		remove_tree(path);
	err = try_tree(tree, &e);
	ok(err < 0 && strstr(e.text, b->says), "%s %s %.*s: %s", b->dir, b->file,
	   b->text ? (int)strcspn(b->text, "\n") : 6, b->text ? b->text : "(none)", e.text);
	remove_tree(tree);
}

/* What llm_check would say, the first batch says and any later one: the same whoever came upon it. */
static void not_finite_on_the_way(const char *tree, unsigned threads)
{
	const struct llm_options opt = { .threads = threads, .context = 32, .check = true };
	const int32_t ids[] = { 1, 2, 3 };
	struct gguf_error again = { 0 };
	struct opened o;

	ok(!vectors_open(&o, tree, &opt) && llm_eval(o.m, ids, 3, NULL, false, &o.e) == -EBADMSG &&
	   strstr(o.e.text, "blk.1.ffn_up.weight") && strstr(o.e.text, "700"), "%u threads: %s", threads, o.e.text);
	ok(llm_eval(o.m, ids, 1, NULL, false, &again) == -EBADMSG && !strcmp(o.e.text, again.text) && !llm_position(o.m),
	   "and again");
	vectors_close(&o);
}

/* A scale that is no number is found, and overlooked with no check. */
static void not_finite(void)
{
	const struct llm_options no_check = { .threads = 1, .context = 32 };
	char tree[100], path[300];
	struct gguf_error e = { 0 };
	struct opened o;
	FILE *f;

	snprintf(tree, sizeof(tree), "%s/m", tmp);
	if (!ok(!plain_tree(vectors_path("vectors/logits2/llama_q8_0", "model.gguf"), tree), "a directory"))
		return;
	ok(!try_tree(tree, &e), "sound weights pass: %s", e.text);
	snprintf(path, sizeof(path), "%s/tensors/blk.1.ffn_up.weight/raw", tree);
	f = fopen(path, "r+");
	if (f) {
		fseek(f, 34 * 700, SEEK_SET);
		fputs("\x01\x7e", f);
		fclose(f);
	}
	ok(try_tree(tree, &e) < 0 && strstr(e.text, "blk.1.ffn_up.weight") && strstr(e.text, "700"), "NaN: %s", e.text);
	not_finite_on_the_way(tree, 1);
	not_finite_on_the_way(tree, 3);
	ok(!vectors_open(&o, tree, &no_check) && !llm_check(o.m, &o.e), "nobody looks");
	vectors_close(&o);
	remove_tree(tree);
}

static void estimates(void)
{
	const struct llm_options opt = { .threads = 1, .context = 64, .k = CACHE_F32, .v = CACHE_F32 },
				 large = { .threads = 1, .context = 2147483600 };
	struct llm_estimate est = { 0 };
	struct gguf_error e = { 0 };
	struct source *s = NULL;
	struct llm *m;

	ok(!source_open(&s, vectors_path("vectors/logits/llama", "model.gguf"), NULL, &e) &&
	   !llm_estimate(s, &opt, &est, &e), "an estimate without the weights in memory %s", e.text);
	ok(est.weights > 1400 * 128 * 4 && est.cache == 3 * 2 * 64 * (32 + 32) * 4 && est.buffers > 10000,
	   "weights %llu, cache %llu, buffers %llu", (unsigned long long)est.weights, (unsigned long long)est.cache,
	   (unsigned long long)est.buffers);
	ok(!source_map(s, &e), "mapped");
	int err = llm_open(&m, s, &large, &e);
	ok(err == -EINVAL && strstr(e.text, "too long"), "more than there may be: %s", e.text);
	if (!err)
		llm_close(m);
	source_close(s);
}

int main(void)
{
	if (access(vectors_path("vectors/logits", ""), R_OK)) {
		skip("models", "no vectors");
		done();
	}
	if (!mkdtemp(tmp))
		return 99;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		refuse(&rows[i]);
	not_finite();
	estimates();
	remove_tree(tmp);
	done();
}
