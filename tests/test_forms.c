/* SPDX-License-Identifier: MIT */
/*
 * Forms of a model that files have had or may have: the same function in another form gives the same logits. A sound
 * model is written as a plain directory, changed there, and run again.
 */
#define _GNU_SOURCE
#include "plain.h"
#include "tap.h"
#include "vectors.h"
#include <ftw.h>
#include <unistd.h>

enum { TOKENS = 12, TEXT = 64 };
static char tmp[] = "/tmp/formsXXXXXX", dir[64];

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

/* ---- a directory of floats ---- */

struct tensor {
	float *p; /* free() */
	size_t n, extent[3];
};

static void give_up(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(99);
}

static void put_text(const char *file, const char *text)
{
	if (plain_file(dir, file, text, strlen(text)))
		give_up(file);
}

static void put_key(const char *key, const char *text)
{
	char file[200];

	snprintf(file, sizeof(file), "metadata/%s", key);
	put_text(file, text);
}

static void drop_key(const char *key)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/metadata/%s", dir, key);
	remove(path);
}

/* False without the tensor. */
static bool get(const char *name, struct tensor *t)
{
	char path[400];
	FILE *f;

	*t = (struct tensor){ .extent = { 1, 1, 1 } };
	snprintf(path, sizeof(path), "%s/tensors/%s/shape", dir, name);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (fscanf(f, "%zu %zu %zu", &t->extent[0], &t->extent[1], &t->extent[2]) < 1)
		give_up(path);
	fclose(f);
	snprintf(path, sizeof(path), "%s/tensors/%s/raw", dir, name);
	t->p = vectors_floats(path, &t->n);
	if (!t->p || t->n != t->extent[0] * t->extent[1] * t->extent[2])
		give_up(path);
	return true;
}

static void drop(const char *name)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/tensors/%s", dir, name);
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Writes a tensor of the type, encoded where that is not F32. */
static void put_as(const char *name, uint32_t type, const char *shape, const float *p, size_t n)
{
	size_t blocks = n / gguf_type_values(type), bytes = blocks * gguf_type_bytes(type);
	char sub[300], path[400], text[TEXT];
	void *raw = malloc(bytes + 1);

	if (!raw || gguf_encode(type, raw, p, blocks))
		give_up(name);
	snprintf(sub, sizeof(sub), "tensors/%s", name);
	snprintf(path, sizeof(path), "%s/%s", dir, sub);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/raw", sub);
	if (plain_file(dir, path, raw, bytes))
		give_up(path);
	snprintf(path, sizeof(path), "%s/shape", sub);
	put_text(path, shape);
	snprintf(path, sizeof(path), "%s/type", sub);
	snprintf(text, sizeof(text), "%s\n", gguf_type_name(type));
	put_text(path, text);
	free(raw);
}

static void put(const char *name, const char *shape, const float *p, size_t n)
{
	put_as(name, GGUF_TYPE_F32, shape, p, n);
}

static void put_tensor(const char *name, uint32_t type, const struct tensor *t)
{
	char shape[TEXT];

	snprintf(shape, sizeof(shape), "%zu %zu %zu\n", t->extent[0], t->extent[1], t->extent[2]);
	put_as(name, type, shape, t->p, t->n);
}

static void start_file(const char *path)
{
	snprintf(dir, sizeof(dir), "%s/m", tmp);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	if (plain_tree(path, dir))
		give_up(path);
}

static void start(const char *model)
{
	start_file(vectors_path(model, "model.gguf"));
}

/* ---- running it ---- */

struct logits {
	float *p; /* free() */
	size_t n;
};

static struct logits run(void)
{
	static const int32_t ids[TOKENS] = { 1, 5, 200, 31, 400, 77, 9, 300, 12, 500, 64, 3 };
	struct llm_options opt = { .threads = 1, .context = 64, .k = CACHE_F32, .v = CACHE_F32, .check = true };
	struct opened o;
	struct logits l = { 0 };

	if (!vectors_open(&o, dir, &opt)) {
		l.n = TOKENS * llm_vocab(o.m);
		l.p = malloc(l.n * sizeof(*l.p));
		if (!l.p || llm_eval(o.m, ids, TOKENS, l.p, true, NULL))
			l.n = 0;
	}
	vectors_close(&o);
	return l;
}

/* Runs the directory as it is now, and frees what it should be near to. */
static void expect(struct logits want, double tolerance, const char *what)
{
	struct logits got = run();
	double d = got.n && got.n == want.n ? vectors_distance(got.p, want.p, got.n) : INFINITY;

	ok(tolerance > 0 ? d <= tolerance : got.n == want.n && got.n && !memcmp(got.p, want.p, got.n * sizeof(*got.p)),
	   "%s: %g apart", what, d);
	free(got.p);
	free(want.p);
}

/* ---- one tensor for each expert ---- */

static void split_experts(unsigned layer, const char *part)
{
	char name[TEXT], shape[TEXT];
	struct tensor t;

	snprintf(name, sizeof(name), "blk.%u.%s_exps.weight", layer, part);
	if (!get(name, &t))
		return;
	snprintf(shape, sizeof(shape), "%zu %zu\n", t.extent[0], t.extent[1]);
	drop(name);
	for (size_t i = 0; i < t.extent[2]; i++) {
		snprintf(name, sizeof(name), "blk.%u.%s.%zu.weight", layer, part, i);
		put(name, shape, t.p + i * t.extent[0] * t.extent[1], t.extent[0] * t.extent[1]);
	}
	free(t.p);
}

static void experts_apart(const char *model)
{
	struct logits want;

	start(model);
	want = run();
	for (unsigned i = 0; i < 8; i++) {
		split_experts(i, "ffn_gate");
		split_experts(i, "ffn_up");
		split_experts(i, "ffn_down");
	}
	expect(want, 0, "one tensor for each expert: the same bits");
	drop("blk.1.ffn_up.2.weight");
	want = run();
	ok(!want.n, "one of them is missing: refused");
	free(want.p);
}

/* ---- a dense layer among those with experts ---- */

/* The first expert becomes the layer's own. Returns how many rows it has. */
static size_t make_dense(unsigned layer, const char *part)
{
	char name[TEXT], shape[TEXT];
	struct tensor t;

	snprintf(name, sizeof(name), "blk.%u.%s_exps.weight", layer, part);
	if (!get(name, &t))
		give_up(name);
	drop(name);
	snprintf(shape, sizeof(shape), "%zu %zu\n", t.extent[0], t.extent[1]);
	snprintf(name, sizeof(name), "blk.%u.%s.weight", layer, part);
	put(name, shape, t.p, t.extent[0] * t.extent[1]);
	free(t.p);
	return t.extent[1];
}

/* Files give such a layer zeros in the arrays of counts and lengths. Experts that are all equal are as good as one. */
static void dense_among_experts(void)
{
	char lengths[TEXT];
	struct logits want;
	size_t ffn;

	start_file(vectors_path("models/stories", "stories260K-as-llama-moe-f32.gguf"));
	want = run();
	ffn = make_dense(1, "ffn_gate");
	make_dense(1, "ffn_up");
	make_dense(1, "ffn_down");
	drop("blk.1.ffn_gate_inp.weight");
	put_key("llama.expert_used_count", "2\n0\n2\n2\n2\n");
	snprintf(lengths, sizeof(lengths), "%zu\n0\n%zu\n%zu\n%zu\n", ffn, ffn, ffn, ffn);
	put_key("llama.expert_feed_forward_length", lengths);
	expect(want, 1e-4, "a layer without experts among those that have some");
	put_key("llama.expert_used_count", "0\n0\n0\n0\n0\n");
	want = run();
	ok(!want.n, "experts, and no layer that uses them: refused");
	free(want.p);
}

/* ---- low-rank attention, unfolded by one matrix ---- */

/* attn_k_b {nope, rank, heads}, transposed, and attn_v_b {rank, value, heads} become attn_kv_b {rank, heads * both}. */
static void join_unfolding(unsigned layer)
{
	char k_name[TEXT], v_name[TEXT], name[TEXT], shape[TEXT];
	struct tensor k, v;
	float *p, *row;

	snprintf(k_name, sizeof(k_name), "blk.%u.attn_k_b.weight", layer);
	snprintf(v_name, sizeof(v_name), "blk.%u.attn_v_b.weight", layer);
	if (!get(k_name, &k) || !get(v_name, &v))
		return;
	row = p = malloc((k.n + v.n) * sizeof(*p));
	for (size_t h = 0, rank = k.extent[1]; h < k.extent[2]; h++) {
		for (size_t i = 0; i < k.extent[0]; i++, row += rank)
			for (size_t r = 0; r < rank; r++)
				row[r] = k.p[(h * rank + r) * k.extent[0] + i];
		memcpy(row, v.p + h * rank * v.extent[1], rank * v.extent[1] * sizeof(*row));
		row += rank * v.extent[1];
	}
	snprintf(name, sizeof(name), "blk.%u.attn_kv_b.weight", layer);
	snprintf(shape, sizeof(shape), "%zu %zu\n", k.extent[1], (k.n + v.n) / k.extent[1]);
	put(name, shape, p, k.n + v.n);
	drop(k_name);
	drop(v_name);
	free(k.p);
	free(v.p);
	free(p);
}

static void old_deepseek(const char *model, const char *heads, const char *key, const char *value)
{
	struct logits want;

	start(model);
	want = run();
	for (unsigned i = 0; i < 32; i++)
		join_unfolding(i);
	put_key("deepseek2.attention.head_count_kv", heads);
	put_key("deepseek2.attention.key_length", key);
	put_key("deepseek2.attention.value_length", value);
	drop_key("deepseek2.attention.key_length_mla");
	drop_key("deepseek2.attention.value_length_mla");
	expect(want, 1e-4, model);
}

/* ---- longrope ---- */

enum { HALF = 16 };

static void put_factors(const char *name, float first, float step)
{
	float f[HALF];

	for (int i = 0; i < HALF; i++)
		f[i] = first + step * (float)i;
	put(name, "16\n", f, HALF);
}

/* Factors of the frequencies are proven by llama3's vectors; longrope is those, chosen by context, and a magnitude. */
static void longrope(void)
{
	struct logits want;
	char text[TEXT];

	start("vectors/logits/llama");
	put_factors("rope_freqs.weight", 1, 0.25f);
	want = run();
	drop("rope_freqs.weight");
	put_key("llama.rope.scaling.type", "longrope\n");
	put_factors("rope_factors_short.weight", 1, 0.25f);
	put_factors("rope_factors_long.weight", 3, 1);
	put_key("llama.rope.scaling.original_context_length", "1024\n");
	expect(want, 0, "longrope, a short context: the short factors");
	want = run();
	put_factors("rope_factors_short.weight", 3, 1);
	put_factors("rope_factors_long.weight", 1, 0.25f);
	put_key("llama.rope.scaling.original_context_length", "16\n");
	expect(want, 0, "longrope, a long context: the long factors");
	/* cosines and sines times m, of queries and of keys, are scores times m^2 where all of a head turns */
	snprintf(text, sizeof(text), "%.9g\n", 1.25 * 1.25 / sqrt(32));
	put_key("llama.attention.scale", text);
	want = run();
	drop_key("llama.attention.scale");
	put_key("llama.rope.scaling.attn_factor", "1.25\n");
	expect(want, 1e-4, "longrope, a magnitude");
}

/* ---- a scale beside a matrix ---- */

static const char *const scaled[] = {
	"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down", "ffn_gate_exps", "ffn_up_exps",
	"ffn_down_exps",
};

/* Half of the matrix and twice the scale, of each expert where there are some. */
static bool scale_apart(unsigned layer, const char *part)
{
	float two[16];
	char name[TEXT], shape[TEXT];
	struct tensor t;

	snprintf(name, sizeof(name), "blk.%u.%s.weight", layer, part);
	if (!get(name, &t))
		return false;
	for (size_t i = 0; i < t.n; i++)
		t.p[i] /= 2;
	put_tensor(name, GGUF_TYPE_F32, &t);
	for (size_t i = 0; i < t.extent[2]; i++)
		two[i] = 2;
	snprintf(name, sizeof(name), "blk.%u.%s.scale", layer, part);
	snprintf(shape, sizeof(shape), "%zu\n", t.extent[2]);
	put(name, shape, two, t.extent[2]);
	free(t.p);
	return true;
}

static void scales(const char *model, unsigned count)
{
	struct logits want;
	unsigned n = 0;

	start(model);
	want = run();
	for (unsigned i = 0; i < 8; i++)
		for (size_t k = 0; k < sizeof(scaled) / sizeof(*scaled); k++)
			n += scale_apart(i, scaled[k]);
	ok(n == count, "%s: %u matrices have a scale", model, n);
	expect(want, 0, "half the matrix, twice the scale: the same bits");
}

/* NVFP4 with a scale of 4 after the gate is F32 times 4 behind it. */
static void nvfp4(void)
{
	struct tensor up, down;
	struct logits want;
	float four = 4;

	start("vectors/logits/llama");
	if (!get("blk.1.ffn_up.weight", &up) || !get("blk.1.ffn_down.weight", &down))
		give_up("no feed-forward");
	put_tensor("blk.1.ffn_up.weight", GGUF_TYPE_NVFP4, &up);
	put("blk.1.ffn_up.scale", "1\n", &four, 1);
	put("blk.1.ffn_up.input_scale", "1\n", &four, 1);
	want = run();
	drop("blk.1.ffn_up.scale");
	for (size_t i = 0; i < down.n; i++)
		down.p[i] *= four;
	put_tensor("blk.1.ffn_down.weight", GGUF_TYPE_F32, &down);
	expect(want, 0, "NVFP4 with a scale: the same bits as a scale behind it");
	free(up.p);
	free(down.p);
}

int main(void)
{
	if (access(vectors_path("vectors/logits", "llama/model.gguf"), R_OK)) {
		skip("forms of a model", "no vectors");
		done();
	}
	if (!mkdtemp(tmp))
		give_up("no temporary directory");
	experts_apart("vectors/logits/mixtral");
	experts_apart("vectors/logits/qwen3moe");
	dense_among_experts();
	old_deepseek("vectors/logits2/deepseek2", "4\n", "40\n", "20\n");
	old_deepseek("vectors/logits2/deepseek2lite", "2\n", "24\n", "16\n");
	longrope();
	scales("vectors/logits/llama", 21);
	scales("vectors/logits/mixtral", 14);
	nvfp4();
	nftw(tmp, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	done();
}
