/* SPDX-License-Identifier: MIT */
/* Methods of strings about kinds of characters: case mappings and the is... questions. */
#include "textops.h"

typedef unsigned case_fn(uint32_t c, uint32_t out[3]);

static void put_case(struct buf *b, uint32_t c, case_fn *map)
{
	uint32_t out[3];
	unsigned n = map(c, out);

	for (unsigned i = 0; i < n; i++)
		buf_char(b, out[i]);
}

/* Whether the sigma at i ends a word, and is therefore written otherwise in lower case. */
static bool final_sigma(const struct str *s, size_t i)
{
	size_t len, before = i;
	bool cased = false;

	while (before && !cased) {
		size_t k = utf8_last(s->p, before);
		uint32_t c = utf8_get(s->p + before - k, k, &len);

		if (c != '\'' && c != '.' && c != 0xad && c != 0x2019 && !uc_cased(c))
			break;
		cased = uc_cased(c);
		before -= k;
	}
	utf8_get(s->p + i, s->n - i, &len);
	for (i += len; cased && i < s->n; i += len) {
		uint32_t c = utf8_get(s->p + i, s->n - i, &len);

		if (c != '\'' && c != '.' && c != 0xad && c != 0x2019)
			return !uc_cased(c);
	}
	return cased;
}

/* Lower case of the character at i, which depends on its neighbours for sigma alone. */
static void put_lower(struct buf *b, const struct str *s, size_t i, uint32_t c)
{
	if (c == 0x3a3 && final_sigma(s, i))
		buf_char(b, 0x3c2);
	else
		put_case(b, c, uc_to_lower);
}

static struct str *map_text(struct run *r, const struct str *s, case_fn *map)
{
	struct buf b = { .j = &r->job };
	size_t len;

	job_charge(&r->job, s->n / 8);
	for (size_t i = 0; i < s->n; i += len) {
		uint32_t c = utf8_get(s->p + i, s->n - i, &len);

		if (map == uc_to_lower)
			put_lower(&b, s, i, c);
		else
			put_case(&b, c, map);
	}
	return str_marked(buf_take(&b), s->safe);
}

struct str *upper_text(struct run *r, const struct str *s)
{
	return map_text(r, s, uc_to_upper);
}

struct str *lower_text(struct run *r, const struct str *s)
{
	return map_text(r, s, uc_to_lower);
}

struct str *capitalize_text(struct run *r, const struct str *s)
{
	struct buf b = { .j = &r->job };
	size_t len;

	job_charge(&r->job, s->n / 8);
	for (size_t i = 0; i < s->n; i += len) {
		uint32_t c = utf8_get(s->p + i, s->n - i, &len);

		if (i)
			put_lower(&b, s, i, c);
		else
			put_case(&b, c, uc_to_title);
	}
	return str_marked(buf_take(&b), s->safe);
}

static struct value m_upper(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_str(upper_text(r, a[0].s));
}

static struct value m_lower(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_str(lower_text(r, a[0].s));
}

static struct value m_casefold(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_str(map_text(r, a[0].s, uc_fold));
}

static struct value m_capitalize(struct run *r, const struct value *a, const struct args *all)
{
	(void)all;
	return v_str(capitalize_text(r, a[0].s));
}

static struct value m_title(struct run *r, const struct value *a, const struct args *all)
{
	struct buf b = { .j = &r->job };
	const struct str *s = a[0].s;
	bool inside = false;
	size_t len;

	(void)all;
	job_charge(&r->job, s->n / 8);
	for (size_t i = 0; i < s->n; i += len) {
		uint32_t c = utf8_get(s->p + i, s->n - i, &len);

		if (inside)
			put_lower(&b, s, i, c);
		else
			put_case(&b, c, uc_to_title);
		inside = uc_cased(c);
	}
	return v_str(str_marked(buf_take(&b), s->safe));
}

static struct value m_swapcase(struct run *r, const struct value *a, const struct args *all)
{
	struct buf b = { .j = &r->job };
	const struct str *s = a[0].s;
	size_t len;

	(void)all;
	job_charge(&r->job, s->n / 8);
	for (size_t i = 0; i < s->n; i += len) {
		uint32_t c = utf8_get(s->p + i, s->n - i, &len);

		if (uc_upper(c))
			put_lower(&b, s, i, c);
		else
			put_case(&b, c, uc_lower(c) ? uc_to_upper : uc_to_lower);
	}
	return v_str(str_marked(buf_take(&b), s->safe));
}

/* ---- questions ---- */

static bool all_chars(const struct str *s, bool (*is)(uint32_t c), bool empty)
{
	size_t len;

	for (size_t i = 0; i < s->n; i += len)
		if (!is(utf8_get(s->p + i, s->n - i, &len)))
			return false;
	return s->n || empty;
}

/* Cased characters are all of one case, and there is one. */
static bool one_case(const struct str *s, bool (*is)(uint32_t c))
{
	bool any = false;
	size_t len;

	for (size_t i = 0; i < s->n; i += len) {
		uint32_t c = utf8_get(s->p + i, s->n - i, &len);

		if (is(c))
			any = true;
		else if (uc_cased(c))
			return false;
	}
	return any;
}

bool is_lower_text(const struct str *s)
{
	return one_case(s, uc_lower);
}

bool is_upper_text(const struct str *s)
{
	return one_case(s, uc_upper);
}

static bool is_title_text(const struct str *s)
{
	bool inside = false, any = false;
	size_t len;

	for (size_t i = 0; i < s->n; i += len) {
		uint32_t c = utf8_get(s->p + i, s->n - i, &len);
		bool upper = uc_upper(c) || uc_title(c);

		if ((upper && inside) || (uc_lower(c) && !inside))
			return false;
		inside = uc_cased(c);
		any |= inside;
	}
	return any;
}

static bool alnum(uint32_t c)
{
	return uc_alpha(c) || uc_decimal(c) || uc_digit(c) || uc_numeric(c);
}

static bool ascii(uint32_t c)
{
	return c < 0x80;
}

static bool word(uint32_t c)
{
	return c == '_' || uc_alpha(c) || uc_decimal(c);
}

static bool is_identifier(const struct str *s)
{
	return all_chars(s, word, false) && !(s->p[0] >= '0' && s->p[0] <= '9');
}

/* One question of the language: its name, the characters it asks for, what it says of the empty text. */
#define QUESTIONS(Q) \
	Q(isalpha, all_chars(s, uc_alpha, false)) Q(isalnum, all_chars(s, alnum, false)) \
	Q(isdecimal, all_chars(s, uc_decimal, false)) Q(isdigit, all_chars(s, uc_digit, false)) \
	Q(isnumeric, all_chars(s, uc_numeric, false)) Q(isspace, all_chars(s, uc_space, false)) \
	Q(isprintable, all_chars(s, uc_printable, true)) Q(isascii, all_chars(s, ascii, true)) \
	Q(islower, is_lower_text(s)) Q(isupper, is_upper_text(s)) Q(istitle, is_title_text(s)) \
	Q(isidentifier, is_identifier(s))
#define Q(name, answer) \
	static struct value m_##name(struct run *r, const struct value *a, const struct args *all) \
	{ \
		const struct str *s = a[0].s; \
		(void)all; \
		job_charge(&r->job, s->n / 8); \
		return v_bool(answer); \
	}
QUESTIONS(Q)
#undef Q

const struct builtin case_methods[] = {
	{ "upper", m_upper, "self" },
	{ "lower", m_lower, "self" },
	{ "casefold", m_casefold, "self" },
	{ "capitalize", m_capitalize, "self" },
	{ "title", m_title, "self" },
	{ "swapcase", m_swapcase, "self" },
#define Q(name, answer) { #name, m_##name, "self" },
	QUESTIONS(Q)
#undef Q
	{ .name = NULL },
};
