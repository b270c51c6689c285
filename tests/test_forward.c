/* SPDX-License-Identifier: MIT */
/* Logits, generated ids and embeddings of small models against references made by others. */
#include "tap.h"
#include "vectors.h"
#include <unistd.h>

enum { IDS = 600, GREEDY = 32 };
static const struct llm_options exact = { .threads = 2, .context = 256, .k = CACHE_F32, .v = CACHE_F32 };

/* Ids that follow when each time the greatest logit is taken; the first n that are as wanted. */
static size_t agree(struct llm *m, float *logits, const int32_t *want, size_t n)
{
	size_t i = 0;

	for (; i < n; i++) {
		int32_t id = vectors_best(logits, llm_vocab(m));

		if (id != want[i] || (i + 1 < n && llm_eval(m, &id, 1, logits, false, NULL)))
			break;
	}
	return i;
}

static void close_to(const char *dir, const char *ref, double limit)
{
	struct opened o;
	int32_t ids[IDS], want[GREEDY];
	size_t n = vectors_ids(vectors_path(dir, "prompt.txt"), NULL, ids, IDS), count = 0;
	size_t greedy = vectors_ids(vectors_path(dir, "greedy.txt"), NULL, want, GREEDY);
	float *expect = vectors_floats(vectors_path(dir, ref), &count), *got;
	int err = vectors_open(&o, vectors_path(dir, "model.gguf"), &exact);

	if (!ok(!err && expect && n && count == n * llm_vocab(o.m), "%s: opens %s", dir, o.e.text)) {
		vectors_close(&o);
		free(expect);
		return;
	}
	got = malloc(count * sizeof(*got));
	err = llm_eval(o.m, ids, n, got, true, &o.e);
	double d = vectors_distance(got, expect, count);
	ok(!err && d <= limit, "%s: %.1e from %s, limit %.0e", dir, d, ref, limit);
	size_t same = agree(o.m, got + (n - 1) * llm_vocab(o.m), want, greedy);
	ok(greedy == GREEDY && same == greedy, "%s: %zu of %zu ids", dir, same, greedy);
	free(got);
	free(expect);
	vectors_close(&o);
}

/* How far logits of a quantized model are from llama.cpp's: at most twice what its own rounding of activations costs. */
static void quantized(const char *dir)
{
	struct opened o;
	int32_t ids[IDS];
	size_t n = vectors_ids(vectors_path(dir, "prompt.txt"), NULL, ids, IDS), a = 0, b = 0;
	float *strict = vectors_floats(vectors_path(dir, "logits.f32"), &a);
	float *f64 = vectors_floats(vectors_path(dir, "logits_f64.f32"), &b), *got = malloc(a * sizeof(*got));
	int err = vectors_open(&o, vectors_path(dir, "model.gguf"), &exact);

	err = err ? err : llm_eval(o.m, ids, n, got, true, &o.e);
	if (ok(!err && a == b && a == n * llm_vocab(o.m), "%s: runs %s", dir, o.e.text)) {
		double kl = vectors_kl(strict, got, n, a / n), noise = vectors_kl(f64, strict, n, a / n);

		ok(kl <= 2 * noise, "%s: KL %.2e, limit 2 x %.2e", dir, kl, noise);
	}
	vectors_close(&o);
	free(strict);
	free(f64);
	free(got);
}

static void embeds(const char *dir, const char *ref)
{
	struct opened o;
	int32_t ids[IDS];
	size_t n = vectors_ids(vectors_path(dir, "prompt.txt"), NULL, ids, IDS), count = 0;
	float *expect = vectors_floats(vectors_path(dir, ref), &count), *got = malloc(count * sizeof(*got));
	struct llm_options opt = { .threads = 2, .k = CACHE_F32, .v = CACHE_F32 };
	int err = vectors_open(&o, vectors_path(dir, "model.gguf"), &opt);

	if (ok(!err && expect && llm_is_embedding(o.m) && count == n * llm_width(o.m), "%s: opens %s", dir, o.e.text)) {
		double d;

		err = llm_embed(o.m, ids, n, got, &o.e);
		d = vectors_distance(got, expect, count);
		ok(!err && d <= 2e-3, "%s: %.1e from %s", dir, d, ref);
		ok(llm_eval(o.m, ids, n, got, false, &o.e) < 0, "%s: no logits: %s", dir, o.e.text);
	}
	vectors_close(&o);
	free(expect);
	free(got);
}

static void story(const char *model, const char *ref)
{
	struct opened o;
	struct llm_options opt = { .threads = 2, .k = CACHE_F32, .v = CACHE_F32 };
	int32_t ids[IDS], want[IDS];
	char path[200];
	size_t n, greedy, same = 0;
	float *logits;
	int err;

	snprintf(path, sizeof(path), "models/stories/refs/%s.txt", ref);
	n = vectors_ids(vectors_path(path, ""), "prompt:", ids, IDS);
	greedy = vectors_ids(vectors_path(path, ""), "out:", want, IDS);
	snprintf(path, sizeof(path), "models/stories/stories260K-%s.gguf", model);
	err = vectors_open(&o, vectors_path(path, ""), &opt);
	logits = err ? NULL : malloc(llm_vocab(o.m) * sizeof(*logits));
	if (!err && !llm_eval(o.m, ids, n, logits, false, &o.e))
		same = agree(o.m, logits, want, greedy);
	ok(greedy > 20 && same == greedy, "%s: %s: %zu of %zu ids %s", model, ref, same, greedy, o.e.text);
	free(logits);
	vectors_close(&o);
}

/* Mean KL of a quantized story model to the F32 one, over the text of the second reference. */
static void story_kl(const char *model, double stock)
{
	struct opened o;
	struct llm_options opt = { .threads = 2, .k = CACHE_F32, .v = CACHE_F32 };
	int32_t ids[IDS];
	char path[200];
	size_t n = vectors_ids(vectors_path("models/stories/refs/stories260K-1.txt", ""), "prompt:", ids, IDS), count = 0;
	float *expect = vectors_floats(vectors_path("models/stories/refs/stories260K-1.logits.f32", ""), &count), *got;
	int err;

	n += vectors_ids(vectors_path("models/stories/refs/stories260K-1.txt", ""), "out:", ids + n, IDS - n);
	snprintf(path, sizeof(path), "models/stories/stories260K-%s.gguf", model);
	err = vectors_open(&o, vectors_path(path, ""), &opt);
	n = count / 512 < n ? count / 512 : n;
	got = malloc(count * sizeof(*got));
	err = err ? err : llm_eval(o.m, ids, n, got, true, &o.e);
	double kl = err ? NAN : vectors_kl(expect, got, n, 512);
	ok(kl <= 1.1 * stock, "%s: KL to F32 %.4f over %zu positions, limit 1.1 x %.4f %s", model, kl, n, stock, o.e.text);
	free(expect);
	free(got);
	vectors_close(&o);
}

static const struct { const char *dir, *ref; double limit; } models[] = {
	{ "vectors/logits/llama", "logits.f32", 1e-3 },
	{ "vectors/logits/llama3", "logits.f32", 1e-3 },
	{ "vectors/logits/mixtral", "logits.f32", 1e-3 },
	{ "vectors/logits/qwen2", "logits.f32", 1e-3 },
	{ "vectors/logits/qwen3", "logits.f32", 1e-3 },
	{ "vectors/logits/qwen3moe", "logits.f32", 1e-3 },
	{ "vectors/logits/phi3", "logits.f32", 1e-3 },
	{ "vectors/logits/gemma2", "logits_f64.f32", 1e-3 },
	{ "vectors/logits/gemma3", "logits_f64.f32", 1e-3 },
	{ "vectors/logits/gpt2", "logits_f64.f32", 1e-3 },
	{ "vectors/logits2/starcoder2", "logits_exactgelu.f32", 1e-3 },
	{ "vectors/logits2/qwen2moe", "logits.f32", 1e-3 },
	{ "vectors/logits2/olmo2", "logits.f32", 1e-3 },
	{ "vectors/logits2/granite", "logits.f32", 1e-3 },
	{ "vectors/logits2/granitemoe", "logits.f32", 1e-3 },
	{ "vectors/logits2/smollm3", "logits.f32", 1e-3 },
	{ "vectors/logits2/gptoss", "logits.f32", 1e-3 },
	{ "vectors/logits2/deepseek2", "logits.f32", 1e-3 },
	{ "vectors/logits2/deepseek2lite", "logits.f32", 1e-3 },
	{ "vectors/logits2/llama_linear", "logits.f32", 1e-3 },
	{ "vectors/logits2/llama_yarn", "logits.f32", 1e-3 },
	{ "vectors/logits2/qwen2_yarn", "logits.f32", 1e-3 },
	{ "vectors/logits2/mistral3", "logits.f32", 1e-3 },
	{ "vectors/logits2/gemma3win", "logits_exactgelu.f32", 1e-3 },
	{ "vectors/logits2/gemma2win", "logits_exactgelu.f32", 1e-3 },
};
static const char *const stories[] = { "f32", "f32-tied", "f16", "as-qwen2-f32", "as-phi3-f32", "as-llama-moe-f32", "pad256-f32" };
static const char *const refs[] = { "stories260K-0", "stories260K-1", "stories260K-2", "stories260K-3" };
static const struct { const char *model; double kl; } stock[] = {
	{ "pad256-Q8_0", .0007 }, { "pad256-Q6_K", .0056 }, { "pad256-Q5_K_M", .0105 }, { "pad256-Q4_K_M", .040 },
	{ "pad256-IQ4_XS", .055 }, { "pad256-Q4_0", .107 }, { "pad256-Q3_K_M", .186 }, { "pad256-IQ3_S", .304 },
	{ "pad256-Q2_K", 1.10 },
};
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

int main(void)
{
	if (access(vectors_path("vectors/logits", ""), R_OK)) {
		skip("references", "no vectors");
		done();
	}
	for (size_t i = 0; i < COUNT(models); i++)
		close_to(models[i].dir, models[i].ref, models[i].limit);
	quantized("vectors/logits2/llama_q8_0");
	quantized("vectors/logits2/llama_q4_k_m");
	quantized("vectors/logits2/gptoss_mxfp4");
	embeds("vectors/logits2/bert_mean", "embd_exactgelu_tokens.f32");
	embeds("vectors/logits2/nomic-bert", "embd_tokens.f32");
	for (size_t i = 0; i < COUNT(stories); i++)
		for (size_t r = 0; r < COUNT(refs); r++)
			story(stories[i], refs[r]);
	for (size_t i = 0; i < COUNT(stock); i++)
		story_kl(stock[i].model, stock[i].kl);
	done();
}
