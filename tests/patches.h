/* SPDX-License-Identifier: MIT */
/* A whole model with one thing changed: what a reader takes, and a program that runs or checks it must not. */
#ifndef PATCHES_H
#define PATCHES_H
#include "build.h"
#include "gguf.h"
struct patch {
	const char *name, *from;
	const char *key;   /* what is changed: a key, or a tensor when value starts with "data" or "name" */
	const char *value; /* a script of build() for type and value; NULL: the key is taken out; */
			   /* "name NEW" renames the tensor, "data N HEX" writes over its bytes from N */
	const char *fsck;  /* what fsck.gguf --deep says; NULL: nothing */
	const char *run;   /* what gguf-run says when it refuses; NULL: it may run, but must not crash */
};
extern const struct patch patches[];
extern const size_t patch_count;
/* The model in a version 3 file, with the patch, appended to b. */
void patch_model(struct build *b, const struct gguf *g, const struct patch *p);
#endif
