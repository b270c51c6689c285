/* SPDX-License-Identifier: MIT */
/*
 * Makes model files for tests and benchmarks of the mount:
 *
 *   make_model large OUT KEYS VOCABULARY TENSORS BYTES   TENSORS tensors of BYTES bytes, in layers of six
 *   make_model split IN PREFIX N                         the same model as a set of N files
 *   make_model form IN OUT VERSION little|big            the same model as that version wrote it; F32 only when big
 */
#include "build.h"
#include "gguf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what, const char *why)
{
	fprintf(stderr, "make_model: %s: %s\n", what, why);
	exit(1);
}

static void check(int err, const char *what)
{
	if (err)
		die(what, strerror(-err));
}

static FILE *create(const char *path)
{
	FILE *f = fopen(path, "wb");

	if (!f)
		die(path, "cannot be made");
	return f;
}

static void finish(FILE *f, const char *path)
{
	if (ferror(f) || fclose(f))
		die(path, "cannot be written");
}

static struct gguf *open_model(const char *path)
{
	struct gguf_error e = { 0 };
	struct gguf *g;

	if (gguf_open(&g, path, &e))
		die(path, e.text);
	return g;
}

static void pad_to(FILE *f, uint64_t offset)
{
	while ((uint64_t)ftell(f) < offset)
		putc(0, f);
}

/* ---- large ---- */

static void add_number(struct gguf_writer *w, const char *name, uint64_t v)
{
	struct gguf_value value = { .type = GGUF_U32, .u = v };

	check(gguf_writer_key(w, name, strlen(name), &value), name);
}

static void add_text(struct gguf_writer *w, const char *name, const char *text)
{
	struct gguf_value value = { .type = GGUF_STRING, .s = { text, strlen(text) } };

	check(gguf_writer_key(w, name, strlen(name), &value), name);
}

static void add_vocabulary(struct gguf_writer *w, size_t n)
{
	struct gguf_value *v = calloc(n, sizeof *v);
	char *texts = malloc(n * 16);

	for (size_t i = 0; i < n; i++) {
		v[i].type = GGUF_STRING;
		v[i].s.p = texts + 16 * i;
		v[i].s.n = (size_t)snprintf(texts + 16 * i, 16, "\xe2\x96\x81tok%zu", i);
	}
	check(gguf_writer_array(w, "tokenizer.ggml.tokens", 21, GGUF_STRING, v, n), "tokens");
	for (size_t i = 0; i < n; i++)
		v[i] = (struct gguf_value){ .type = GGUF_F32, .f = (double)((float)i * -0.37f) };
	check(gguf_writer_array(w, "tokenizer.ggml.scores", 21, GGUF_F32, v, n), "scores");
	for (size_t i = 0; i < n; i++)
		v[i] = (struct gguf_value){ .type = GGUF_U32, .u = 1 + i % 6 };
	check(gguf_writer_array(w, "tokenizer.ggml.token_type", 25, GGUF_U32, v, n), "types");
	free(v);
	free(texts);
}

static void add_tensors(struct gguf_writer *w, size_t n, uint64_t bytes)
{
	static const char *const parts[] = { "attn_q", "attn_k", "attn_v", "ffn_up", "ffn_gate", "ffn_down" };
	uint64_t extent[] = { bytes / 4 };
	char name[64];

	for (size_t i = 0; i < n; i++) {
		int len = snprintf(name, sizeof name, "blk.%zu.%s.weight", i / 6, parts[i % 6]);

		check(gguf_writer_tensor(w, name, (size_t)len, GGUF_TYPE_F32, 1, extent), name);
	}
}

/* Small floats, none of them twice in a row. */
static void write_floats(FILE *f, uint64_t bytes, uint32_t seed)
{
	static float block[1 << 14];

	for (size_t k = 0; k < sizeof block / sizeof *block; k++) {
		seed = seed * 1664525 + 1013904223;
		block[k] = (float)(int32_t)seed / 0x1p31f;
	}
	for (uint64_t done = 0; done < bytes; done += sizeof block)
		fwrite(block, 1, bytes - done < sizeof block ? bytes - done : sizeof block, f);
}

static void make_large(char **argv)
{
	size_t keys = strtoull(argv[1], NULL, 10), vocabulary = strtoull(argv[2], NULL, 10);
	size_t tensors = strtoull(argv[3], NULL, 10), size;
	uint64_t bytes = strtoull(argv[4], NULL, 10);
	struct gguf_writer *w;
	const void *header;
	char name[64];
	FILE *f = create(argv[0]);

	check(gguf_writer_new(&w), "writer");
	add_text(w, "general.architecture", "llama");
	for (size_t i = 0; i < keys; i++)
		add_number(w, (snprintf(name, sizeof name, "made.key.%zu", i), name), i);
	if (vocabulary)
		add_vocabulary(w, vocabulary);
	add_tensors(w, tensors, bytes);
	check(gguf_writer_header(w, &header, &size), "header");
	fwrite(header, 1, size, f);
	for (size_t i = 0; i < tensors; i++) {
		pad_to(f, gguf_writer_offset(w, i));
		write_floats(f, bytes, (uint32_t)i);
	}
	pad_to(f, gguf_writer_file_size(w));
	finish(f, argv[0]);
	gguf_writer_free(w);
}

/* ---- split ---- */

static void add_small(struct gguf_writer *w, const char *name, enum gguf_value_type type, uint64_t v)
{
	struct gguf_value value = { .type = type };

	if (type == GGUF_I32)
		value.i = (int64_t)v;
	else
		value.u = v;
	check(gguf_writer_key(w, name, strlen(name), &value), name);
}

static void copy_data(FILE *f, const struct gguf *g, size_t i)
{
	const struct gguf_tensor *t = gguf_tensor(g, i);
	char *buf = malloc(t->size + 1);

	check(gguf_tensor_read(g, i, buf, t->size, 0), "data");
	fwrite(buf, 1, t->size, f);
	free(buf);
}

static void write_shard(const struct gguf *g, const char *prefix, size_t no, size_t count)
{
	size_t all = gguf_tensor_count(g), first = all * no / count, last = all * (no + 1) / count, size;
	struct gguf_writer *w;
	const void *header;
	char path[4096];
	FILE *f;

	snprintf(path, sizeof path, "%s-%05zu-of-%05zu.gguf", prefix, no + 1, count);
	f = create(path);
	check(gguf_writer_new(&w), "writer");
	for (size_t i = 0; !no && i < gguf_key_count(g); i++)
		check(gguf_writer_copy_key(w, g, i), "key");
	add_small(w, "split.no", GGUF_U16, no);
	add_small(w, "split.count", GGUF_U16, count);
	add_small(w, "split.tensors.count", GGUF_I32, all);
	for (size_t i = first; i < last; i++)
		check(gguf_writer_copy_tensor(w, g, i), "tensor");
	check(gguf_writer_header(w, &header, &size), "header");
	fwrite(header, 1, size, f);
	for (size_t i = first; i < last; i++) {
		pad_to(f, gguf_writer_offset(w, i - first));
		copy_data(f, g, i);
	}
	pad_to(f, gguf_writer_file_size(w));
	finish(f, path);
	gguf_writer_free(w);
}

static void make_split(char **argv)
{
	struct gguf *g = open_model(argv[0]);
	size_t count = strtoull(argv[2], NULL, 10);

	for (size_t no = 0; no < count; no++)
		write_shard(g, argv[1], no, count);
	gguf_close(g);
}

/* ---- form ---- */

static void put_scalar(struct build *b, const struct gguf_value *v)
{
	static const unsigned char widths[GGUF_VALUE_TYPES] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };
	uint64_t bits = v->u;
	float single = (float)v->f;
	uint32_t low;

	memcpy(&low, &single, sizeof low);
	if (v->type == GGUF_STRING)
		build_string(b, v->s.p, v->s.n);
	else
		build_number(b, v->type == GGUF_F32 ? low : bits, widths[v->type]);
}

static void put_key(struct build *b, const struct gguf *g, size_t i)
{
	const struct gguf_key *k = gguf_key(g, i);
	struct gguf_value v;

	build_string(b, k->name.p, k->name.n);
	build_number(b, k->type, 4);
	if (k->type == GGUF_ARRAY) {
		build_number(b, k->item, 4);
		build_number(b, k->count, b->version == 1 ? 4 : 8);
	}
	for (uint64_t n = 0; n < k->count; n++) {
		check(k->type == GGUF_ARRAY ? gguf_items(g, i, n, 1, &v) : gguf_value(g, i, &v), "value");
		put_scalar(b, &v);
	}
}

static void put_row(struct build *b, const struct gguf_tensor *t, uint64_t offset)
{
	build_string(b, t->name.p, t->name.n);
	build_number(b, t->dims, 4);
	for (uint32_t d = 0; d < t->dims; d++)
		build_number(b, t->extent[d], b->version == 1 ? 4 : 8);
	build_number(b, t->type, 4);
	build_number(b, offset, 8);
}

static void put_data(struct build *b, const struct gguf *g, size_t i)
{
	const struct gguf_tensor *t = gguf_tensor(g, i);
	unsigned char *buf = malloc(t->size + 1);

	check(gguf_tensor_read(g, i, buf, t->size, 0), "data");
	if (b->big_endian && t->type != GGUF_TYPE_F32)
		die("big-endian", "F32 only");
	if (b->big_endian)
		for (uint64_t k = 0; k + 3 < t->size; k += 4)
			build_bytes(b, (unsigned char[]){ buf[k + 3], buf[k + 2], buf[k + 1], buf[k] }, 4);
	else
		build_bytes(b, buf, t->size);
	free(buf);
}

static void make_form(char **argv)
{
	struct gguf *g = open_model(argv[0]);
	struct build b = { .version = (unsigned)atoi(argv[2]), .big_endian = !strcmp(argv[3], "big") };
	FILE *f = create(argv[1]);
	uint64_t offset = 0;

	build_bytes(&b, "GGUF", 4);
	build_number(&b, b.version, 4);
	build_number(&b, gguf_tensor_count(g), b.version == 1 ? 4 : 8);
	build_number(&b, gguf_key_count(g), b.version == 1 ? 4 : 8);
	for (size_t i = 0; i < gguf_key_count(g); i++)
		put_key(&b, g, i);
	for (size_t i = 0; i < gguf_tensor_count(g); i++) {
		put_row(&b, gguf_tensor(g, i), offset);
		offset += (gguf_tensor(g, i)->size + 31) / 32 * 32;
	}
	for (size_t i = 0; i < gguf_tensor_count(g); i++) {
		build_zeros(&b, -b.n % 32);
		put_data(&b, g, i);
	}
	build_zeros(&b, -b.n % 32);
	fwrite(b.p, 1, b.n, f);
	finish(f, argv[1]);
	build_free(&b);
	gguf_close(g);
}

static const struct command {
	const char *name;
	int args;
	void (*run)(char **argv);
} commands[] = { { "large", 5, make_large }, { "split", 3, make_split }, { "form", 4, make_form } };

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(argv[1], commands[i].name) && argc == 2 + commands[i].args) {
			commands[i].run(argv + 2);
			return 0;
		}
	die("usage", "large OUT KEYS VOCABULARY TENSORS BYTES | split IN PREFIX N | form IN OUT VERSION little|big");
	return 1;
}
