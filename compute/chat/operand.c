/* SPDX-License-Identifier: MIT */
/* What operators work upon: constants, names, brackets, and what stands behind them: indexes, calls, filters, tests. */
#include "parser.h"

struct node *node_of(struct parser *p, enum node_kind kind, struct node *a, struct node *b)
{
	struct node *n = node_new(p, kind);

	n->line = a->line;
	n->at = a->at;
	n->a = node_under(p, n, a);
	n->b = node_under(p, n, b);
	return n;
}

static struct node *parse_constant(struct parser *p, struct value v)
{
	struct node *n = node_new(p, N_CONST);

	n->value = v;
	next(p);
	return n;
}

static struct node *parse_strings(struct parser *p)
{
	struct node *n = node_new(p, N_CONST);
	struct str *s = p->token->s;

	for (next(p); at(p, T_STRING); next(p))
		s = str_concat(p->j, s, p->token->s);
	s->buf = NULL; /* the template's memory is not to be written when it runs, */
	str_chars(s);  /* nor the count in s */
	n->value = v_str(s);
	return n;
}

static struct node *parse_name(struct parser *p)
{
	static const struct { const char *name; enum value_type type; bool b;
	} words[] = {
		{ "true", V_BOOL, true },   { "True", V_BOOL, true },  { "false", V_BOOL, false },
		{ "False", V_BOOL, false }, { "none", V_NONE, false }, { "None", V_NONE, false },
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (at_name(p, words[i].name))
			return parse_constant(p, words[i].type == V_BOOL ? v_bool(words[i].b) : v_none());
	struct node *n = node_new(p, N_NAME);
	n->name = intern(p, p->token->s);
	p->seen |= n->name == p->t->caller ? NODE_CALLER : n->name == p->t->varargs ? NODE_VARARGS :
		   n->name == p->t->kwargs ? NODE_KWARGS : 0;
	next(p);
	return n;
}

/* What stands between brackets of any kind: items, between commas; pairs: each is a key, a colon and a value. */
static struct node *parse_items(struct parser *p, enum node_kind kind, enum token_kind open, enum token_kind close,
				bool pairs)
{
	struct node *n = node_new(p, kind);

	expect(p, open);
	while (!at(p, close)) {
		if (n->list.n)
			expect(p, T_COMMA);
		if (at(p, close))
			break;
		node_add(p, n, &n->list, parse_expression(p, true));
		if (!pairs)
			continue;
		expect(p, T_COLON);
		node_add(p, n, &n->list, parse_expression(p, true));
	}
	next(p);
	return n;
}

struct node *parse_primary(struct parser *p)
{
	struct node *n;

	switch (p->token->kind) {
	case T_NAME:
		return parse_name(p);
	case T_STRING:
		return parse_strings(p);
	case T_INT:
		return parse_constant(p, v_int(p->token->i));
	case T_FLOAT:
		return parse_constant(p, v_float(p->token->f));
	case T_LPAREN:
		next(p);
		n = parse_tuple(p, true, NULL, true);
		expect(p, T_RPAREN);
		return n;
	case T_LBRACKET:
		return parse_items(p, N_LIST, T_LBRACKET, T_RBRACKET, false);
	case T_LBRACE:
		return parse_items(p, N_DICT, T_LBRACE, T_RBRACE, true);
	default:
		parse_fail(p, "unexpected '%s'", token_name(p->token->kind));
	}
}

static bool slice_ends(const struct parser *p)
{
	return at(p, T_COLON) || at(p, T_RBRACKET) || at(p, T_COMMA);
}

/* One index, or a slice. */
static struct node *parse_index(struct parser *p)
{
	struct node *first = NULL, *n;

	if (!at(p, T_COLON)) {
		first = parse_expression(p, true);
		if (!at(p, T_COLON))
			return first;
	}
	n = node_new(p, N_SLICE);
	n->a = node_under(p, n, first);
	next(p);
	if (!slice_ends(p))
		n->b = node_under(p, n, parse_expression(p, true));
	if (skip_if(p, T_COLON) && !slice_ends(p))
		n->c = node_under(p, n, parse_expression(p, true));
	return n;
}

static struct node *parse_brackets(struct parser *p)
{
	struct node *tuple = node_new(p, N_TUPLE);

	while (!at(p, T_RBRACKET)) {
		if (tuple->list.n)
			expect(p, T_COMMA);
		node_add(p, tuple, &tuple->list, parse_index(p));
	}
	next(p);
	return tuple->list.n == 1 ? tuple->list.v[0] : tuple;
}

static struct node *parse_dot(struct parser *p, struct node *object)
{
	struct node *n;

	if (at(p, T_INT)) {
		n = node_of(p, N_ITEM, object, parse_constant(p, v_int(p->token->i)));
	} else if (at(p, T_NAME)) {
		n = node_of(p, N_ATTR, object, NULL);
		n->name = intern(p, p->token->s);
		next(p);
	} else {
		parse_fail(p, "expected name or number");
	}
	return n;
}

/* Python's order: plain ones, then keywords and *x, then **x. */
static void parse_argument(struct parser *p, struct node *call)
{
	struct node *n, *last = call->list.n ? call->list.v[call->list.n - 1] : NULL;
	enum node_kind after = last ? last->kind : N_CONST;

	if (at(p, T_MUL) || at(p, T_POW)) {
		n = node_new(p, at(p, T_MUL) ? N_SPREAD : N_SPREADKW);
		next(p);
	} else if (at(p, T_NAME) && look(p)->kind == T_ASSIGN) {
		n = node_new(p, N_KEYWORD);
		n->name = intern(p, p->token->s);
		n->value = v_str(&n->name->s);
		next(p);
		next(p);
	} else {
		if (after == N_KEYWORD || after == N_SPREAD || after == N_SPREADKW)
			parse_fail(p, "invalid syntax for function call expression");
		node_add(p, call, &call->list, parse_expression(p, true));
		return;
	}
	if (after == N_SPREADKW || (n->kind == N_SPREAD && after == N_SPREAD))
		parse_fail(p, "invalid syntax for function call expression");
	n->a = node_under(p, n, parse_expression(p, true));
	node_add(p, call, &call->list, n);
}

static void parse_arguments(struct parser *p, struct node *call)
{
	expect(p, T_LPAREN);
	while (!at(p, T_RPAREN)) {
		if (call->list.n)
			expect(p, T_COMMA);
		if (at(p, T_RPAREN))
			break;
		parse_argument(p, call);
	}
	next(p);
}

static struct node *parse_call(struct parser *p, struct node *callee)
{
	struct node *n = node_of(p, N_CALL, callee, NULL);

	n->line = p->token->line;
	parse_arguments(p, n);
	return n;
}

struct node *parse_postfix(struct parser *p, struct node *n)
{
	for (;;) {
		if (skip_if(p, T_DOT))
			n = parse_dot(p, n);
		else if (skip_if(p, T_LBRACKET))
			n = node_of(p, N_ITEM, n, parse_brackets(p));
		else if (at(p, T_LPAREN))
			n = parse_call(p, n);
		else
			return n;
	}
}

/* Names of filters and tests may have dots. */
static struct name *parse_dotted(struct parser *p)
{
	struct str *s = expect(p, T_NAME)->s;

	while (skip_if(p, T_DOT)) {
		s = str_concat(p->j, s, str_literal(p->j, "."));
		s = str_concat(p->j, s, expect(p, T_NAME)->s);
	}
	return intern(p, s);
}

static struct node *parse_filter(struct parser *p, struct node *operand)
{
	struct node *n = node_new(p, N_FILTER);

	n->a = node_under(p, n, operand);
	n->name = parse_dotted(p);
	n->builtin = filter_find(&n->name->s);
	if (!n->builtin && !p->optional)
		parse_fail(p, "No filter named '%.*s'.", (int)n->name->s.n, n->name->s.p);
	if (at(p, T_LPAREN))
		parse_arguments(p, n);
	return n;
}

struct node *parse_filters(struct parser *p, struct node *operand, bool inline_first)
{
	if (inline_first)
		operand = parse_filter(p, operand);
	while (skip_if(p, T_PIPE))
		operand = parse_filter(p, operand);
	return operand;
}

/* A test takes one argument without brackets: "is divisibleby 3". */
static bool bare_argument(const struct parser *p)
{
	switch (p->token->kind) {
	case T_NAME:
		return !at_name(p, "else") && !at_name(p, "or") && !at_name(p, "and");
	case T_STRING: case T_INT: case T_FLOAT: case T_LBRACKET: case T_LBRACE:
		return true;
	default:
		return false;
	}
}

static struct node *parse_test(struct parser *p, struct node *operand)
{
	bool negated = skip_name(p, "not");
	struct node *n = node_of(p, N_TEST, operand, NULL);

	n->name = parse_dotted(p);
	n->builtin = test_find(&n->name->s);
	if (!n->builtin && !p->optional)
		parse_fail(p, "No test named '%.*s'.", (int)n->name->s.n, n->name->s.p);
	if (at(p, T_LPAREN)) {
		parse_arguments(p, n);
	} else if (bare_argument(p)) {
		if (at_name(p, "is"))
			parse_fail(p, "You cannot chain multiple tests with is");
		node_add(p, n, &n->list, parse_postfix(p, parse_primary(p)));
	}
	return negated ? node_of(p, N_NOT, n, NULL) : n;
}

struct node *parse_filters_and_tests(struct parser *p, struct node *n)
{
	for (;;) {
		if (skip_if(p, T_PIPE))
			n = parse_filter(p, n);
		else if (skip_name(p, "is"))
			n = parse_test(p, n);
		else if (at(p, T_LPAREN))
			n = parse_call(p, n);
		else
			return n;
	}
}
