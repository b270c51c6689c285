/* SPDX-License-Identifier: MIT */
/* A parsed template: a tree of nodes. */
#ifndef NODE_H
#define NODE_H
#include "builtin.h"

/*
 * What the fields mean:          a         b          c          list         more
 */
#define EXPRESSIONS(N) \
	N(CONST)     /*                                                         value */ \
	N(NAME)      /*                                                         name */ \
	N(LIST)      /*                                            items */ \
	N(TUPLE)     /*                                            items */ \
	N(DICT)      /*                                            key, value, ... */ \
	N(ATTR)      /*   object                                                name */ \
	N(ITEM)      /*   object    index or SLICE */ \
	N(SLICE)     /*   start     stop       step (or NULL) */ \
	N(CALL)      /*   callee                                   arguments */ \
	N(FILTER)    /*   operand                                  arguments    name, builtin */ \
	N(TEST)      /*   operand                                  arguments    name, builtin */ \
	N(INPUT)     /*   the body of a filter block or set block */ \
	N(NOT)       /*   operand */ \
	N(NEG)       /*   operand */ \
	N(POS)       /*   operand */ \
	N(AND)       /*   left      right */ \
	N(OR)        /*   left      right */ \
	N(COND)      /*   then      condition  else or NULL */ \
	N(CONCAT)    /*                                            items */ \
	N(COMPARE)   /*   left                                     the operands, each with its op */ \
	N(ARITH)     /*   left      right                                       op */
#define STATEMENTS(N) \
	N(TEXT)      /*                                                         value */ \
	N(PRINT)     /*   expression */ \
	N(IF)        /*   NULL in else   -     next IF    body */ \
	N(FOR)       /*   target    iterable   test       body         orelse, flags RECURSIVE */ \
	N(SET)       /*   target    value */ \
	N(SETBLOCK)  /*   target    filter                body */ \
	N(MACRO)     /*                                   body         name, params, defaults, flags */ \
	N(CALLBLOCK) /*   MACRO     call */ \
	N(FILTERED)  /*             filter                body */ \
	N(WITH)      /*                                   body         params: targets, defaults: values */ \
	N(SCOPE)     /*                                   body */ \
	N(BREAK) \
	N(CONTINUE) \
	N(NSREF)     /*   a target: namespace name in value.s, attribute in name */ \
	N(OPERAND)   /*   value                                                 op */ \
	N(KEYWORD)   /*   value                                                 name (value.s) */ \
	N(SPREAD)    /*   *value */ \
	N(SPREADKW)  /*   **value */
enum node_kind {
#define N(name) N_##name,
	EXPRESSIONS(N) STATEMENTS(N)
#undef N
	NODE_KINDS
};

#define COMPARISONS(C) \
	C(EQ, "==") C(NE, "!=") C(LT, "<") C(LE, "<=") C(GT, ">") C(GE, ">=") C(IN, "in") C(NOTIN, "not in")
#define ARITHMETIC(A) A(ADD, "+") A(SUB, "-") A(MUL, "*") A(DIV, "/") A(FLOORDIV, "//") A(MOD, "%") A(POW, "**")
enum operation {
#define A(name, text) OP_##name,
	COMPARISONS(A) ARITHMETIC(A)
#undef A
	OPERATIONS
};

enum node_flags {
	NODE_RECURSIVE = 1,
	NODE_CALLER = 2, NODE_VARARGS = 4, NODE_KWARGS = 8, /* a macro's body speaks of these */
};

struct nodes {
	struct node **v;
	size_t n, cap;
};

/* A name, once per template: equal names are equal pointers. */
struct name {
	struct str s;
	uint64_t hash;
	struct name *next;
};

struct node {
	enum node_kind kind;
	enum operation op;
	unsigned flags;
	unsigned line, depth; /* depth: levels below, this one included */
	size_t at;
	struct node *a, *b, *c;
	struct nodes list, orelse, params, defaults;
	struct name *name;
	struct value value;
	const struct builtin *builtin;
};

struct template {
	struct job memory;
	struct nodes body;
	struct name *caller, *varargs, *kwargs, *loop;
};

/* Parses the text into t, whose memory.out is set. */
void parse(struct template *t, const char *text, size_t n);
#endif
