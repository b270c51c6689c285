/* SPDX-License-Identifier: MIT */
/* Shared by parser.c (statements), expression.c (operators) and operand.c (what they work upon). */
#ifndef PARSER_H
#define PARSER_H
#include "lexer.h"
#include "node.h"

enum { NAME_SLOTS = 1024 };

struct parser {
	struct job *j;
	struct template *t;
	const struct token *token; /* the current one */
	struct name *slots[NAME_SLOTS];
	unsigned loops;            /* open ones in this macro */
	unsigned optional;         /* open ifs: what they guard need not exist */
	unsigned seen;             /* enum node_flags of special names met in the macro */
};

__attribute__((format(printf, 2, 3), noreturn))
void parse_fail(struct parser *p, const char *fmt, ...);
bool at(const struct parser *p, enum token_kind kind);
bool at_name(const struct parser *p, const char *name);
bool skip_if(struct parser *p, enum token_kind kind);
bool skip_name(struct parser *p, const char *name);
void next(struct parser *p);
const struct token *expect(struct parser *p, enum token_kind kind);
const struct token *look(const struct parser *p);

struct name *intern(struct parser *p, const struct str *s);
struct node *node_new(struct parser *p, enum node_kind kind);
/* Adds child to list of parent, or notes that it is parent's field; keeps parent->depth. */
void node_add(struct parser *p, struct node *parent, struct nodes *list, struct node *child);
struct node *node_under(struct parser *p, struct node *parent, struct node *child);

/* One more level of recursion; every parse_enter() has its parse_leave(). */
void parse_enter(struct parser *p);
void parse_leave(struct parser *p);

/* A node of that kind where a is, upon a and b (which may be NULL). */
struct node *node_of(struct parser *p, enum node_kind kind, struct node *a, struct node *b);
/* A constant, a name, or something in brackets; then its attributes, indexes and calls; then its filters and tests. */
struct node *parse_primary(struct parser *p);
struct node *parse_postfix(struct parser *p, struct node *n);
struct node *parse_filters_and_tests(struct parser *p, struct node *n);

struct node *parse_expression(struct parser *p, bool conditional);
/* Expressions with commas are a tuple. end: a name that ends it too, or NULL. */
struct node *parse_tuple(struct parser *p, bool conditional, const char *end, bool parentheses);
struct node *parse_target(struct parser *p, const char *end, bool namespaces);
/* A row of filters upon operand; inline: the first one has no '|' before it. */
struct node *parse_filters(struct parser *p, struct node *operand, bool inline_first);
#endif
