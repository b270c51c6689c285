/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "about.h"
#include "chart.h"
#include "data.h"
#include "floats.h"
#include "items.h"
#include "joined.h"
#include "mtree.h"
#include "picture.h"
#include "stats.h"
#include "tree.h"
#include "value.h"

static bool is_scalar(const struct mtree *t, uint64_t i)
{
	return gguf_key(t->g, i)->type != GGUF_ARRAY;
}

static bool is_array(const struct mtree *t, uint64_t i)
{
	return gguf_key(t->g, i)->type == GGUF_ARRAY;
}

static int scalar_print(const struct mtree *t, uint64_t i, struct out *o)
{
	struct gguf_value v;
	int err = gguf_value(t->g, i, &v);

	if (!err)
		value_print(&v, o);
	return err;
}

/* Tensors outside of layers have no link. */
static bool is_in_layer(const struct mtree *t, uint64_t i)
{
	struct gguf_bytes rest;
	uint64_t number;

	return layer_split(gguf_tensor(t->g, i)->name, &number, &rest);
}

/* From layers/N/REST to tensors/NAME. */
static int link_print(const struct mtree *t, uint64_t i, struct out *o)
{
	char name[NAME_SIZE];

	out_string(o, "../../" TREE_TENSORS "/");
	out_put(o, name, name_encode(name, gguf_tensor(t->g, i)->name, i));
	return 0;
}

#define CHAT_TEMPLATE "tokenizer.chat_template"

static bool has_chat_template(const struct mtree *t, uint64_t i)
{
	(void)i;
	return gguf_find_key(t->g, CHAT_TEMPLATE, sizeof CHAT_TEMPLATE - 1) >= 0;
}

static int chat_template_print(const struct mtree *t, uint64_t i, struct out *o)
{
	(void)t;
	(void)i;
	out_string(o, TREE_METADATA "/" CHAT_TEMPLATE);
	return 0;
}

/* doc/adding.md says what a new row takes. */
const struct file files[] = {
	[ROW_ROOT] = { .type = S_IFDIR, .where = ROW_ROOT },
	[ROW_METADATA] = { .name = TREE_METADATA, .where = ROW_ROOT, .type = S_IFDIR },
	[ROW_TENSORS] = { .name = TREE_TENSORS, .where = ROW_ROOT, .type = S_IFDIR },
	[ROW_LAYERS] = { .name = TREE_LAYERS, .where = ROW_ROOT, .type = S_IFDIR },
	[ROW_SCALAR] = { .where = ROW_METADATA, .items = &items_keys, .present = is_scalar, .print = scalar_print },
	[ROW_ARRAY] = { .where = ROW_METADATA, .items = &items_keys, .present = is_array, .step = array_step },
	[ROW_TENSOR] = { .where = ROW_TENSORS, .type = S_IFDIR, .items = &items_tensors },
	[ROW_LAYER] = { .where = ROW_LAYERS, .type = S_IFDIR, .items = &items_layers },
	[ROW_LINK] = { .where = ROW_LAYER, .type = S_IFLNK, .items = &items_links, .present = is_in_layer,
		       .print = link_print },
	[ROW_RAW] = { TREE_RAW, ROW_TENSOR, .caching = CACHE_BULK, .size = raw_size, .read = raw_read },
	[ROW_MORE] = { TREE_TYPE, ROW_TENSOR, .print = type_print },
	{ TREE_SHAPE, ROW_TENSOR, .print = shape_print },
	{ TREE_README, ROW_ROOT, .print = readme_print },
	{ TREE_INFO, ROW_ROOT, .print = info_print },
	{ TREE_METADATA_JSON, ROW_ROOT, .step = json_step },
	{ TREE_TENSORS_TSV, ROW_ROOT, .step = tsv_step },
	{ TREE_MODEL, ROW_ROOT, .caching = CACHE_BULK, .present = joined_present, .size = joined_size,
	  .read = joined_read },
	{ TREE_CHAT_TEMPLATE, ROW_ROOT, S_IFLNK, .present = has_chat_template, .print = chat_template_print },
	{ TREE_F32, ROW_TENSOR, .caching = CACHE_BULK, .present = floats_present, .size = f32_size, .read = f32_read },
	{ TREE_F16, ROW_TENSOR, .caching = CACHE_BULK, .present = floats_present, .size = f16_size, .read = f16_read },
	{ TREE_BF16, ROW_TENSOR, .caching = CACHE_BULK, .present = floats_present, .size = f16_size,
	  .read = bf16_read },
	{ TREE_NPY, ROW_TENSOR, .caching = CACHE_BULK, .present = floats_present, .size = npy_size, .read = npy_read },
	{ TREE_STATS, ROW_TENSOR, .slow = true, .present = floats_present, .size = stats_size, .read = stats_read },
	{ TREE_HEATMAP, ROW_TENSOR, .slow = true, .present = picture_present, .size = picture_size,
	  .read = picture_read },
	{ TREE_TYPES, ROW_ROOT, .present = chart_present, .print = chart_print },
};
const size_t file_count = sizeof files / sizeof *files;
_Static_assert(sizeof files / sizeof *files < 256, "a row has 8 bits of an inode number");

uint64_t file_total(const struct mtree *t, const struct file *f)
{
	for (; f->where != ROW_ROOT; f = &files[f->where])
		if (f->items)
			return f->items->total(t);
	return 1;
}
