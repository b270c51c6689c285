/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* memmem */
/* Statements, and what the parser stands on. */
#include "parser.h"
#include "dict.h"
#include <errno.h>
#include <string.h>

enum { MAX_NESTING = 400, MAX_DEPTH = 1500 };

typedef struct node *statement_fn(struct parser *p, struct node *n);
static void parse_body(struct parser *p, struct nodes *body, struct node *parent, const char *const *ends);

void parse_fail(struct parser *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	job_vfail(p->j, -EINVAL, p->token->at, p->token->line, fmt, ap);
}

bool at(const struct parser *p, enum token_kind kind)
{
	return p->token->kind == kind;
}

bool at_name(const struct parser *p, const char *name)
{
	return at(p, T_NAME) && str_is(p->token->s, name);
}

void next(struct parser *p)
{
	if (!at(p, T_EOF))
		p->token++;
}

const struct token *look(const struct parser *p)
{
	return p->token + !at(p, T_EOF);
}

bool skip_if(struct parser *p, enum token_kind kind)
{
	if (!at(p, kind))
		return false;
	next(p);
	return true;
}

bool skip_name(struct parser *p, const char *name)
{
	if (!at_name(p, name))
		return false;
	next(p);
	return true;
}

const struct token *expect(struct parser *p, enum token_kind kind)
{
	const struct token *t = p->token;

	if (at(p, T_NAME) && kind != T_NAME)
		parse_fail(p, "expected '%s', got '%.*s'", token_name(kind), (int)t->s->n, t->s->p);
	if (t->kind != kind)
		parse_fail(p, "expected '%s', got '%s'", token_name(kind), token_name(t->kind));
	next(p);
	return t;
}

struct name *intern(struct parser *p, const struct str *s)
{
	uint64_t hash = bytes_hash(s->p, s->n);
	struct name **slot = &p->slots[hash % NAME_SLOTS];

	for (struct name *n = *slot; n; n = n->next)
		if (n->hash == hash && str_same(&n->s, s))
			return n;
	struct name *n = job_alloc(p->j, sizeof *n);
	n->s = *s;
	n->s.buf = NULL;
	str_chars(&n->s);
	n->hash = hash;
	n->next = *slot;
	return *slot = n;
}

struct node *node_new(struct parser *p, enum node_kind kind)
{
	struct node *n = job_alloc(p->j, sizeof *n);

	n->kind = kind;
	n->line = p->token->line;
	n->at = p->token->at;
	n->depth = 1;
	return n;
}

struct node *node_under(struct parser *p, struct node *parent, struct node *child)
{
	if (child && child->depth >= parent->depth)
		parent->depth = child->depth + 1;
	if (parent->depth > MAX_DEPTH)
		parse_fail(p, "the expression is too long or too deep");
	return child;
}

void node_add(struct parser *p, struct node *parent, struct nodes *list, struct node *child)
{
	if (list->n == list->cap) {
		list->cap = list->cap ? 2 * list->cap : 4;
		list->v = job_grow(p->j, list->v, list->n, list->cap, sizeof *list->v);
	}
	list->v[list->n++] = parent ? node_under(p, parent, child) : child;
}

void parse_enter(struct parser *p)
{
	if (++p->j->depth > MAX_NESTING)
		parse_fail(p, "nested too deeply");
}

void parse_leave(struct parser *p)
{
	p->j->depth--;
}

static struct name *word(struct parser *p, const char *text)
{
	return intern(p, str_literal(p->j, text));
}

/* The body of n up to one of ends, which becomes the current token. */
static void statement_body(struct parser *p, struct nodes *body, struct node *n, const char *const *ends)
{
	skip_if(p, T_COLON);
	expect(p, T_BLOCK_END);
	parse_body(p, body, n, ends);
}

static void body_until(struct parser *p, struct node *n, const char *end)
{
	statement_body(p, &n->list, n, (const char *const[]){ end, NULL });
	next(p);
}

/* Filters and tests inside may be unknown, as long as they are not reached: templates ask for them first. */
static struct node *parse_if(struct parser *p, struct node *n)
{
	static const char *const ends[] = { "elif", "else", "endif", NULL };
	struct node *last = n;

	p->optional++;
	last->a = node_under(p, last, parse_tuple(p, false, NULL, false));
	statement_body(p, &last->list, last, ends);
	while (!skip_name(p, "endif")) {
		bool more = skip_name(p, "elif");
		struct node *arm = node_new(p, N_IF);

		if (more)
			arm->a = node_under(p, arm, parse_tuple(p, false, NULL, false));
		else
			next(p);
		statement_body(p, &arm->list, arm, more ? ends : ends + 2);
		node_under(p, n, arm);
		last = last->c = arm;
	}
	p->optional--;
	return n;
}

static struct node *parse_for(struct parser *p, struct node *n)
{
	unsigned optional = p->optional;

	n->a = parse_target(p, "in", false);
	if (!skip_name(p, "in"))
		parse_fail(p, "expected 'in'");
	n->b = node_under(p, n, parse_tuple(p, false, "recursive", false));
	if (skip_name(p, "if"))
		n->c = node_under(p, n, parse_expression(p, true));
	n->flags = skip_name(p, "recursive") ? NODE_RECURSIVE : 0;
	p->loops++;
	p->optional = 0;
	statement_body(p, &n->list, n, (const char *const[]){ "else", "endfor", NULL });
	p->loops--;
	if (skip_name(p, "else"))
		statement_body(p, &n->orelse, n, (const char *const[]){ "endfor", NULL });
	next(p);
	p->optional = optional;
	return n;
}

static struct node *parse_set(struct parser *p, struct node *n)
{
	n->a = parse_target(p, NULL, true);
	if (skip_if(p, T_ASSIGN)) {
		n->b = node_under(p, n, parse_tuple(p, true, NULL, false));
		return n;
	}
	n->kind = N_SETBLOCK;
	n->b = node_under(p, n, parse_filters(p, node_new(p, N_INPUT), false));
	body_until(p, n, "endset");
	return n;
}

static struct node *parse_parameter(struct parser *p)
{
	struct node *n = node_new(p, N_NAME);

	n->name = intern(p, expect(p, T_NAME)->s);
	return n;
}

static void parse_signature(struct parser *p, struct node *n)
{
	expect(p, T_LPAREN);
	while (!at(p, T_RPAREN)) {
		if (n->params.n)
			expect(p, T_COMMA);
		node_add(p, n, &n->params, parse_parameter(p));
		if (skip_if(p, T_ASSIGN))
			node_add(p, n, &n->defaults, parse_expression(p, true));
		else if (n->defaults.n)
			parse_fail(p, "non-default argument follows default argument");
	}
	next(p);
}

/* The body of a macro or a call block, and which special names it uses. */
static void macro_body(struct parser *p, struct node *n, const char *end)
{
	unsigned seen = p->seen, loops = p->loops, optional = p->optional;

	p->seen = p->loops = p->optional = 0;
	body_until(p, n, end);
	n->flags = p->seen;
	for (size_t i = 0; i < n->params.n; i++)
		if (n->params.v[i]->name == p->t->kwargs)
			n->flags &= ~(unsigned)NODE_KWARGS;
		else if (n->params.v[i]->name == p->t->varargs)
			n->flags &= ~(unsigned)NODE_VARARGS;
		else if (n->params.v[i]->name == p->t->caller)
			n->flags &= ~(unsigned)NODE_CALLER;
	p->seen |= seen;
	p->loops = loops;
	p->optional = optional;
}

static struct node *parse_macro(struct parser *p, struct node *n)
{
	n->name = intern(p, expect(p, T_NAME)->s);
	parse_signature(p, n);
	macro_body(p, n, "endmacro");
	return n;
}

static struct node *parse_call_block(struct parser *p, struct node *n)
{
	struct node *m = node_new(p, N_MACRO);

	m->name = p->t->caller;
	if (at(p, T_LPAREN))
		parse_signature(p, m);
	n->b = node_under(p, n, parse_expression(p, true));
	if (n->b->kind != N_CALL)
		parse_fail(p, "expected call");
	macro_body(p, m, "endcall");
	n->a = node_under(p, n, m);
	return n;
}

static struct node *parse_filter_block(struct parser *p, struct node *n)
{
	n->b = node_under(p, n, parse_filters(p, node_new(p, N_INPUT), true));
	body_until(p, n, "endfilter");
	return n;
}

static struct node *parse_with(struct parser *p, struct node *n)
{
	while (!at(p, T_BLOCK_END) && !at(p, T_COLON)) {
		if (n->params.n)
			expect(p, T_COMMA);
		node_add(p, n, &n->params, parse_target(p, NULL, false));
		expect(p, T_ASSIGN);
		node_add(p, n, &n->defaults, parse_expression(p, true));
	}
	body_until(p, n, "endwith");
	return n;
}

/* Marks what the model wrote, for training; here only a scope. */
static struct node *parse_generation(struct parser *p, struct node *n)
{
	body_until(p, n, "endgeneration");
	return n;
}

/* There is nothing to inherit from, so a block is its body. */
static struct node *parse_block(struct parser *p, struct node *n)
{
	const struct token *name = expect(p, T_NAME);

	skip_name(p, "scoped");
	body_until(p, n, "endblock");
	if (at(p, T_NAME) && str_same(p->token->s, name->s))
		next(p);
	return n;
}

static struct node *parse_autoescape(struct parser *p, struct node *n)
{
	struct node *on = parse_expression(p, true);

	if (on->kind != N_CONST || on->value.type != V_BOOL || on->value.b)
		parse_fail(p, "only {%% autoescape false %%} is supported: a prompt is not HTML");
	body_until(p, n, "endautoescape");
	return n;
}

static struct node *parse_print(struct parser *p, struct node *n)
{
	struct node *concat = node_new(p, N_CONCAT);

	while (!at(p, T_BLOCK_END)) {
		if (concat->list.n)
			expect(p, T_COMMA);
		node_add(p, concat, &concat->list, parse_expression(p, true));
	}
	n->a = node_under(p, n, concat);
	return n;
}

static struct node *parse_jump(struct parser *p, struct node *n)
{
	if (!p->loops)
		parse_fail(p, "'%s' outside loop", n->kind == N_BREAK ? "break" : "continue");
	return n;
}

static struct node *refuse_files(struct parser *p, struct node *n)
{
	(void)n;
	parse_fail(p, "a chat template cannot load other templates");
}

static const struct statement { const char *name; enum node_kind kind; statement_fn *parse; } statements[] = {
	{ "if", N_IF, parse_if },
	{ "for", N_FOR, parse_for },
	{ "set", N_SET, parse_set },
	{ "macro", N_MACRO, parse_macro },
	{ "call", N_CALLBLOCK, parse_call_block },
	{ "filter", N_FILTERED, parse_filter_block },
	{ "with", N_WITH, parse_with },
	{ "generation", N_SCOPE, parse_generation },
	{ "block", N_SCOPE, parse_block },
	{ "autoescape", N_SCOPE, parse_autoescape },
	{ "print", N_PRINT, parse_print },
	{ "break", N_BREAK, parse_jump },
	{ "continue", N_CONTINUE, parse_jump },
	{ "extends", N_SCOPE, refuse_files },
	{ "include", N_SCOPE, refuse_files },
	{ "import", N_SCOPE, refuse_files },
	{ "from", N_SCOPE, refuse_files },
};

/* The tag that closes: the last one of those that may follow. */
static const char *closing(const char *const *ends)
{
	while (ends[1])
		ends++;
	return *ends;
}

static struct node *parse_statement(struct parser *p, const char *const *ends)
{
	if (!at(p, T_NAME))
		parse_fail(p, "tag name expected");
	for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
		if (at_name(p, statements[i].name)) {
			struct node *n = node_new(p, statements[i].kind);

			next(p);
			return statements[i].parse(p, n);
		}
	const struct str *s = p->token->s;
	if (ends)
		parse_fail(p, "Encountered unknown tag '%.*s'; '%s' has not come yet", (int)s->n, s->p, closing(ends));
	parse_fail(p, "Encountered unknown tag '%.*s'.", (int)s->n, s->p);
}

static bool at_any(const struct parser *p, const char *const *ends)
{
	for (; ends && *ends; ends++)
		if (at_name(p, *ends))
			return true;
	return false;
}

static struct node *parse_output(struct parser *p)
{
	struct node *n = node_new(p, N_PRINT);

	next(p);
	n->a = node_under(p, n, parse_tuple(p, true, NULL, false));
	expect(p, T_VAR_END);
	return n;
}

static struct node *parse_text(struct parser *p)
{
	struct node *n = node_new(p, N_TEXT);

	n->value = v_str(p->token->s);
	next(p);
	return n;
}

/* Statements and text up to a tag of ends (NULL: the end of the template). */
static void parse_body(struct parser *p, struct nodes *body, struct node *parent, const char *const *ends)
{
	parse_enter(p);
	while (!at(p, T_EOF)) {
		if (at(p, T_DATA)) {
			node_add(p, parent, body, parse_text(p));
			continue;
		}
		if (at(p, T_VAR_BEGIN)) {
			node_add(p, parent, body, parse_output(p));
			continue;
		}
		expect(p, T_BLOCK_BEGIN);
		if (at_any(p, ends))
			break;
		node_add(p, parent, body, parse_statement(p, ends));
		expect(p, T_BLOCK_END);
	}
	if (ends && at(p, T_EOF))
		parse_fail(p, "Unexpected end of template: '%s' is missing (for line %u)", closing(ends), parent->line);
	parse_leave(p);
}

/* Whether the text is one of Go's templates, which some files have in this place. */
static bool is_go(const char *text, size_t n, unsigned *line)
{
	static const char *const words[] = { ".", "$", "if .", "range .", "range $", "with ." };
	const char *p = text, *end = text + n;

	if (memmem(text, n, "{%", 2))
		return false;
	while ((p = memmem(p, (size_t)(end - p), "{{", 2))) {
		p += 2;
		p += p < end && *p == '-';
		while (p < end && *p == ' ')
			p++;
		for (size_t i = 0; i < sizeof words / sizeof *words; i++)
			if ((size_t)(end - p) >= strlen(words[i]) && !memcmp(p, words[i], strlen(words[i]))) {
				for (*line = 1; text < p; text++)
					*line += *text == '\n';
				return true;
			}
	}
	return false;
}

void parse(struct template *t, const char *text, size_t n)
{
	struct tokens_of tokens = { .n = 0 };
	struct parser *p = job_alloc(&t->memory, sizeof *p);
	unsigned line;

	if (is_go(text, n, &line))
		job_fail(&t->memory, -EINVAL, 0, line, "this is a Go template, as Ollama uses them, and not Jinja");
	p->j = &t->memory;
	p->t = t;
	t->caller = word(p, "caller");
	t->varargs = word(p, "varargs");
	t->kwargs = word(p, "kwargs");
	t->loop = word(p, "loop");
	lex(p->j, text, n, &tokens);
	p->token = tokens.v;
	parse_body(p, &t->body, NULL, NULL);
}
