/* SPDX-License-Identifier: MIT */
/* JSON to values, and values to JSON as Python's json.dumps writes them. */
#ifndef CHAT_JSON_H
#define CHAT_JSON_H
#include "run.h"
#include <jansson.h>

/* Shares the text of json. */
struct value value_of_json(struct job *j, const json_t *json);

struct json_style {
	bool ascii, sort;
	const struct str *indent; /* NULL: one line */
	const struct str *item, *key; /* separators */
};
struct str *to_json(struct run *r, struct value v, const struct json_style *style);
#endif
