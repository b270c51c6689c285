/* SPDX-License-Identifier: MIT */
/* Text of a template to tokens, with Jinja's whitespace control (trim_blocks and lstrip_blocks are on). */
#ifndef LEXER_H
#define LEXER_H
#include "value.h"

/* longest first where one starts another */
#define OPERATORS(O) \
	O(FLOORDIV, "//") O(POW, "**") O(EQ, "==") O(NE, "!=") O(GE, ">=") O(LE, "<=") O(GT, ">") O(LT, "<") \
	O(ADD, "+") O(SUB, "-") O(DIV, "/") O(MUL, "*") O(MOD, "%") O(TILDE, "~") O(ASSIGN, "=") O(DOT, ".") \
	O(COLON, ":") O(PIPE, "|") O(COMMA, ",") O(SEMICOLON, ";") O(LBRACKET, "[") O(RBRACKET, "]") O(LPAREN, "(") \
	O(RPAREN, ")") O(LBRACE, "{") O(RBRACE, "}")
#define TOKENS(O) \
	O(EOF, "end of template") O(DATA, "text") O(VAR_BEGIN, "{{") O(VAR_END, "}}") O(BLOCK_BEGIN, "{%") \
	O(BLOCK_END, "%}") O(NAME, "name") O(INT, "integer") O(FLOAT, "float") O(STRING, "string")
enum token_kind {
#define O(name, text) T_##name,
	OPERATORS(O) TOKENS(O)
#undef O
	T_KINDS
};

struct token {
	enum token_kind kind;
	unsigned line;
	size_t at;       /* byte in the template, its line ends being single newlines */
	struct str *s;   /* DATA, NAME, STRING */
	union {
		int64_t i;
		double f;
	};
};
struct tokens_of {
	struct token *v; /* the last one is T_EOF */
	size_t n, cap;
};

void lex(struct job *j, const char *text, size_t n, struct tokens_of *out);
/* How messages call a kind of token. */
const char *token_name(enum token_kind kind);
#endif
