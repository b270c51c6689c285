/* SPDX-License-Identifier: MIT */
/*
 * make_bench_model SIZE TYPE OUT [VOCABULARY.gguf]
 *
 * Makes a model of real dimensions with random weights, for benchmarks: SIZE is one of the rows of sizes[], TYPE a tensor
 * type or Q4_K_M. Matrices have that type, and the embedding, which is the output matrix too, Q6_K where a quantizer would
 * choose that. Tokenizer keys come from VOCABULARY.gguf, and with them the number of embeddings, or are made up.
 */
#include "gguf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct size {
	const char *name;
	unsigned width, layers, ff, heads, kv_heads, head, vocabulary;
	unsigned experts, used; /* 0: a dense model */
} sizes[] = {
	{ "tiny", 256, 2, 512, 4, 2, 64, 1024, 0, 0 },
	{ "0.6b", 1024, 28, 3072, 16, 8, 128, 151936, 0, 0 }, /* Qwen3-0.6B, -1.7B, -4B */
	{ "1.7b", 2048, 28, 6144, 16, 8, 128, 151936, 0, 0 },
	{ "4b", 2560, 36, 9728, 32, 8, 128, 151936, 0, 0 },
	{ "moe", 2048, 6, 768, 32, 4, 128, 32000, 128, 8 }, /* Qwen3-30B-A3B, an eighth of its layers */
};

struct maker {
	const struct size *s;
	struct gguf_writer *w;
	size_t tokens;
	uint32_t type, head_type;
	bool mixed; /* Q4_K_M: some matrices are Q6_K */
};

static void die(const char *what, const char *why)
{
	fprintf(stderr, "make_bench_model: %s: %s\n", what, why);
	exit(1);
}

static void check(int err, const char *what)
{
	if (err)
		die(what, strerror(-err));
}

/* ---- keys ---- */

static void put(struct maker *m, const char *name, struct gguf_value v)
{
	check(gguf_writer_key(m->w, name, strlen(name), &v), name);
}

static void put_number(struct maker *m, const char *name, uint64_t n)
{
	put(m, name, (struct gguf_value){ .type = GGUF_U32, .u = n });
}

static void put_float(struct maker *m, const char *name, double f)
{
	put(m, name, (struct gguf_value){ .type = GGUF_F32, .f = f });
}

static void put_text(struct maker *m, const char *name, const char *s)
{
	put(m, name, (struct gguf_value){ .type = GGUF_STRING, .s = { s, strlen(s) } });
}

static const char *architecture(const struct maker *m)
{
	return m->s->experts ? "qwen3moe" : "qwen3";
}

static void put_settings(struct maker *m)
{
	const struct size *s = m->s;
	const struct { const char *name; unsigned value; } numbers[] = {
		{ "block_count", s->layers }, { "context_length", 40960 }, { "embedding_length", s->width },
		{ "feed_forward_length", s->ff }, { "attention.head_count", s->heads },
		{ "attention.head_count_kv", s->kv_heads }, { "attention.key_length", s->head },
		{ "attention.value_length", s->head }, { "expert_count", s->experts }, { "expert_used_count", s->used },
		{ "expert_feed_forward_length", s->ff },
	};
	enum { NUMBERS = sizeof numbers / sizeof *numbers, OF_EXPERTS = 3 };
	char name[64];

	put_text(m, "general.architecture", architecture(m));
	put_text(m, "general.name", s->name);
	put_number(m, "general.quantization_version", 2);
	for (size_t i = 0; i < NUMBERS - (s->experts ? 0 : OF_EXPERTS); i++) {
		snprintf(name, sizeof name, "%s.%s", architecture(m), numbers[i].name);
		put_number(m, name, numbers[i].value);
	}
	snprintf(name, sizeof name, "%s.attention.layer_norm_rms_epsilon", architecture(m));
	put_float(m, name, 1e-6);
	snprintf(name, sizeof name, "%s.rope.freq_base", architecture(m));
	put_float(m, name, 1e6);
}

static void put_array(struct maker *m, const char *name, enum gguf_value_type type, const struct gguf_value *v, size_t n)
{
	check(gguf_writer_array(m->w, name, strlen(name), type, v, n), name);
}

/* Unknown, begin, end, the bytes, and words. */
static void make_vocabulary(struct maker *m)
{
	enum { WORD = 12, BYTES = 3, WORDS = 259, NORMAL = 1, UNKNOWN = 2, CONTROL = 3, BYTE = 6 };
	static const char *const first[] = { "<unk>", "<s>", "</s>" };
	size_t n = m->tokens;
	char *text = calloc(n, WORD);
	struct gguf_value *v = calloc(3 * n, sizeof *v), *score = v + n, *kind = score + n;

	if (!text || !v)
		die("vocabulary", "no memory");
	for (size_t i = 0; i < n; i++) {
		char *t = text + i * WORD;

		if (i < BYTES)
			snprintf(t, WORD, "%s", first[i]);
		else if (i < WORDS)
			snprintf(t, WORD, "<0x%02X>", (unsigned)(i - BYTES));
		else
			snprintf(t, WORD, "w%x", (unsigned)i);
		v[i] = (struct gguf_value){ .type = GGUF_STRING, .s = { t, strlen(t) } };
		score[i] = (struct gguf_value){ .type = GGUF_F32, .f = -(double)i };
		kind[i].type = GGUF_I32;
		kind[i].i = i == 0 ? UNKNOWN : i < BYTES ? CONTROL : i < WORDS ? BYTE : NORMAL;
	}
	put_text(m, "tokenizer.ggml.model", "llama");
	put_array(m, "tokenizer.ggml.tokens", GGUF_STRING, v, n);
	put_array(m, "tokenizer.ggml.scores", GGUF_F32, score, n);
	put_array(m, "tokenizer.ggml.token_type", GGUF_I32, kind, n);
	put_number(m, "tokenizer.ggml.bos_token_id", 1);
	put_number(m, "tokenizer.ggml.eos_token_id", 2);
	free(text);
	free(v);
}

static void copy_vocabulary(struct maker *m, const char *path)
{
	static const char prefix[] = "tokenizer.", tokens[] = "tokenizer.ggml.tokens";
	struct gguf_error e = { 0 };
	struct gguf *g;

	if (gguf_open(&g, path, &e))
		die(path, e.text);
	for (size_t i = 0; i < gguf_key_count(g); i++) {
		struct gguf_bytes name = gguf_key(g, i)->name;

		if (name.n >= sizeof prefix - 1 && !memcmp(name.p, prefix, sizeof prefix - 1))
			check(gguf_writer_copy_key(m->w, g, i), path);
		if (name.n == strlen(tokens) && !memcmp(name.p, tokens, name.n))
			m->tokens = gguf_key(g, i)->count;
	}
	gguf_close(g);
}

/* ---- tensors ---- */

/* sheets: matrices of one tensor, or 0 where it is one. */
static void put_tensor(struct maker *m, const char *name, uint32_t type, uint64_t in, uint64_t out, uint64_t sheets)
{
	uint64_t extent[4] = { in, out, sheets ? sheets : 1, 1 };

	check(gguf_writer_tensor(m->w, name, strlen(name), type, sheets ? 3 : out > 1 ? 2 : 1, extent), name);
}

static void put_layer(struct maker *m, unsigned layer)
{
	const struct size *s = m->s;
	/* every third, and those near both ends, as quantizers do it */
	bool better = m->mixed && (layer < s->layers / 8 || layer >= 7 * s->layers / 8 || (layer - s->layers / 8) % 3 == 2);
	uint32_t best = better ? GGUF_TYPE_Q6_K : m->type;
	const struct {
		const char *name;
		uint32_t type;
		uint64_t in, out;
		unsigned experts;
	} rows[] = {
		{ "attn_norm", GGUF_TYPE_F32, s->width, 1, 0 },
		{ "attn_q", m->type, s->width, s->heads * s->head, 0 },
		{ "attn_k", m->type, s->width, s->kv_heads * s->head, 0 },
		{ "attn_v", best, s->width, s->kv_heads * s->head, 0 },
		{ "attn_output", m->type, s->heads * s->head, s->width, 0 },
		{ "attn_q_norm", GGUF_TYPE_F32, s->head, 1, 0 },
		{ "attn_k_norm", GGUF_TYPE_F32, s->head, 1, 0 },
		{ "ffn_norm", GGUF_TYPE_F32, s->width, 1, 0 },
		{ "ffn_gate_inp", GGUF_TYPE_F32, s->width, s->experts, 0 },
		{ s->experts ? "ffn_gate_exps" : "ffn_gate", m->type, s->width, s->ff, s->experts },
		{ s->experts ? "ffn_up_exps" : "ffn_up", m->type, s->width, s->ff, s->experts },
		{ s->experts ? "ffn_down_exps" : "ffn_down", best, s->ff, s->width, s->experts },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char name[64];

		if (!rows[i].out)
			continue;
		snprintf(name, sizeof name, "blk.%u.%s.weight", layer, rows[i].name);
		put_tensor(m, name, rows[i].type, rows[i].in, rows[i].out, rows[i].experts);
	}
}

static void put_tensors(struct maker *m)
{
	put_tensor(m, "token_embd.weight", m->head_type, m->s->width, m->tokens, 0);
	put_tensor(m, "output_norm.weight", GGUF_TYPE_F32, m->s->width, 1, 0);
	for (unsigned i = 0; i < m->s->layers; i++)
		put_layer(m, i);
}

/* ---- data ---- */

enum { POOL = 1 << 18 }; /* values */

static float next_random(void)
{
	static uint64_t state = 88172645463325252u;
	float sum = 0;

	for (int i = 0; i < 4; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		sum += (float)(state >> 40) * 0x1p-24f - 0.5f;
	}
	return sum * 0.04f;
}

/* Blocks of random weights of a type; made on first use. */
static const char *pool_of(uint32_t type)
{
	static char *pools[GGUF_TYPE_LIMIT];
	float *v;

	if (pools[type])
		return pools[type];
	v = malloc(POOL * sizeof *v);
	pools[type] = malloc(POOL / gguf_type_values(type) * gguf_type_bytes(type));
	if (!v || !pools[type])
		die("weights", "no memory");
	for (size_t i = 0; i < POOL; i++)
		v[i] = next_random();
	check(gguf_encode(type, pools[type], v, POOL / gguf_type_values(type)), gguf_type_name(type));
	free(v);
	return pools[type];
}

static void write_ones(FILE *f, uint64_t size)
{
	const float one = 1;

	for (uint64_t i = 0; i < size; i += sizeof one)
		fwrite(&one, sizeof one, 1, f);
}

/* The pool from ever other blocks on. */
static void write_weights(FILE *f, uint32_t type, uint64_t size)
{
	static uint64_t turn;
	uint64_t bytes = gguf_type_bytes(type), blocks = POOL / gguf_type_values(type), left = size / bytes;

	while (left) {
		uint64_t from = turn++ * 7919 % blocks, n = blocks - from < left ? blocks - from : left;

		fwrite(pool_of(type) + from * bytes, bytes, n, f);
		left -= n;
	}
}

/* Types are asked from the file itself, once its header is there. */
static void write_data(FILE *f, struct gguf_writer *w, const struct gguf *g)
{
	for (size_t i = 0; i < gguf_tensor_count(g); i++) {
		const struct gguf_tensor *t = gguf_tensor(g, i);

		fseek(f, (long)gguf_writer_offset(w, i), SEEK_SET);
		if (t->dims == 1)
			write_ones(f, t->size);
		else
			write_weights(f, t->type, t->size);
	}
}

static void write_model(struct maker *m, const char *path)
{
	struct gguf_error e = { 0 };
	const void *header;
	struct gguf *g;
	size_t size;
	FILE *f = fopen(path, "wb+");

	if (!f)
		die(path, "cannot be made");
	check(gguf_writer_header(m->w, &header, &size), path);
	fwrite(header, 1, size, f);
	fseek(f, (long)gguf_writer_file_size(m->w) - 1, SEEK_SET);
	putc(0, f);
	fflush(f);
	if (gguf_open(&g, path, &e))
		die(path, e.text);
	write_data(f, m->w, g);
	gguf_close(g);
	if (ferror(f) || fclose(f))
		die(path, "cannot be written");
}

static void set_types(struct maker *m, const char *name)
{
	int type = gguf_type_find(!strcasecmp(name, "Q4_K_M") ? "Q4_K" : name);

	if (type < 0)
		die(name, "no such type");
	m->type = (uint32_t)type;
	m->mixed = !strcasecmp(name, "Q4_K_M");
	m->head_type = gguf_type_values(m->type) > 1 && m->type != GGUF_TYPE_Q8_0 ? GGUF_TYPE_Q6_K : m->type;
}

int main(int argc, char **argv)
{
	struct maker m = { 0 };

	if (argc < 4 || argc > 5)
		die("usage", "make_bench_model SIZE TYPE OUT [VOCABULARY.gguf]");
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (!strcasecmp(argv[1], sizes[i].name))
			m.s = &sizes[i];
	if (!m.s)
		die(argv[1], "no such size");
	m.tokens = m.s->vocabulary;
	set_types(&m, argv[2]);
	check(gguf_writer_new(&m.w), "writer");
	put_settings(&m);
	if (argc > 4)
		copy_vocabulary(&m, argv[4]);
	else
		make_vocabulary(&m);
	put_tensors(&m);
	write_model(&m, argv[3]);
	gguf_writer_free(m.w);
	return 0;
}
