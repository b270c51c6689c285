/* SPDX-License-Identifier: MIT */
#ifndef GGUF_SPLIT_H
#define GGUF_SPLIT_H
#include "model.h"
/* Of a shard in g->files[0], opens the rest of its set. A model in one file is left as it is. */
int split_complete(struct gguf *g, unsigned lenience, struct gguf_error *e);
/* Whether the name at path is that of shard no of count; and the path of another one of its set, to be freed. */
bool split_is_named(const char *path, uint64_t no, uint64_t count);
char *split_sibling(const char *path, uint64_t no, uint64_t count);
/* Opens and reads one file. */
int file_open(struct file *f, const char *path, unsigned lenience, struct gguf_error *e);
#endif
