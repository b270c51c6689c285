/* SPDX-License-Identifier: MIT */
/* The texts of a tree and what they mean. No files here. */
#ifndef TREEVAL_H
#define TREEVAL_H
#include "backend.h"

enum { NAME_ROOM = 256 }; /* a file name and its NUL */

/* The file name for a key or tensor. -ENOENT for one that would be too long (such names are cut, and not looked up). */
int text_escape_name(char *out, size_t room, const char *name);
/* The other way; out has as much room as file, and may be file. */
void text_unescape_name(char *out, const char *file);
/* Takes the backslashes of an array's item out, in place; false for one that means nothing. */
bool text_unescape_item(struct gguf_bytes *s);
/* n bytes (text[n] is NUL) as the getter wants them. Strings lie in text, which is changed for WANT_STRINGS. */
int text_value(char *text, size_t n, enum want want, union answer *v);
/* "a number", for messages. */
const char *text_kind(enum want want);
/* A type's name or number; "4096 32000"; "PATH OFFSET LENGTH", which leaves PATH alone in text. */
int text_type(const char *text, uint32_t *type);
int text_shape(const char *text, struct weight *w);
int text_location(char *text, uint64_t *offset, uint64_t *size);
/* Whether the size of w is what its type and shape make; true of a type that is not known. */
bool text_size_fits(const struct weight *w);
#endif
