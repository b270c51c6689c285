/* SPDX-License-Identifier: MIT */
/* Inside of struct gguf: shared by the files of libgguf and by fsck, nobody else. */
#ifndef GGUF_MODEL_H
#define GGUF_MODEL_H
#include "cursor.h"
#include "names.h"
#include "input.h"
#include "quote.h"

enum { GGUF_DEPTH = 8 }; /* arrays inside arrays: how many levels are read */

/* One file: a model by itself, or a shard. Names point into header. */
struct file {
	struct gguf_shard about;
	struct input input;
	char *path;            /* NULL for memory and readers */
	uint8_t *owned;        /* header, where it came from malloc */
	const uint8_t *header; /* about.header_size bytes */
	struct gguf_key *keys;
	size_t key_count;
	struct gguf_tensor *tensors;
	size_t tensor_count;
	struct names key_names, tensor_names;
};

struct gguf {
	struct file *files; /* file_count, in the order of the set; keys are those of the first */
	size_t file_count;
	struct gguf_tensor *tensors; /* of all files */
	size_t tensor_count;
	struct names tensor_names;
	uint64_t *_Atomic *indexes; /* per key: made on first use, NULL before */
};

/* For the checker: what opening may forgive. */
enum gguf_lenience {
	GGUF_OPEN_CUT = 1,   /* tensors beyond the end of the file */
	GGUF_OPEN_ALONE = 2, /* a shard without its set */
};
int gguf_open_with(struct gguf **out, const char *path, unsigned lenience, struct gguf_error *e);

/* Reads header and tables of f->input into the rest of f. On failure f holds what file_free takes. */
int file_parse(struct file *f, unsigned lenience, struct gguf_error *e);
/*
 * Judges the offset of tensor i, the last that was read, by the one before it; it still counts from the start of the
 * data.
 */
int place_tensor(struct file *f, size_t i, struct gguf_error *e);
/*
 * With the header at its end: offsets of f->tensors count from the start of the file from now on, which has to hold
 * them.
 */
int place_data(struct file *f, unsigned lenience, struct gguf_error *e);
/* Two tensors of a table have one name; the second is of file f. */
int fail_twins(const struct file *f, const struct gguf_tensor *tensors, const size_t twins[2], struct gguf_error *e);
void file_free(struct file *f);

enum { QUOTED = 72 }; /* bytes of a name in a message */
/* The name of t for a message, in quoted, which is returned. */
static inline const char *name_of(const struct gguf_tensor *t, char quoted[QUOTED])
{
	return gguf_quote(quoted, QUOTED, t->name.p, t->name.n);
}

/* What one value takes at least, in bytes of the file; 0 for an unknown type. */
unsigned value_width(uint32_t type, bool narrow);
/* Moves past a value of that type; depth counts the arrays around it. */
void value_skip(struct cursor *c, uint32_t type, unsigned depth);
/* The cursor at a value of the first file. */
struct cursor file_cursor(const struct file *f, uint64_t at);

/* Turns whole blocks of a big-endian file round. -ENOTSUP for a type whose layout is not known well enough. */
int swap_blocks(uint32_t type, void *blocks, size_t nblocks);
/* In bytes of extent, by type: false when it overflows or a row is not whole blocks. */
bool gguf_extent_size(uint32_t type, const uint64_t extent[4], uint64_t *size);
#endif
