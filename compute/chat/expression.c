/* SPDX-License-Identifier: MIT */
/* Operators, from the tightest to the loosest; tuples, and what can be assigned to. */
#include "parser.h"

static struct node *parse_unary(struct parser *p, bool filters)
{
	struct node *n;

	parse_enter(p);
	if (at(p, T_SUB) || at(p, T_ADD)) {
		enum node_kind kind = at(p, T_SUB) ? N_NEG : N_POS;

		next(p);
		n = node_of(p, kind, parse_unary(p, false), NULL);
	} else {
		n = parse_primary(p);
	}
	n = parse_postfix(p, n);
	if (filters)
		n = parse_filters_and_tests(p, n);
	parse_leave(p);
	return n;
}

/* Binary operators of one level, tightest first; all of them bind to the left, ** too. */
struct level {
	struct { enum token_kind token; enum operation op; } ops[5];
};
static const struct level pow_level = { { { T_POW, OP_POW } } };
static const struct level product_level = {
	{ { T_MUL, OP_MUL }, { T_DIV, OP_DIV }, { T_FLOORDIV, OP_FLOORDIV }, { T_MOD, OP_MOD } }
};
static const struct level sum_level = { { { T_ADD, OP_ADD }, { T_SUB, OP_SUB } } };

static bool operator_of(const struct parser *p, const struct level *l, enum operation *op)
{
	for (size_t i = 0; i < 5 && l->ops[i].op; i++)
		if (at(p, l->ops[i].token)) {
			*op = l->ops[i].op;
			return true;
		}
	return false;
}

static struct node *parse_pow(struct parser *p)
{
	struct node *n = parse_unary(p, true);
	enum operation op;

	while (operator_of(p, &pow_level, &op)) {
		next(p);
		n = node_of(p, N_ARITH, n, parse_unary(p, true));
		n->op = op;
	}
	return n;
}

static struct node *parse_product(struct parser *p)
{
	struct node *n = parse_pow(p);
	enum operation op;

	while (operator_of(p, &product_level, &op)) {
		next(p);
		n = node_of(p, N_ARITH, n, parse_pow(p));
		n->op = op;
	}
	return n;
}

static struct node *parse_concat(struct parser *p)
{
	struct node *first = parse_product(p), *n;

	if (!at(p, T_TILDE))
		return first;
	n = node_new(p, N_CONCAT);
	node_add(p, n, &n->list, first);
	while (skip_if(p, T_TILDE))
		node_add(p, n, &n->list, parse_product(p));
	return n;
}

static struct node *parse_sum(struct parser *p)
{
	struct node *n = parse_concat(p);
	enum operation op;

	while (operator_of(p, &sum_level, &op)) {
		next(p);
		n = node_of(p, N_ARITH, n, parse_concat(p));
		n->op = op;
	}
	return n;
}

static bool skip_comparison(struct parser *p, enum operation *op)
{
	static const struct { enum token_kind token; enum operation op; } ops[] = {
		{ T_EQ, OP_EQ }, { T_NE, OP_NE }, { T_LT, OP_LT }, { T_LE, OP_LE }, { T_GT, OP_GT }, { T_GE, OP_GE },
	};

	for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
		if (skip_if(p, ops[i].token)) {
			*op = ops[i].op;
			return true;
		}
	*op = OP_IN;
	if (skip_name(p, "in"))
		return true;
	if (!at_name(p, "not") || look(p)->kind != T_NAME || !str_is(look(p)->s, "in"))
		return false;
	*op = OP_NOTIN;
	next(p);
	next(p);
	return true;
}

static struct node *parse_compare(struct parser *p)
{
	struct node *first = parse_sum(p), *n = NULL;
	enum operation op;

	while (skip_comparison(p, &op)) {
		struct node *operand = node_new(p, N_OPERAND);

		if (!n)
			n = node_of(p, N_COMPARE, first, NULL);
		operand->op = op;
		operand->a = node_under(p, operand, parse_sum(p));
		node_add(p, n, &n->list, operand);
	}
	return n ? n : first;
}

static struct node *parse_not(struct parser *p)
{
	struct node *n;

	if (!skip_name(p, "not"))
		return parse_compare(p);
	parse_enter(p);
	n = node_of(p, N_NOT, parse_not(p), NULL);
	parse_leave(p);
	return n;
}

static struct node *parse_and(struct parser *p)
{
	struct node *n = parse_not(p);

	while (skip_name(p, "and"))
		n = node_of(p, N_AND, n, parse_not(p));
	return n;
}

static struct node *parse_or(struct parser *p)
{
	struct node *n = parse_and(p);

	while (skip_name(p, "or"))
		n = node_of(p, N_OR, n, parse_and(p));
	return n;
}

struct node *parse_expression(struct parser *p, bool conditional)
{
	struct node *n;

	parse_enter(p);
	n = parse_or(p);
	while (conditional && skip_name(p, "if")) {
		p->optional++;
		n = node_of(p, N_COND, n, parse_or(p));
		if (skip_name(p, "else"))
			n->c = node_under(p, n, parse_expression(p, true));
		p->optional--;
	}
	parse_leave(p);
	return n;
}

static bool tuple_ends(const struct parser *p, const char *end)
{
	return at(p, T_VAR_END) || at(p, T_BLOCK_END) || at(p, T_RPAREN) || (end && at_name(p, end));
}

struct node *parse_tuple(struct parser *p, bool conditional, const char *end, bool parentheses)
{
	struct node *n = node_new(p, N_TUPLE);
	bool tuple = false;

	while (!tuple_ends(p, end)) {
		node_add(p, n, &n->list, parse_expression(p, conditional));
		if (!skip_if(p, T_COMMA))
			break;
		tuple = true;
	}
	if (!tuple && n->list.n)
		return n->list.v[0];
	if (!tuple && !parentheses)
		parse_fail(p, "Expected an expression, got '%s'", token_name(p->token->kind));
	return n;
}

static struct node *parse_target_item(struct parser *p, const char *end, bool namespaces)
{
	struct node *n;

	if (skip_if(p, T_LPAREN)) {
		parse_enter(p);
		n = parse_target(p, end, namespaces);
		parse_leave(p);
		expect(p, T_RPAREN);
		return n;
	}
	if (!at(p, T_NAME))
		parse_fail(p, "can't assign to '%s'", token_name(p->token->kind));
	n = parse_primary(p);
	if (n->kind != N_NAME)
		parse_fail(p, "can't assign to a constant");
	if (namespaces && skip_if(p, T_DOT)) {
		n->kind = N_NSREF;
		n->value = v_str(&n->name->s);
		n->a = node_new(p, N_NAME);
		n->a->name = n->name;
		n->name = intern(p, expect(p, T_NAME)->s);
	}
	return n;
}

struct node *parse_target(struct parser *p, const char *end, bool namespaces)
{
	struct node *n = node_new(p, N_TUPLE);
	bool tuple = false;

	while (!tuple_ends(p, end)) {
		node_add(p, n, &n->list, parse_target_item(p, end, namespaces));
		if (!skip_if(p, T_COMMA))
			break;
		tuple = true;
	}
	if (!n->list.n)
		parse_fail(p, "Expected an expression, got '%s'", token_name(p->token->kind));
	return tuple ? n : n->list.v[0];
}
