/* SPDX-License-Identifier: MIT */
/*
 * A model as the engine sees it, wherever it is: a mount, a plain directory of the mount's layout, or a .gguf file.
 * Settings by key, weights by name. Everything handed out lives as long as the source.
 */
#ifndef SOURCE_H
#define SOURCE_H
#include "gguf.h"
#include "override.h"

enum load_mode { LOAD_AUTO, LOAD_BACKING, LOAD_MMAP, LOAD_MLOCK, LOAD_POPULATE, LOAD_READ };
struct source_options {
	enum load_mode mode;
	bool lazy; /* leave embedding tables alone until a row is asked for */
	/* Called while weights are being brought in, with bytes; NULL: nobody asks. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
	const struct overrides *overrides; /* of keys, for the getters; copied; NULL: none */
};

struct weight {
	struct gguf_bytes name;
	const void *data;   /* size bytes, little-endian, as stored; NULL before source_map */
	uint64_t size;
	uint64_t extent[4]; /* extent[0] is the row length; unused are 1 */
	uint32_t dims;
	uint32_t type;
	bool put_off;       /* source_map leaves its bytes where they lie: an embedding table of a lazy source */
};

struct source;
/* Opens the model at path; opt may be NULL. Errors name the file, key or tensor. */
int source_open(struct source **out, const char *path, const struct source_options *opt, struct gguf_error *e);
void source_close(struct source *s); /* NULL is fine */
/*
 * Brings the weights in, as the options say: from here on their data can be read. Doing it again is fine. Mapped files
 * that are cut short while they are in use end the process with SIGBUS, as they end any program that maps them;
 * LOAD_READ keeps a copy and is safe from that.
 */
int source_map(struct source *s, struct gguf_error *e);
/* Tells the progress callback of the options, where there is one. */
void source_progress(struct source *s, uint64_t done, uint64_t total);

/*
 * Getters: 0, -ENOENT without the key, -EINVAL (and e filled with the key's name) for a value of another kind.
 * Integers of any width serve for u64 and i64, any number for f64. Several threads may ask at once.
 */
bool source_has(struct source *s, const char *key);
int source_u64(struct source *s, const char *key, uint64_t *v, struct gguf_error *e);
int source_i64(struct source *s, const char *key, int64_t *v, struct gguf_error *e);
int source_f64(struct source *s, const char *key, double *v, struct gguf_error *e);
int source_bool(struct source *s, const char *key, bool *v, struct gguf_error *e);
int source_string(struct source *s, const char *key, struct gguf_bytes *v, struct gguf_error *e);
/* Arrays, whole: *v has *n items. A number serves as an array of one, a string does not. */
int source_strings(struct source *s, const char *key, const struct gguf_bytes **v, size_t *n, struct gguf_error *e);
int source_f32s(struct source *s, const char *key, const float **v, size_t *n, struct gguf_error *e);
int source_i64s(struct source *s, const char *key, const int64_t **v, size_t *n, struct gguf_error *e);

size_t source_weight_count(struct source *s);
const struct weight *source_weight(struct source *s, size_t i);
/* The weight of that name, or NULL. */
const struct weight *source_find(struct source *s, const char *name);
/* Whether path leads to a file that the weights come from, by whatever name: it must not be written to. */
bool source_holds(struct source *s, const char *path);
/* Keys in file order (for a directory: sorted), for listings. NULL past the end. */
const char *source_key(struct source *s, size_t i);
#endif
