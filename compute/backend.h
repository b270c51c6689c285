/* SPDX-License-Identifier: MIT */
/* What stands behind a source: a .gguf file (file.c) or a directory (tree.c). */
#ifndef BACKEND_H
#define BACKEND_H
#include "source.h"
#include <sys/stat.h>

/* What a getter asks for; the answer's field in use follows from it. */
enum want { WANT_U64, WANT_I64, WANT_F64, WANT_BOOL, WANT_STRING, WANT_STRINGS, WANT_F32S, WANT_I64S };

union answer {
	uint64_t u;
	int64_t i;
	double f;
	bool b;
	struct gguf_bytes s;
	struct answer_array {
		void *items; /* of struct gguf_bytes, float or int64_t */
		size_t n;
	} a;
};

struct backend {
	void (*close)(void *impl);
	bool (*has)(void *impl, const char *key);
	/* Arrays are malloced and become the caller's; bytes of strings stay the backend's. */
	int (*value)(void *impl, const char *key, enum want want, union answer *v, struct gguf_error *e);
	const char *(*key)(void *impl, size_t i);
	/* Lists the weights, without their data: *w is malloced and the caller's, names stay the backend's. */
	int (*list)(void *impl, struct weight **w, size_t *n, struct gguf_error *e);
	/* Points weight i at its mapped bytes. -ENOTSUP: they do not lie anywhere as they should be seen. */
	int (*map)(void *impl, size_t i, enum load_mode mode, struct weight *w, struct gguf_error *e);
	/* n bytes of weight i from offset. */
	int (*read)(void *impl, size_t i, void *buf, size_t n, uint64_t offset, struct gguf_error *e);
	/* Whether st is of a file that the weights come from. */
	bool (*holds)(void *impl, const struct stat *st);
};

static inline bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int source_file_open(void **impl, const char *path, struct gguf_error *e);
extern const struct backend backend_file;
int source_tree_open(void **impl, const char *path, struct gguf_error *e);
extern const struct backend backend_tree;
#endif
