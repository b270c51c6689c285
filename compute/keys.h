/* SPDX-License-Identifier: MIT */
/* Settings of a model, "ARCHITECTURE.NAME". A value of the wrong kind or size is an error that names the key. */
#ifndef KEYS_H
#define KEYS_H
#include "source.h"

struct keys {
	struct source *s;
	const char *arch;
	struct gguf_error *e;
};

/* *v stays as it is without the key; need_u32 refuses that. */
int key_u32(const struct keys *k, const char *name, uint32_t *v);
int need_u32(const struct keys *k, const char *name, uint32_t *v);
int key_f32(const struct keys *k, const char *name, float *v);
int key_bool(const struct keys *k, const char *name, bool *v);
/* Not terminated. */
int key_string(const struct keys *k, const char *name, struct gguf_bytes *v);
bool key_has(const struct keys *k, const char *name);
/* One number for all of n layers, or one for each. */
int key_per_layer(const struct keys *k, const char *name, uint32_t *v, uint32_t n);
/* Fails with "ARCHITECTURE.NAME: ..." */
__attribute__((format(printf, 3, 4)))
int key_fail(const struct keys *k, const char *name, const char *fmt, ...);
#endif
