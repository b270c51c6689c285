/* SPDX-License-Identifier: MIT */
/* Overrides are kept by value: texts of the command line are not looked at again. */
#include "override.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const too_many = "more than 32 overrides", *const too_long =
								      "a key or text is longer than 127 bytes";

static bool whole(const char *text, int64_t *v)
{
	char *end;

	errno = 0;
	*v = strtoll(text, &end, 10);
	return end != text && !*end && !errno;
}

static bool is_finite(const char *text, double *v)
{
	char *end;

	*v = strtod(text, &end);
	return end != text && !*end && isfinite(*v);
}

static const char *read_value(struct override *v, const char *type, const char *text)
{
	bool truth = !strcmp(text, "true");

	if (!strcmp(type, "int")) {
		v->type = OVERRIDE_INT;
		return whole(text, &v->i) ? NULL : "its value is not a whole number";
	}
	if (!strcmp(type, "float")) {
		v->type = OVERRIDE_FLOAT;
		return is_finite(text, &v->f) ? NULL : "its value is not a finite number";
	}
	if (!strcmp(type, "bool")) {
		v->type = OVERRIDE_BOOL;
		v->b = truth;
		return truth || !strcmp(text, "false") ? NULL : "its value is neither true nor false";
	}
	v->type = OVERRIDE_STR;
	strcpy(v->s, text); /* a part of an item, which is no longer than s */
	return strcmp(type, "str") ? "its type is none of int, float, bool and str" : NULL;
}

/* Adds one, which is taken apart in place. */
static const char *add_item(struct overrides *o, char *item)
{
	char *type = strchr(item, '='), *text = type ? strchr(type, ':') : NULL;
	struct override *v = &o->item[o->n];
	const char *wrong;

	if (o->n == OVERRIDES_MAX)
		return too_many;
	if (!text || type == item)
		return "not KEY=TYPE:VALUE";
	*type++ = *text++ = '\0';
	if (strlen(item) >= sizeof v->key || strlen(text) >= sizeof v->s)
		return too_long;
	*v = (struct override){ 0 };
	strcpy(v->key, item);
	wrong = read_value(v, type, text);
	o->n += !wrong;
	return wrong;
}

const char *overrides_add(struct overrides *o, const char *text)
{
	const char *wrong = NULL;

	do {
		char item[2 * OVERRIDE_TEXT + 16];
		size_t n = 0;

		for (; *text && *text != ','; text++) {
			if (*text == '\\' && text[1] == ',')
				text++;
			if (n + 1 == sizeof item)
				return too_long;
			item[n++] = *text;
		}
		item[n] = '\0';
		wrong = add_item(o, item);
	} while (!wrong && *text++);
	return wrong;
}

static struct override *add_named(struct overrides *o, const char *key, enum override_type type)
{
	struct override *v = &o->item[o->n];

	if (o->n == OVERRIDES_MAX || strlen(key) >= sizeof v->key)
		return NULL;
	*v = (struct override){ .type = type };
	strcpy(v->key, key);
	o->n++;
	return v;
}

const char *overrides_add_int(struct overrides *o, const char *key, int64_t i)
{
	struct override *v = add_named(o, key, OVERRIDE_INT);

	if (v)
		v->i = i;
	return v ? NULL : too_many;
}

const char *overrides_add_float(struct overrides *o, const char *key, double f)
{
	struct override *v = add_named(o, key, OVERRIDE_FLOAT);

	if (v)
		v->f = f;
	return v ? NULL : too_many;
}

const char *overrides_add_str(struct overrides *o, const char *key, const char *s)
{
	struct override *v = strlen(s) < OVERRIDE_TEXT ? add_named(o, key, OVERRIDE_STR) : NULL;

	if (v)
		strcpy(v->s, s);
	return v ? NULL : too_many;
}

static bool is_for(const struct override *v, const char *key)
{
	const char *dot = strchr(key, '.');

	return !strcmp(v->key[0] == '.' && dot ? dot : key, v->key);
}

const struct override *overrides_find(const struct overrides *o, const char *key)
{
	for (size_t i = o->n; i-- > 0;)
		if (is_for(&o->item[i], key))
			return &o->item[i];
	return NULL;
}
