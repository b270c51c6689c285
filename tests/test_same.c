/* SPDX-License-Identifier: MIT */
/* The same bits whatever the threads, the batches, and the place that a model comes from; rewind; context shift. */
#define _GNU_SOURCE
#include "plain.h"
#include "tap.h"
#include "vectors.h"
#include <errno.h>
#include <ftw.h>
#include <unistd.h>

enum { TOKENS = 70 };
static char tmp[] = "/tmp/sameXXXXXX";
static int32_t ids[TOKENS];

/* Logits of every position; batch is what the context takes at once, cut what llm_eval is given at once. */
static float *run(const char *path, struct llm_options opt, size_t cut, size_t *n)
{
	struct opened o;
	float *y = NULL;

	opt.context = 96;
	if (!vectors_open(&o, path, &opt)) {
		size_t vocab = llm_vocab(o.m);

		*n = TOKENS * vocab;
		y = malloc(*n * sizeof(*y));
		for (size_t i = 0; i < TOKENS; i += cut)
			if (llm_eval(o.m, ids + i, TOKENS - i < cut ? TOKENS - i : cut, y + i * vocab, true, NULL))
				y[0] = NAN;
	}
	vectors_close(&o);
	return y;
}

static bool same(const char *path, struct llm_options opt, size_t cut, const float *want, size_t count)
{
	size_t n = 0;
	float *got = run(path, opt, cut, &n);
	bool yes = got && n == count && !memcmp(got, want, n * sizeof(*got));

	free(got);
	return yes;
}

static const struct { unsigned threads, batch; size_t cut; } ways[] = {
	{ 1, 512, 1 }, { 1, 5, TOKENS }, { 2, 512, TOKENS }, { 2, 512, 1 }, { 2, 16, 33 }, { 3, 7, 11 }, { 4, 512, 2 },
	{ 5, 64, TOKENS },
};
static const struct { const char *name; enum cache_type type; } caches[] = {
	{ "f16", CACHE_F16 }, { "f32", CACHE_F32 }, { "q8_0", CACHE_Q8_0 }, { "i16", CACHE_I16 },
};
enum { CACHES = sizeof(caches) / sizeof(*caches) };

static void all_ways(const char *dir)
{
	for (size_t c = 0; c < CACHES; c++) {
		struct llm_options opt = { .threads = 1, .batch = 512, .k = caches[c].type, .v = caches[c].type };
		size_t count = 0, equal = 0;
		float *want = run(vectors_path(dir, "model.gguf"), opt, TOKENS, &count);

		for (size_t i = 0; want && i < sizeof(ways) / sizeof(*ways); i++) {
			opt.threads = ways[i].threads;
			opt.batch = ways[i].batch;
			equal += same(vectors_path(dir, "model.gguf"), opt, ways[i].cut, want, count);
		}
		ok(want && equal == sizeof(ways) / sizeof(*ways), "%s, cache %s: %zu of %zu ways give the same bits", dir,
		   caches[c].name, equal, sizeof(ways) / sizeof(*ways));
		free(want);
	}
}

static bool mounted(const char *model, const char *dir)
{
	const char *top = getenv("top_builddir");
	char command[2000];

	snprintf(command, sizeof(command), "%s/mount.gguf %s %s >/dev/null 2>&1", top ? top : ".", model, dir);
	return !access("/dev/fuse", R_OK | W_OK) && !mkdir(dir, 0777) && !system(command);
}

static void unmount(const char *dir)
{
	char command[200];

	snprintf(command, sizeof(command), "fusermount3 -uz %s", dir);
	if (system(command))
		printf("# %s stays mounted\n", dir);
}

static void all_places(const char *dir)
{
	const struct llm_options opt = { .threads = 2 };
	char model[700], tree[100], mount[110];
	size_t count = 0;
	float *want;

	snprintf(model, sizeof(model), "%s", vectors_path(dir, "model.gguf"));
	snprintf(tree, sizeof(tree), "%s/%s", tmp, strrchr(dir, '/') + 1);
	snprintf(mount, sizeof(mount), "%s.mnt", tree);
	want = run(model, opt, TOKENS, &count);
	ok(!plain_tree(model, tree) && same(tree, opt, TOKENS, want, count), "%s: plain directory", dir);
	if (mounted(model, mount)) {
		ok(same(mount, opt, TOKENS, want, count), "%s: mount", dir);
		for (enum load_mode mode = LOAD_AUTO; mode <= LOAD_READ; mode++) {
			const struct source_options so = { .mode = mode };
			struct source *s = NULL;
			struct gguf_error e = { 0 };
			int err = source_open(&s, mount, &so, &e);

			err = err ? err : source_map(s, &e);
			ok(!err || (mode == LOAD_MLOCK && (err == -ENOMEM || err == -EPERM || err == -EAGAIN)),
			   "%s: mount, load mode %d %s", dir, (int)mode, e.text);
			source_close(s);
		}
		unmount(mount);
	} else {
		skip("mount", "cannot mount here");
	}
	free(want);
}

/* Logits of the last token alone are what they are among those of all tokens. The batches before it want none. */
static void last_alone(const char *dir)
{
	const struct llm_options opt = { .threads = 2, .context = 96, .batch = 32 };
	struct opened o;
	float *all, *one;
	size_t vocab;

	if (!ok(!vectors_open(&o, vectors_path(dir, "model.gguf"), &opt), "%s opens", dir))
		return;
	vocab = llm_vocab(o.m);
	all = malloc(TOKENS * vocab * sizeof(*all));
	one = malloc(vocab * sizeof(*one));
	ok(!llm_eval(o.m, ids, TOKENS, all, true, NULL) && !llm_rewind(o.m, 0) &&
	   !llm_eval(o.m, ids, TOKENS, one, false, NULL) && !memcmp(one, all + (TOKENS - 1) * vocab, vocab * sizeof(*one)),
	   "%s: the last token's logits alone have the same bits", dir);
	ok(!llm_rewind(o.m, 0) && !llm_eval(o.m, ids, 45, NULL, false, NULL) && !llm_eval(o.m, ids + 45, 1, one, false, NULL) &&
	   !memcmp(one, all + 45 * vocab, vocab * sizeof(*one)), "%s: and after tokens whose logits nobody wants", dir);
	free(all);
	free(one);
	vectors_close(&o);
}

/* What was taken back leaves no trace. */
static void rewinds(const char *dir)
{
	const struct llm_options opt = { .threads = 2, .context = 96 };
	struct opened o;
	float *a, *b;

	if (!ok(!vectors_open(&o, vectors_path(dir, "model.gguf"), &opt), "%s opens", dir))
		return;
	a = malloc(llm_vocab(o.m) * sizeof(*a));
	b = malloc(llm_vocab(o.m) * sizeof(*b));
	ok(!llm_eval(o.m, ids, 40, a, false, NULL) && llm_position(o.m) == 40, "forty tokens");
	ok(llm_rewind(o.m, 41) == -ERANGE && !llm_rewind(o.m, 10) && llm_position(o.m) == 10, "back to the tenth");
	ok(!llm_eval(o.m, ids + 30, 20, b, false, NULL) && !llm_rewind(o.m, 10), "others, and back again");
	ok(!llm_eval(o.m, ids + 10, 30, b, false, NULL) && !memcmp(a, b, llm_vocab(o.m) * sizeof(*a)),
	   "the same tokens again give the same bits");
	ok(llm_eval(o.m, ids, 57, b, false, &o.e) == -ENOSPC, "full: %s", o.e.text);
	ok(llm_eval(o.m, (int32_t[]){ 1 << 20 }, 1, b, false, &o.e) == -EINVAL, "no such token: %s", o.e.text);
	ok(llm_eval(o.m, (int32_t[]){ -1 }, 1, b, false, &o.e) == -EINVAL, "no such token: %s", o.e.text);
	free(a);
	free(b);
	vectors_close(&o);
}

/*
 * After a shift, keys stand as if they had been computed at their new positions. In the first layer that is exact but
 * for rounding; deeper ones have seen what was dropped, so only a model of one token repeated can be compared.
 */
static void shifts(const char *dir)
{
	const struct llm_options opt = { .threads = 2, .context = 96, .k = CACHE_F32, .v = CACHE_F32 };
	struct opened o;
	int32_t same_token[50];
	float *a, *b;
	double d;

	for (int i = 0; i < 50; i++)
		same_token[i] = 7;
	if (!ok(!vectors_open(&o, vectors_path(dir, "model.gguf"), &opt), "%s opens", dir))
		return;
	a = malloc(llm_vocab(o.m) * sizeof(*a));
	b = malloc(llm_vocab(o.m) * sizeof(*b));
	ok(!llm_eval(o.m, same_token, 30, a, false, NULL), "%s: thirty tokens", dir);
	ok(!llm_rewind(o.m, 0) && !llm_eval(o.m, same_token, 49, b, false, NULL), "fifty but one");
	ok(llm_shift(o.m, 60, 1) == -ERANGE && !llm_shift(o.m, 4, 20) && llm_position(o.m) == 29, "twenty are dropped");
	ok(!llm_eval(o.m, same_token, 1, b, false, NULL) && llm_position(o.m) == 30, "and one is added");
	d = vectors_distance(a, b, llm_vocab(o.m));
	ok(d < 1e-3, "%s: as if they had never been: %.1e", dir, d);
	free(a);
	free(b);
	vectors_close(&o);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static const char *const dirs[] = {
	"vectors/logits2/llama_q4_k_m", "vectors/logits2/gptoss_mxfp4", "vectors/logits2/deepseek2",
	"vectors/logits2/gemma3win", "vectors/logits/mixtral", "vectors/logits2/qwen2moe", "vectors/logits/gpt2",
};

int main(void)
{
	if (access(vectors_path("vectors/logits", ""), R_OK)) {
		skip("models", "no vectors");
		done();
	}
	for (int i = 0; i < TOKENS; i++)
		ids[i] = (i * 37 + 11) % 600;
	if (!mkdtemp(tmp))
		return 99;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		all_ways(dirs[i]);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		last_alone(dirs[i]);
	last_alone("vectors/logits/phi3");
	last_alone("vectors/logits2/olmo2");
	all_places(dirs[0]);
	all_places(dirs[2]);
	rewinds(dirs[0]);
	rewinds(dirs[3]);
	shifts("vectors/logits/llama");
	shifts("vectors/logits/qwen2");
	nftw(tmp, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	done();
}
