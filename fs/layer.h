/* SPDX-License-Identifier: MIT */
/* The tensors called blk.N.REST, by N. */
#ifndef FS_LAYER_H
#define FS_LAYER_H
#include "gguf.h"

struct layer {
	uint64_t number;
	size_t first, count; /* in members */
};
struct layers {
	struct layer *layers; /* by number */
	size_t count;
	uint32_t *members; /* numbers of tensors, layer after layer, in file order */
	size_t member_count;
};

int layers_build(struct layers *l, const struct gguf *g);
void layers_free(struct layers *l);
/* Index of the layer of that number, or -ENOENT. */
ssize_t layers_find(const struct layers *l, uint64_t number);
/* Whether name is blk.N.REST, N as one writes a number; then what N and REST are. */
bool layer_split(struct gguf_bytes name, uint64_t *number, struct gguf_bytes *rest);
/* Digits without leading zeroes, at most 9 of them. */
bool layer_number(struct gguf_bytes digits, uint64_t *number);
#endif
