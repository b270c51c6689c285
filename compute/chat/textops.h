/* SPDX-License-Identifier: MIT */
/* Operations on text that methods and filters share. */
#ifndef TEXTOPS_H
#define TEXTOPS_H
#include "run.h"

enum strip_sides { STRIP_LEFT = 1, STRIP_RIGHT = 2 };
/* str.strip(chars); chars NULL: whitespace. */
struct str *strip_text(struct run *r, struct str *s, const struct str *chars, unsigned sides);
/* str.replace(old, new, count); count < 0: all. */
struct str *replace_text(struct run *r, const struct str *s, const struct str *old, const struct str *new,
			 int64_t count);
struct list *split_lines(struct run *r, const struct str *s, bool keep_ends);
/* str.split() on whitespace. */
struct list *split_space(struct run *r, const struct str *s, int64_t limit);
/* separator.join(items), each item by str() when any is true, else it must be a string. */
struct str *join_text(struct run *r, const struct str *separator, const struct list *items, bool any);
struct str *center_text(struct run *r, struct str *s, int64_t width);
struct str *upper_text(struct run *r, const struct str *s);
struct str *lower_text(struct run *r, const struct str *s);
/* First character in title case, the others lower. */
struct str *capitalize_text(struct run *r, const struct str *s);
bool is_lower_text(const struct str *s);
bool is_upper_text(const struct str *s);
/* &<>'" as HTML entities, marked safe; a safe text as it is. */
struct str *escape_html(struct run *r, struct str *s);
#endif
