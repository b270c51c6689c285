/* SPDX-License-Identifier: MIT */
/* Values as text: str() and repr() of Python, and the % operator of strings. */
#include "format.h"
#include "textops.h"
#include <math.h>
#include <string.h>

/* A text being read, and the arguments that are left. */
struct filling {
	struct run *r;
	struct buf b;
	const char *p, *end;
	/* for % */
	struct value v;
	size_t next;         /* of a tuple's items */
	/* for braces */
	const struct args *args;
	const struct dict *map;
	size_t automatic;    /* {} met so far */
	bool manual;         /* {0} met */
	unsigned nested;
	bool safe;           /* the text is */
};

/* What is filled into a safe text is escaped. */
static struct str *escaped(struct filling *f, struct str *s)
{
	return f->safe ? escape_html(f->r, s) : s;
}

static bool take(struct filling *f, char c)
{
	if (f->p >= f->end || *f->p != c)
		return false;
	f->p++;
	return true;
}

/* Digits at the place, or -1. */
static int64_t take_number(struct filling *f)
{
	int64_t n = 0;

	if (f->p >= f->end || *f->p < '0' || *f->p > '9')
		return -1;
	for (; f->p < f->end && *f->p >= '0' && *f->p <= '9'; f->p++)
		if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *f->p - '0', &n) || n > INT32_MAX)
			run_fail(f->r, "Too many decimal digits in format string");
	return n;
}

/* ---- % ---- */

static struct value next_argument(struct filling *f)
{
	if (f->v.type != V_TUPLE && !f->next++)
		return f->v;
	if (f->v.type != V_TUPLE || f->next >= f->v.l->n)
		run_fail(f->r, "not enough arguments for format string");
	return f->v.l->v[f->next++];
}

/* %(name): brackets inside the name are counted. */
static struct value named_argument(struct filling *f)
{
	const char *start = f->p;
	unsigned open = 1;

	for (; f->p < f->end && open; f->p++)
		open += *f->p == '(' ? 1 : *f->p == ')' ? -1u : 0;
	if (open)
		run_fail(f->r, "incomplete format key");
	if (f->v.type != V_DICT)
		run_fail(f->r, "format requires a mapping");
	struct str *name = str_new(&f->r->job, start, (size_t)(f->p - 1 - start));
	const struct value *v = dict_get(&f->r->job, f->v.d, v_str(name));
	if (!v)
		run_fail(f->r, "KeyError: '%.*s'", (int)name->n, name->p);
	f->next = 1;
	return *v;
}

static int64_t star_or_number(struct filling *f)
{
	if (!take(f, '*'))
		return take_number(f);
	return want_int(f->r, next_argument(f), 0);
}

static void percent_flags(struct filling *f, struct spec *s)
{
	for (; f->p < f->end && strchr("#0- +", *f->p) && *f->p; f->p++) {
		if (*f->p == '#')
			s->alternate = true;
		else if (*f->p == '-')
			s->align = '<';
		else if (*f->p == '0')
			s->fill = s->align == '<' ? ' ' : '0';
		else
			s->sign = *f->p == '+' || s->sign == '+' ? '+' : ' ';
	}
}

static void percent_text(struct filling *f, struct value v, struct spec *s, char type)
{
	struct str *text = escaped(f, type == 's' ? to_str(f->r, v) : to_repr(f->r, v));

	if (s->precision >= 0 && (size_t)s->precision < str_chars(text))
		text = str_part(&f->r->job, text, 0, str_offset(text, (size_t)s->precision));
	s->fill = ' ';
	put_padded(f->r, &f->b, text, s, s->align == '<' ? '<' : '>');
}

static void percent_number(struct filling *f, struct value v, struct spec *s, char type)
{
	bool real = strchr("eEfFgG", type) != NULL;

	if (v.type == V_UNDEFINED)
		undefined_fail(f->r, v);
	if (!is_number(v) || (v.type == V_FLOAT && strchr("xXo", type)))
		run_fail(f->r, real ? "must be real number, not %s" : "%%d format: a real number is required, not %s",
			 type_name(v));
	s->type = type == 'i' || type == 'u' ? 'd' : type;
	if (s->fill == '0' && s->align != '<')
		s->align = '=';
	if (real) {
		format_value(f->r, &f->b, v_float(number_double(v)), s);
		return;
	}
	if (v.type == V_FLOAT && !(fabs(v.f) < 0x1p63))
		run_fail(f->r, "cannot convert float to integer");
	s->precision = -1;
	format_value(f->r, &f->b, v.type == V_FLOAT ? v_int((int64_t)v.f) : v, s);
}

static void percent_char(struct filling *f, struct value v, struct spec *s)
{
	s->fill = ' ';
	s->sign = 0;
	s->align = s->align == '<' ? '<' : '>';
	if (v.type == V_STRING && str_chars(v.s) == 1) {
		put_padded(f->r, &f->b, v.s, s, s->align);
		return;
	}
	if (v.type != V_INT)
		run_fail(f->r, "%%c requires int or char");
	s->type = 'c';
	format_value(f->r, &f->b, v, s);
}

static void percent_item(struct filling *f)
{
	struct spec s = { .fill = ' ', .width = -1, .precision = -1 };
	struct value v = { .type = V_ABSENT };

	if (take(f, '('))
		v = named_argument(f);
	percent_flags(f, &s);
	s.width = star_or_number(f);
	if (take(f, '.')) {
		s.precision = star_or_number(f);
		s.precision = s.precision < 0 ? 0 : s.precision;
	}
	while (f->p < f->end && strchr("hlL", *f->p) && *f->p)
		f->p++;
	if (f->p >= f->end)
		run_fail(f->r, "incomplete format");
	char type = *f->p++;
	if (type == '%') {
		buf_add(&f->b, "%", 1);
		return;
	}
	if (!type || !strchr("diouxXeEfFgGcrsa", type))
		run_fail(f->r, "unsupported format character '%c'", type);
	v = given(v) ? v : next_argument(f);
	if (strchr("rsa", type))
		percent_text(f, v, &s, type);
	else if (type == 'c')
		percent_char(f, v, &s);
	else
		percent_number(f, v, &s, type);
}

/* What Python takes for a mapping here: such a value need not be used up. */
static bool subscriptable(struct value v)
{
	return v.type == V_DICT || v.type == V_LIST || v.type == V_RANGE || v.type == V_UNDEFINED;
}

struct str *format_percent(struct run *r, const struct str *text, struct value v)
{
	struct filling f = { .r = r, .b = { .j = &r->job }, .p = text->p, .end = text->p + text->n, .v = v,
			     .safe = text->safe };

	while (f.p < f.end) {
		const char *q = memchr(f.p, '%', (size_t)(f.end - f.p));

		job_charge(&r->job, 1);
		buf_add(&f.b, f.p, (size_t)((q ? q : f.end) - f.p));
		f.p = q ? q + 1 : f.end;
		if (q)
			percent_item(&f);
	}
	bool all = v.type == V_TUPLE ? f.next >= v.l->n : f.next || subscriptable(v);
	if (!all)
		run_fail(r, "not all arguments converted during string formatting");
	return str_marked(buf_take(&f.b), text->safe);
}

/* ---- braces ---- */

static struct str *fill_braces(struct filling *f, char stop);

static struct value positional(struct filling *f, int64_t i)
{
	if (f->map || (uint64_t)i >= f->args->n)
		run_fail(f->r, "Replacement index %lld out of range for positional args tuple", (long long)i);
	return f->args->v[i];
}

static struct value named(struct filling *f, const struct str *name)
{
	if (f->map) {
		struct str s = *name;
		const struct value *v = dict_get(&f->r->job, f->map, v_str(&s));

		if (v)
			return *v;
	}
	for (size_t i = 0; !f->map && i < f->args->nkw; i++)
		if (str_same(f->args->kw[i].name, name))
			return f->args->kw[i].value;
	run_fail(f->r, "KeyError: '%.*s'", (int)name->n, name->p);
}

static struct str *until(struct filling *f, const char *stops)
{
	const char *start = f->p;

	while (f->p < f->end && !(*f->p && strchr(stops, *f->p)))
		f->p++;
	return str_new(&f->r->job, start, (size_t)(f->p - start));
}

/* {} counts up, {0} is a place, {name} a keyword; the first two do not mix. */
static struct value field_start(struct filling *f)
{
	struct str *first = until(f, ".[!:}");
	int64_t i;

	if (!first->n) {
		if (f->manual)
			run_fail(f->r, "cannot switch from manual field specification to automatic field numbering");
		return positional(f, (int64_t)f->automatic++);
	}
	if (first->p[0] < '0' || first->p[0] > '9' || !number_int(first, 10, &i))
		return named(f, first);
	if (f->automatic)
		run_fail(f->r, "cannot switch from automatic field numbering to manual field specification");
	f->manual = true;
	return positional(f, i);
}

static struct value field(struct filling *f)
{
	struct value v = field_start(f);
	int64_t i;

	while (f->p < f->end && (*f->p == '.' || *f->p == '[')) {
		job_charge(&f->r->job, 1);
		if (take(f, '.')) {
			v = get_attribute(f->r, v, until(f, ".[!:}"));
			continue;
		}
		f->p++;
		struct str *key = until(f, "]");
		if (!take(f, ']'))
			run_fail(f->r, "expected '}' before end of string");
		v = get_item(f->r, v, key->n && number_int(key, 10, &i) ? v_int(i) : v_str(key));
	}
	return v;
}

static void read_alignment(struct filling *f, struct spec *s)
{
	size_t len;

	if (f->p >= f->end)
		return;
	uint32_t c = utf8_get(f->p, (size_t)(f->end - f->p), &len);
	if ((size_t)(f->end - f->p) > len && strchr("<>^=", f->p[len]) && f->p[len]) {
		s->fill = c;
		s->align = f->p[len];
		f->p += len + 1;
	} else if (c < 0x80 && c && strchr("<>^=", (int)c)) {
		s->align = (char)c;
		f->p++;
	}
}

static void read_spec(struct run *r, const struct str *text, bool number, struct spec *s)
{
	struct filling f = { .r = r, .p = text->p, .end = text->p + text->n };

	read_alignment(&f, s);
	if (f.p < f.end && *f.p && strchr("+- ", *f.p))
		s->sign = *f.p++;
	s->alternate = take(&f, '#');
	if (f.p < f.end && *f.p == '0') {
		f.p++;
		s->fill = s->align ? s->fill : '0';
		s->align = s->align ? s->align : number ? '=' : '<';
	}
	s->width = take_number(&f);
	if (f.p < f.end && (*f.p == ',' || *f.p == '_'))
		s->group = *f.p++;
	if (take(&f, '.') && (s->precision = take_number(&f)) < 0)
		run_fail(r, "Format specifier missing precision");
	if (f.p < f.end)
		s->type = *f.p++;
	if (f.p < f.end)
		run_fail(r, "Invalid format specifier");
}

/* What is between braces; the specification may itself have braces, one level deep. */
static void brace_field(struct filling *f)
{
	struct spec s = { .fill = ' ', .width = -1, .precision = -1 };
	struct value v = field(f);

	if (take(f, '!')) {
		char how = f->p < f->end ? *f->p++ : 0;

		if (how != 'r' && how != 's' && how != 'a')
			run_fail(f->r, "Unknown conversion specifier");
		v = v_str(how == 's' ? to_str(f->r, v) : to_repr(f->r, v));
	}
	if (take(f, ':')) {
		struct filling inner = *f;

		if (++inner.nested > 2)
			run_fail(f->r, "Max string recursion exceeded");
		inner.b = (struct buf){ .j = &f->r->job };
		read_spec(f->r, fill_braces(&inner, '}'), v.type != V_STRING, &s);
		f->p = inner.p;
		f->automatic = inner.automatic;
	}
	if (!take(f, '}'))
		run_fail(f->r, "expected '}' before end of string");
	struct buf text = { .j = &f->r->job };
	format_value(f->r, &text, v, &s);
	buf_str(&f->b, v.type == V_STRING && v.s->safe ? buf_take(&text) : escaped(f, buf_take(&text)));
}

/* Text up to stop (0: the end). */
static struct str *fill_braces(struct filling *f, char stop)
{
	while (f->p < f->end && !(stop && *f->p == stop)) {
		char c = *f->p++;

		job_charge(&f->r->job, 1);
		if (c == '{' && !stop && take(f, '{'))
			buf_add(&f->b, "{", 1);
		else if (c == '{')
			brace_field(f);
		else if (c == '}' && !take(f, '}'))
			run_fail(f->r, "Single '}' encountered in format string");
		else
			buf_add(&f->b, &c, 1);
	}
	return buf_take(&f->b);
}

struct str *format_braces(struct run *r, const struct str *text, const struct args *args, const struct dict *map)
{
	struct filling f = { .r = r, .b = { .j = &r->job }, .p = text->p, .end = text->p + text->n, .args = args,
			     .map = map, .safe = text->safe };

	return str_marked(fill_braces(&f, 0), text->safe);
}
