/* SPDX-License-Identifier: MIT */
#ifndef GGUF_SPLIT_H
#define GGUF_SPLIT_H
#include "model.h"
/* Of a shard in g->files[0], opens the rest of its set. A model in one file is left as it is. */
int split_complete(struct gguf *g, unsigned lenience, struct gguf_error *e);
/* Opens and reads one file. */
int file_open(struct file *f, const char *path, unsigned lenience, struct gguf_error *e);
#endif
