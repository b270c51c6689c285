/* SPDX-License-Identifier: MIT */
#include "about.h"
#include "mtree.h"
#include "number.h"
#include "tree.h"
#include "value.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A type that has no name here is shown by its number. */
static void put_type(struct out *o, uint32_t type)
{
	const char *name = gguf_type_name(type);

	if (name)
		out_string(o, name);
	else
		out_u64(o, type);
}

/* Extents with blanks between, the row length first, as the file has them. */
static void put_shape(struct out *o, const struct gguf_tensor *tensor)
{
	for (uint32_t d = 0; d < tensor->dims; d++) {
		if (d)
			out_put(o, " ", 1);
		out_u64(o, tensor->extent[d]);
	}
}

int type_print(const struct mtree *t, uint64_t i, struct out *o)
{
	put_type(o, gguf_tensor(t->g, i)->type);
	out_put(o, "\n", 1);
	return 0;
}

int shape_print(const struct mtree *t, uint64_t i, struct out *o)
{
	put_shape(o, gguf_tensor(t->g, i));
	out_put(o, "\n", 1);
	return 0;
}

/* Control bytes of a name are escaped, so that a row stays one line of seven fields. */
static void tsv_row(const struct gguf_tensor *tensor, struct out *o)
{
	const uint64_t numbers[] = { tensor->values, tensor->size, tensor->shard, tensor->offset };

	value_escape(o, tensor->name);
	out_put(o, "\t", 1);
	put_type(o, tensor->type);
	out_put(o, "\t", 1);
	put_shape(o, tensor);
	for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
		out_put(o, "\t", 1);
		out_u64(o, numbers[k]);
	}
	out_put(o, "\n", 1);
}

int tsv_step(const struct gguf *g, uint64_t i, struct text_pos *pos, struct out *o)
{
	(void)i;
	if (pos->part > gguf_tensor_count(g))
		return 0;
	if (!pos->part)
		out_string(o, "name\ttype\tshape\telements\tbytes\tshard\toffset\n");
	else
		tsv_row(gguf_tensor(g, pos->part - 1), o);
	pos->part++;
	return 1;
}

/* ---- info ---- */

/* 1234567 as "1.23 M"; binary: as "1.18 MiB" */
static void put_amount(struct out *o, uint64_t v, bool binary)
{
	static const char *const units[] = { "", "K", "M", "G", "T", "P", "E" };
	double d = (double)v, base = binary ? 1024 : 1000;
	size_t u = 0;

	for (; d >= base && u + 1 < sizeof units / sizeof *units; u++)
		d /= base;
	out_printf(o, u ? "%.3g %s%s" : "%.0f%s%s", d, u ? units[u] : binary ? " " : "", !binary ? "" : u ? "iB" : "B");
}

static void put_label(struct out *o, const char *label)
{
	out_printf(o, "%-14s ", label);
}

/* A line for a key, where the model has it and it is short. An array is shown by its count. */
static void put_key(const struct gguf *g, struct out *o, const char *label, const char *name)
{
	ssize_t i = gguf_find_key(g, name, strlen(name));
	struct gguf_value v;

	if (i < 0 || gguf_value(g, (size_t)i, &v) || (v.type == GGUF_STRING && v.s.n > 200))
		return;
	put_label(o, label);
	if (v.type == GGUF_ARRAY)
		out_printf(o, "%llu items\n", (unsigned long long)v.a.count);
	else if (v.type == GGUF_STRING)
		value_escape(o, v.s), out_put(o, "\n", 1);
	else
		value_print(&v, o);
}

/* The same for a key that has the architecture's name in front. */
static void put_arch_key(const struct gguf *g, struct out *o, const char *label, const char *rest)
{
	struct gguf_bytes arch;
	char name[128];

	if (gguf_get_string(g, "general.architecture", &arch) || arch.n > 64)
		return;
	snprintf(name, sizeof name, "%.*s.%s", (int)arch.n, arch.p, rest);
	put_key(g, o, label, name);
}

struct share {
	uint32_t type;
	uint64_t tensors, bytes;
};
enum { SHARES = 128 };

static int by_bytes(const void *a, const void *b)
{
	const struct share *x = a, *y = b;

	return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

/* Adds a tensor to its type's share. Past so many types, the last one takes the rest. */
static void add_share(struct share *shares, size_t *n, const struct gguf_tensor *tensor)
{
	size_t k = 0;

	while (k < *n && shares[k].type != tensor->type)
		k++;
	if (k == SHARES)
		k--;
	if (k == *n)
		shares[(*n)++] = (struct share){ .type = tensor->type };
	shares[k].tensors++;
	shares[k].bytes += tensor->size;
}

/* Types by bytes, the largest first; bytes is their sum. Sorts shares. */
static void put_shares(struct out *o, struct share *shares, size_t n, uint64_t bytes)
{
	qsort(shares, n, sizeof *shares, by_bytes);
	for (size_t k = 0; k < n; k++) {
		put_label(o, k ? "" : "types");
		put_type(o, shares[k].type);
		out_printf(o, "  %.1f %%  ", bytes ? 100 * (double)shares[k].bytes / (double)bytes : 0);
		put_amount(o, shares[k].bytes, true);
		out_printf(o, "  %llu tensors\n", (unsigned long long)shares[k].tensors);
	}
}

/* Numbers and bytes of all tensors. They are of the header, so that nothing is read for it. */
static void put_tensors(const struct gguf *g, struct out *o)
{
	struct share shares[SHARES];
	uint64_t values = 0, bytes = 0;
	size_t n = 0;

	for (size_t i = 0; i < gguf_tensor_count(g); i++) {
		values += gguf_tensor(g, i)->values;
		bytes += gguf_tensor(g, i)->size;
		add_share(shares, &n, gguf_tensor(g, i));
	}
	put_label(o, "parameters");
	put_amount(o, values, false);
	out_printf(o, "  (%llu in %zu tensors)\n", (unsigned long long)values, gguf_tensor_count(g));
	put_label(o, "size");
	put_amount(o, bytes, true);
	out_printf(o, "  %.2f bits each\n", values ? 8 * (double)bytes / (double)values : 0);
	put_shares(o, shares, n, bytes);
}

static void put_files(const struct gguf *g, struct out *o)
{
	for (size_t i = 0; i < gguf_shard_count(g); i++) {
		const struct gguf_shard *s = gguf_shard(g, i);

		put_label(o, i ? "" : "files");
		if (s->path)
			value_escape(o, (struct gguf_bytes){ s->path, strlen(s->path) });
		out_printf(o, "  GGUF v%u%s  ", s->version, s->big_endian ? " big-endian" : "");
		put_amount(o, s->size, true);
		out_put(o, "\n", 1);
	}
}

int info_print(const struct mtree *t, uint64_t i, struct out *o)
{
	(void)i;
	put_key(t->g, o, "name", "general.name");
	put_key(t->g, o, "architecture", "general.architecture");
	put_key(t->g, o, "licence", "general.license");
	put_tensors(t->g, o);
	put_arch_key(t->g, o, "layers", "block_count");
	put_arch_key(t->g, o, "width", "embedding_length");
	put_arch_key(t->g, o, "context", "context_length");
	put_arch_key(t->g, o, "heads", "attention.head_count");
	put_arch_key(t->g, o, "experts", "expert_count");
	put_key(t->g, o, "tokenizer", "tokenizer.ggml.model");
	put_key(t->g, o, "vocabulary", "tokenizer.ggml.tokens");
	put_label(o, "metadata");
	out_printf(o, "%zu keys\n", gguf_key_count(t->g));
	put_files(t->g, o);
	return 0;
}

/* ---- README ---- */

static const struct {
	const char *name, *text;
} contents[] = {
	{ TREE_INFO, "the model on one screen" },
	{ TREE_METADATA "/KEY", "one value as text; an array has one item a line" },
	{ TREE_METADATA_JSON, "all of them" },
	{ TREE_TENSORS "/NAME/", "one tensor:" },
	{ "  " TREE_TYPE ", " TREE_SHAPE, "its type; its extents, the row length first" },
	{ "  " TREE_RAW, "the bytes as stored" },
	{ "  " TREE_F32 ", " TREE_F16 ", " TREE_BF16, "plain floats" },
	{ "  " TREE_NPY, "the same for numpy.load" },
	{ "  " TREE_STATS ", " TREE_HEATMAP, "what the values are like" },
	{ TREE_TENSORS_TSV, "a table of the tensors" },
	{ TREE_LAYERS "/N/", "links to the tensors of layer N" },
	{ TREE_TYPES, "a picture: bytes by type and layer" },
	{ TREE_MODEL, "the whole model as one GGUF file" },
	{ TREE_CHAT_TEMPLATE, "a link to the template in " TREE_METADATA ", where there is one" },
};

/* Three commands that work here: they name things which this model has. */
static void put_examples(const struct mtree *t, struct out *o)
{
	char name[NAME_SIZE];

	out_string(o, "\nTry:\n  cat " TREE_INFO "\n  grep -r . " TREE_METADATA " | cut -c 1-100\n");
	if (!gguf_tensor_count(t->g))
		return;
	out_string(o, "  od -A d -t x1 -N 32 '" TREE_TENSORS "/");
	out_put(o, name, name_encode(name, gguf_tensor(t->g, 0)->name, 0));
	out_string(o, "/" TREE_RAW "'\n");
}

int readme_print(const struct mtree *t, uint64_t i, struct out *o)
{
	(void)i;
	out_string(o, "A GGUF model as files. All of it is made from the model file as you read; nothing can be "
		      "written.\n\n");
	for (size_t k = 0; k < sizeof contents / sizeof *contents; k++)
		out_printf(o, "%-20s %s\n", contents[k].name, contents[k].text);
	put_examples(t, o);
	return 0;
}
