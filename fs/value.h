/* SPDX-License-Identifier: MIT */
/* Values of metadata as text: one to a file, an array's items one a line, all of them as JSON. */
#ifndef FS_VALUE_H
#define FS_VALUE_H
#include "text.h"

/* A value that is no array, and a newline: a string's bytes are unchanged. */
void value_print(const struct gguf_value *v, struct out *o);
/* Bytes as a line shows them: backslash, newline, tab and other control bytes are escaped. */
void value_escape(struct out *o, struct gguf_bytes s);

/* The items of key i's array, one a line; an array inside is one line of JSON. */
text_step array_step;
/* metadata.json: one object, a key a line. i is 0. */
text_step json_step;
#endif
