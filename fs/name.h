/* SPDX-License-Identifier: MIT */
/*
 * Names of keys and tensors as file names, and back. '/', '%' and control bytes become %XX; ".", ".." and the empty
 * name become "%2E", "%2E%2E" and "%". What would pass 255 bytes is cut on a character boundary and ends in "%~" and
 * the entry's number, which no whole name does.
 */
#ifndef FS_NAME_H
#define FS_NAME_H
#include "gguf.h"

enum { NAME_LONGEST = 255, NAME_SIZE = NAME_LONGEST + 1 };

/* Writes the file name of entry number `number`, terminated. Returns its length. */
size_t name_encode(char out[NAME_SIZE], struct gguf_bytes exact, uint64_t number);

struct name {
	bool cut;
	uint64_t number; /* of a cut name */
	size_t n;        /* of a whole one: its exact bytes */
	char exact[NAME_SIZE];
};
/* Takes a file name apart. -ENOENT for one that name_encode never makes; a cut one has still to be compared. */
int name_decode(struct name *out, const char *file, size_t n);
#endif
