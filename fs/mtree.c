/* SPDX-License-Identifier: MIT */
#include "mtree.h"
#include "dropcache.h"
#include "files.h"
#include "joined.h"
#include "picture.h"
#include "stats.h"
#include <errno.h>
#include <stdlib.h>

/* The model file's time of change, or 0 where the model is not a file. */
static struct timespec time_of(const struct gguf *g)
{
	struct stat st;
	int fd = gguf_shard(g, 0)->fd;

	return fd >= 0 && !fstat(fd, &st) ? st.st_mtim : (struct timespec){ 0 };
}

/* A pointer for each file that has steps: 8 bytes each; the texts follow when they are asked for. */
static int make_room_for_texts(struct mtree *t)
{
	t->texts = calloc(file_count, sizeof *t->texts);
	if (!t->texts)
		return -ENOMEM;
	for (size_t row = 0; row < file_count; row++) {
		if (!files[row].step)
			continue;
		t->texts[row] = calloc(file_total(t, &files[row]) + 1, sizeof *t->texts[row]);
		if (!t->texts[row])
			return -ENOMEM;
	}
	return 0;
}

int mtree_new(struct mtree **out, const struct gguf *g, const struct mtree_options *opt)
{
	struct mtree *t = calloc(1, sizeof *t);
	int err;

	if (!t)
		return -ENOMEM;
	t->g = g;
	t->opt = *opt;
	t->mtime = time_of(g);
	pthread_mutex_init(&t->making, NULL);
	err = layers_build(&t->layers, g);
	if (!err)
		err = make_room_for_texts(t);
	if (!err)
		err = joined_new(&t->joined, g);
	if (!err && !opt->keep_below)
		err = dropcache_new(&t->dropcache, g);
	if (!err)
		err = stats_cache_new(&t->stats, gguf_tensor_count(g));
	if (!err)
		err = pictures_new(&t->pictures);
	if (err)
		mtree_free(t);
	else
		*out = t;
	return err;
}

static void free_texts(struct mtree *t)
{
	for (size_t row = 0; t->texts && row < file_count; row++) {
		for (uint64_t i = 0; t->texts[row] && i < file_total(t, &files[row]); i++)
			text_free(t->texts[row][i]);
		free(t->texts[row]);
	}
	free(t->texts);
}

void mtree_free(struct mtree *t)
{
	if (!t)
		return;
	free_texts(t);
	layers_free(&t->layers);
	joined_free(t->joined);
	dropcache_free(t->dropcache);
	stats_cache_free(t->stats);
	pictures_free(t->pictures);
	pthread_mutex_destroy(&t->making);
	free(t);
}

bool mtree_stops(const struct mtree *t)
{
	return t->stops && t->stops(t->stops_ctx);
}

/* What a walk through the tree finds: not every tensor has each file. */
static uint64_t count_nodes(const struct mtree *t)
{
	uint64_t nodes = 0;

	for (size_t row = ROW_ROOT; row < file_count; row++) {
		uint64_t total = file_total(t, &files[row]);

		for (uint64_t i = 0; files[row].present && i < total; i++)
			nodes += files[row].present(t, i);
		nodes += files[row].present ? 0 : total;
	}
	return nodes;
}

void mtree_statvfs(struct mtree *t, struct statvfs *st)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < gguf_shard_count(t->g); i++)
		bytes += gguf_shard(t->g, i)->size;
	if (!t->nodes)
		t->nodes = count_nodes(t);
	*st = (struct statvfs){
		.f_bsize = 4096,
		.f_frsize = 4096,
		.f_blocks = bytes / 4096 + (bytes % 4096 != 0),
		.f_files = t->nodes,
		.f_namemax = NAME_LONGEST,
	};
}
