/* SPDX-License-Identifier: MIT */
/* One value by a format specification. */
#include "format.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIGITS = 1000 };

static void put_fill(struct buf *b, uint32_t fill, int64_t times)
{
	char text[4];
	struct str s = { .p = text, .n = utf8_put(text, fill), .chars = 1 };

	buf_repeat(b, &s, times > 0 ? (uint64_t)times : 0);
}

void put_padded(struct run *r, struct buf *b, struct str *s, const struct spec *spec, char align)
{
	int64_t pad = spec->width - (int64_t)str_chars(s);
	int64_t left = align == '<' ? 0 : align == '^' ? pad / 2 : pad;

	(void)r;
	pad = pad > 0 ? pad : 0;
	left = left > 0 ? left : 0;
	put_fill(b, spec->fill, left);
	buf_str(b, s);
	put_fill(b, spec->fill, pad - left);
}

/* Digits with a separator every few of them, counted from the right; stop: where the whole part ends. */
static struct str *grouped(struct run *r, const char *digits, char group, int every)
{
	size_t whole = strspn(digits, "0123456789abcdefABCDEF");
	struct buf b = { .j = &r->job };

	for (size_t i = 0; i < whole; i++) {
		if (i && group && (whole - i) % (size_t)every == 0)
			buf_add(&b, &group, 1);
		buf_add(&b, digits + i, 1);
	}
	buf_text(&b, digits + whole);
	return buf_take(&b);
}

/* sign, prefix and digits, padded; '=' pads between. */
static void put_number(struct run *r, struct buf *b, bool minus, const char *prefix, struct str *digits,
		       const struct spec *s)
{
	struct buf text = { .j = &r->job };
	const char *sign = minus ? "-" : s->sign == '+' ? "+" : s->sign == ' ' ? " " : "";

	buf_text(&text, sign);
	buf_text(&text, prefix);
	if (s->align == '=')
		put_fill(&text, s->fill, s->width - (int64_t)(text.n + digits->n));
	buf_str(&text, digits);
	put_padded(r, b, buf_take(&text), s, s->align ? s->align : '>');
}

static void integer_digits(char *out, uint64_t u, unsigned base, bool upper)
{
	char text[65], *p = text + 64;

	*p = 0;
	do
		*--p = (upper ? "0123456789ABCDEF" : "0123456789abcdef")[u % base];
	while (u /= base);
	strcpy(out, p);
}

static void format_int(struct run *r, struct buf *b, int64_t i, const struct spec *s)
{
	static const struct { char type; unsigned base; const char *prefix; } bases[] = {
		{ 'x', 16, "0x" }, { 'X', 16, "0X" }, { 'o', 8, "0o" }, { 'b', 2, "0b" },
	};
	uint64_t u = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
	const char *prefix = "";
	unsigned base = 10;
	char digits[66];

	for (size_t k = 0; k < sizeof bases / sizeof *bases; k++)
		if (s->type == bases[k].type) {
			base = bases[k].base;
			prefix = s->alternate ? bases[k].prefix : "";
		}
	integer_digits(digits, u, base, s->type == 'X');
	put_number(r, b, i < 0, prefix, grouped(r, digits, s->group, base == 10 ? 3 : 4), s);
}

/* The shape "%.*X" for a type of float; a literal each, so that the compiler can check it. */
static void float_digits(char *out, size_t n, double f, char type, bool alternate, int precision)
{
	switch (type) {
	case 'e':
		snprintf(out, n, alternate ? "%#.*e" : "%.*e", precision, f);
		break;
	case 'f':
		snprintf(out, n, alternate ? "%#.*f" : "%.*f", precision, f);
		break;
	default:
		snprintf(out, n, alternate ? "%#.*g" : "%.*g", precision, f);
	}
}

/* Takes zeros behind a point off the end at e, and the point when nothing stays behind it. */
static void trim_zeros(char *text, char *e)
{
	if (!memchr(text, '.', (size_t)(e - text)))
		return;
	while (e[-1] == '0')
		*--e = 0;
	if (e[-1] == '.')
		e[-1] = 0;
}

/* No type but a precision: like g, with a digit behind the point where there is no exponent. */
static void general_digits(char *out, size_t n, double f, int precision)
{
	char tail[16];

	precision = precision > 0 ? precision : 1;
	snprintf(out, n, "%.*e", precision - 1, f);
	char *e = strchr(out, 'e');
	int exponent = atoi(e + 1);
	if (exponent >= -4 && exponent < precision - 1) {
		snprintf(out, n, "%.*g", precision, f);
		if (!strchr(out, '.'))
			strcat(out, ".0");
		return;
	}
	snprintf(tail, sizeof tail, "%s", e);
	*e = 0;
	trim_zeros(out, e);
	strcat(out, tail);
}

static void finite_digits(struct run *r, char *out, size_t n, double f, const struct spec *s)
{
	char type = (char)tolower((unsigned char)s->type);
	int precision = s->precision < 0 ? 6 : (int)s->precision;

	if (s->precision > MAX_DIGITS)
		run_fail(r, "precision too big");
	if (type == '%')
		float_digits(out, n, f * 100, 'f', s->alternate, precision);
	else if (type == 'n' || type == 'g' || type == 'e' || type == 'f')
		float_digits(out, n, f, type == 'n' ? 'g' : type, s->alternate, precision);
	else if (s->precision < 0)
		number_repr(out, f);
	else
		general_digits(out, n, f, precision);
}

static void format_float(struct run *r, struct buf *b, double f, const struct spec *s)
{
	char text[MAX_DIGITS + 400];
	double size = fabs(f);

	if (!isfinite(f))
		strcpy(text, isnan(f) ? "nan" : "inf");
	else
		finite_digits(r, text, sizeof text - 8, size, s);
	if (s->type >= 'A' && s->type <= 'Z')
		for (char *p = text; *p; p++)
			*p = (char)toupper((unsigned char)*p);
	if (s->type == '%')
		strcat(text, "%");
	put_number(r, b, signbit(f) && !isnan(f), "", isfinite(f) ? grouped(r, text, s->group, 3) :
		   str_copy(&r->job, text, strlen(text)), s);
}

static void format_string(struct run *r, struct buf *b, struct str *text, const struct spec *s)
{
	if (s->type && s->type != 's')
		run_fail(r, "Unknown format code '%c' for object of type 'str'", s->type);
	if (s->sign || s->alternate || s->group || s->align == '=')
		run_fail(r, "a sign, '#', ',' or '=' is not allowed in a string's format specifier");
	if (s->precision >= 0 && (size_t)s->precision < str_chars(text))
		text = str_part(&r->job, text, 0, str_offset(text, (size_t)s->precision));
	put_padded(r, b, text, s, s->align ? s->align : '<');
}

static bool plain(const struct spec *s)
{
	return !s->type && !s->align && !s->sign && !s->alternate && !s->group && s->width < 0 && s->precision < 0;
}

/* An integer by any type that takes one. */
static void format_whole(struct run *r, struct buf *b, int64_t i, const struct spec *s)
{
	if (s->type && strchr("eEfFgG%", s->type)) {
		format_float(r, b, (double)i, s);
	} else if (s->type == 'c') {
		char text[4];

		if (i < 0 || i > 0x10ffff)
			run_fail(r, "%%c arg not in range(0x110000)");
		put_padded(r, b, str_copy(&r->job, text, utf8_put(text, (uint32_t)i)), s, s->align ? s->align : '<');
	} else if (s->type && !strchr("bdoxXn", s->type)) {
		run_fail(r, "Unknown format code '%c' for object of type 'int'", s->type);
	} else {
		if (s->precision >= 0)
			run_fail(r, "Precision not allowed in integer format specifier");
		format_int(r, b, i, s);
	}
}

void format_value(struct run *r, struct buf *b, struct value v, const struct spec *s)
{
	if (plain(s)) {
		put_str(r, b, v);
	} else if (v.type == V_STRING) {
		format_string(r, b, v.s, s);
	} else if (v.type == V_BOOL && !s->type) {
		format_int(r, b, v.b, s);
	} else if (v.type == V_INT || v.type == V_BOOL) {
		format_whole(r, b, v.type == V_INT ? v.i : v.b, s);
	} else if (v.type == V_FLOAT) {
		if (s->type && !strchr("eEfFgGn%", s->type))
			run_fail(r, "Unknown format code '%c' for object of type 'float'", s->type);
		format_float(r, b, v.f, s);
	} else {
		run_fail(r, "unsupported format string passed to %s.__format__", type_name(v));
	}
}
