/* SPDX-License-Identifier: MIT */
/* Values that take the place of a model's own: KEY=TYPE:VALUE, as llama.cpp's --override-kv has them. */
#ifndef OVERRIDE_H
#define OVERRIDE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum override_type { OVERRIDE_INT, OVERRIDE_FLOAT, OVERRIDE_BOOL, OVERRIDE_STR };
enum { OVERRIDE_TEXT = 128, OVERRIDES_MAX = 32 }; /* bytes of a key or text with its NUL; of one source */

struct override {
	char key[OVERRIDE_TEXT]; /* whole; one that begins with a dot is a setting of whatever architecture the model
				    has */
	enum override_type type;
	int64_t i;
	double f;
	bool b;
	char s[OVERRIDE_TEXT];
};

struct overrides {
	struct override item[OVERRIDES_MAX];
	size_t n;
};

/*
 * Adds those of text, "KEY=TYPE:VALUE,..." with TYPE int, float, bool or str; a backslash keeps a comma from ending a
 * value. Returns NULL, or what is wrong with the text.
 */
const char *overrides_add(struct overrides *o, const char *text);
/* Adds one of a number. */
const char *overrides_add_int(struct overrides *o, const char *key, int64_t v);
const char *overrides_add_float(struct overrides *o, const char *key, double v);
const char *overrides_add_str(struct overrides *o, const char *key, const char *v);
/* The last one given for key, or NULL. */
const struct override *overrides_find(const struct overrides *o, const char *key);
#endif
