/* SPDX-License-Identifier: MIT */
/* Values of the template language: Python's, as far as a chat template can see them. */
#ifndef VALUE_H
#define VALUE_H
#include "job.h"
#include "utf8.h"

/* name in C, name in Python's messages */
#define VALUE_TYPES(T) \
	T(ABSENT, "absent") /* an argument that was not given */ \
	T(UNDEFINED, "Undefined") T(NONE, "NoneType") T(BOOL, "bool") T(INT, "int") T(FLOAT, "float") \
	T(STRING, "str") T(LIST, "list") T(TUPLE, "tuple") T(DICT, "dict") T(NAMESPACE, "Namespace") \
	T(RANGE, "range") T(VIEW, "dict_items") T(ITERATOR, "generator") T(MACRO, "Macro") T(LOOP, "LoopContext") \
	T(FUNCTION, "function") T(METHOD, "builtin_function_or_method") T(CYCLER, "Cycler") T(JOINER, "Joiner")
enum value_type {
#define T(name, python) V_##name,
	VALUE_TYPES(T)
#undef T
	V_TYPES
};

struct value {
	enum value_type type;
	union {
		bool b;
		int64_t i;
		double f;
		struct str *s;
		struct list *l; /* LIST, TUPLE */
		struct dict *d; /* DICT, NAMESPACE */
		struct range *range;
		struct view *view;
		struct iterator *it;
		struct undefined *u; /* may be NULL */
		struct macro *macro;
		struct loop *loop;
		struct method *method;
		struct cycler *cycler;
		struct joiner *joiner;
		const struct builtin *fn;
	};
};

/* Immutable text. Several strs may share bytes. */
struct str {
	const char *p;
	size_t n;           /* bytes */
	size_t chars;       /* SIZE_MAX: not counted yet */
	struct strbuf *buf; /* where p is, when there may be room behind it; else NULL */
	bool safe;          /* Markup */
};
struct strbuf {
	size_t used, cap;
	char bytes[];
};

struct list {
	struct value *v;
	size_t n, cap;
	unsigned depth; /* of the lists and dicts inside, see nest() */
	bool grouped;   /* what groupby gives: has .grouper and .list */
};

struct pair {
	struct value key, value;
	uint64_t hash;
};
struct dict { /* in order of insertion; nothing is ever removed */
	struct pair *v;
	size_t n, cap;
	uint32_t *index; /* slots: number of the pair + 1, or 0. NULL for a small one */
	size_t slots;    /* a power of 2 */
	unsigned depth;
};

struct range {
	int64_t start, stop, step; /* stop only to be shown */
	uint64_t n;
};
struct view {
	struct dict *d;
	enum view_kind { VIEW_KEYS, VIEW_VALUES, VIEW_ITEMS } kind;
};
/* What map() and its like give: it can be walked once. */
struct iterator {
	const char *type;
	struct list *items; /* NULL: the function has not been called yet */
	size_t next;
	const struct builtin *fn;
	const struct value *a;
	const struct args *args;
};
struct undefined {
	struct str *hint; /* the whole message; else made of the others */
	struct value object, name; /* object ABSENT: a variable */
};
struct cycler {
	struct list *items;
	size_t next;
};
struct joiner {
	struct str *text;
	bool used;
};
struct method {
	struct value self;
	const struct builtin *fn;
};

/* ---- construction ---- */

static inline struct value v_none(void) { return (struct value){ .type = V_NONE }; }
static inline struct value v_bool(bool b) { return (struct value){ .type = V_BOOL, .b = b }; }
static inline struct value v_int(int64_t i) { return (struct value){ .type = V_INT, .i = i }; }
static inline struct value v_float(double f) { return (struct value){ .type = V_FLOAT, .f = f }; }
static inline struct value v_str(struct str *s) { return (struct value){ .type = V_STRING, .s = s }; }
static inline struct value v_list(struct list *l) { return (struct value){ .type = V_LIST, .l = l }; }
static inline struct value v_tuple(struct list *l) { return (struct value){ .type = V_TUPLE, .l = l }; }
static inline struct value v_dict(struct dict *d) { return (struct value){ .type = V_DICT, .d = d }; }
static inline bool given(struct value v) { return v.type != V_ABSENT; }

/* The bytes must stay where they are. */
struct str *str_new(struct job *j, const char *p, size_t n);
struct str *str_copy(struct job *j, const char *p, size_t n);
struct str *str_literal(struct job *j, const char *text);
/* Bytes from .. to of s, shared. */
struct str *str_part(struct job *j, const struct str *s, size_t from, size_t to);
/* a then b; linear over a row of appends. */
struct str *str_concat(struct job *j, const struct str *a, const struct str *b);
size_t str_chars(struct str *s);
/* Byte offset of character i (at most the number of characters). */
size_t str_offset(struct str *s, size_t i);
/* s, its flag set. */
static inline struct str *str_marked(struct str *s, bool safe)
{
	s->safe = safe;
	return s;
}
bool str_is(const struct str *s, const char *text);
bool str_same(const struct str *a, const struct str *b);

/* Bounds how deep values nest, so that walking them needs no care: *depth becomes that of a holder of v. */
void nest(struct job *j, unsigned *depth, struct value v);
struct list *list_new(struct job *j, size_t cap);
void list_push(struct job *j, struct list *l, struct value v);
struct value pair_tuple(struct job *j, struct value a, struct value b);

/* ---- text under construction ---- */

struct buf {
	struct job *j;
	char *p;
	size_t n, cap;
};
void buf_add(struct buf *b, const char *p, size_t n);
void buf_str(struct buf *b, const struct str *s);
void buf_text(struct buf *b, const char *text);
void buf_repeat(struct buf *b, const struct str *s, uint64_t times);
void buf_char(struct buf *b, uint32_t c);
struct str *buf_take(struct buf *b);
#endif
