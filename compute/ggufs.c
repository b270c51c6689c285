/* SPDX-License-Identifier: MIT */
/* The library's public functions, over what the programs use. */
#include "ggufs-compute.h"
#include "error.h"
#include "llm.h"
#include "source.h"
#include "token/token.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct ggufs {
	struct source *source;
	struct vocab *vocab; /* NULL: the model has none */
	struct llm *llm;
};

static struct llm_options options(const struct ggufs_options *o)
{
	static const enum cache_type types[] = {
		[GGUFS_CACHE_AUTO] = CACHE_AUTO, [GGUFS_CACHE_F16] = CACHE_F16,
		[GGUFS_CACHE_F32] = CACHE_F32, [GGUFS_CACHE_Q8_0] = CACHE_Q8_0,
	};

	return (struct llm_options){
		.threads = o->threads, .context = o->context, .batch = o->batch,
		.k = types[o->keys], .v = types[o->values], .check = !o->no_check,
	};
}

static int open_parts(struct ggufs *g, const char *path, const struct ggufs_options *o, struct gguf_error *e)
{
	const struct llm_options opt = options(o);
	int err = source_open(&g->source, path, NULL, e);

	if (err)
		return err;
	err = vocab_open(&g->vocab, g->source, e);
	err = err && err != -ENOENT ? err : llm_open(&g->llm, g->source, &opt, e);
	return err ? err : llm_check(g->llm, e);
}

int ggufs_open(struct ggufs **out, const char *path, const struct ggufs_options *o, struct gguf_error *e)
{
	static const struct ggufs_options defaults;
	struct ggufs *g;
	int err;

	o = o ? o : &defaults;
	if (o->keys > GGUFS_CACHE_Q8_0 || o->values > GGUFS_CACHE_Q8_0)
		return gguf_fail(e, -EINVAL, 0, "the cache has no such type");
	g = calloc(1, sizeof *g);
	if (!g)
		return gguf_fail(e, -ENOMEM, 0, "out of memory");
	err = open_parts(g, path, o, e);
	if (err)
		ggufs_close(g);
	else
		*out = g;
	return err;
}

void ggufs_close(struct ggufs *g)
{
	if (!g)
		return;
	llm_close(g->llm);
	vocab_close(g->vocab);
	source_close(g->source);
	free(g);
}

size_t ggufs_vocab(const struct ggufs *g)
{
	return llm_vocab(g->llm);
}

size_t ggufs_width(const struct ggufs *g)
{
	return llm_width(g->llm);
}

unsigned ggufs_context(const struct ggufs *g)
{
	return llm_context(g->llm);
}

int ggufs_encode(const struct ggufs *g, const char *text, size_t n, unsigned flags, int32_t *ids, size_t room,
		 size_t *count)
{
	unsigned how = (flags & GGUFS_ADD ? VOCAB_SPECIAL : 0) | (flags & GGUFS_PARSE ? VOCAB_PARSE : 0);
	struct tokens t = { 0 };
	int err = g->vocab ? vocab_encode(g->vocab, text, n, how, &t) : -ENOENT;

	if (!err) {
		*count = t.n;
		if (t.n && room)
			memcpy(ids, t.id, (t.n < room ? t.n : room) * sizeof *ids);
		err = t.n > room ? -ERANGE : 0;
	}
	free(t.id);
	return err;
}

size_t ggufs_piece(const struct ggufs *g, int32_t id, char *buf, size_t room)
{
	struct gguf_bytes piece = { "", 0 };

	if (g->vocab)
		piece = vocab_piece(g->vocab, id, false);
	if (piece.n && room)
		memcpy(buf, piece.p, piece.n < room ? piece.n : room);
	return piece.n;
}

bool ggufs_ends(const struct ggufs *g, int32_t id)
{
	return g->vocab && vocab_is_eog(g->vocab, id);
}

int ggufs_feed(struct ggufs *g, const int32_t *ids, size_t n, float *logits, struct gguf_error *e)
{
	return llm_eval(g->llm, ids, n, logits, false, e);
}

unsigned ggufs_position(const struct ggufs *g)
{
	return llm_position(g->llm);
}

int ggufs_rewind(struct ggufs *g, unsigned position)
{
	return llm_rewind(g->llm, position);
}

int ggufs_states(struct ggufs *g, const int32_t *ids, size_t n, float *out, struct gguf_error *e)
{
	return llm_embed(g->llm, ids, n, out, e);
}
