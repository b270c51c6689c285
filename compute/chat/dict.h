/* SPDX-License-Identifier: MIT */
/* Dictionaries in order of insertion. Keys compare as in Python: 1, 1.0 and true are one key. */
#ifndef DICT_H
#define DICT_H
#include "value.h"

uint64_t bytes_hash(const char *p, size_t n);
/* False for what Python cannot hash (lists, dicts). */
bool value_hash(struct job *j, struct value v, uint64_t *hash);

struct dict *dict_new(struct job *j);
/* The key must be hashable. */
void dict_put(struct job *j, struct dict *d, struct value key, struct value v);
const struct value *dict_get(struct job *j, const struct dict *d, struct value key);
const struct value *dict_find(struct job *j, const struct dict *d, const struct str *key, uint64_t hash);
#endif
