/* SPDX-License-Identifier: MIT */
/* Files that a reader must refuse, or take although they look odd: each known mistake of a GGUF reader has its row. */
#ifndef CASES_H
#define CASES_H
#include <stddef.h>
struct gguf_case {
	const char *name;   /* becomes a file name */
	const char *from;   /* the report, advisory or test that it stands for */
	const char *script; /* of build() */
	const char *text;   /* what the refusal must contain; NULL: it opens */
};
extern const struct gguf_case gguf_cases[];
extern const size_t gguf_case_count;
#endif
