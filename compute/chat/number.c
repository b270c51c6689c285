/* SPDX-License-Identifier: MIT */
/* Arithmetic of Python's int and float, the ints 64 bits wide: what passes them is an error, not a wrong number. */
#include "number.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

/* Digits of a base with single underscores between them. Their length, 0 without any. */
static size_t digits(const char *p, size_t n, int base)
{
	size_t i = 0;

	while (i < n && digit_of(p[i]) < base) {
		i++;
		if (i + 1 < n && p[i] == '_' && digit_of(p[i + 1]) < base)
			i++;
	}
	return i;
}

static bool digits_value(const char *p, size_t n, int base, uint64_t *v)
{
	*v = 0;
	for (size_t i = 0; i < n; i++)
		if (p[i] != '_' && (__builtin_mul_overflow(*v, (uint64_t)base, v) ||
				    __builtin_add_overflow(*v, (uint64_t)digit_of(p[i]), v)))
			return false;
	return true;
}

/* The text is known to be a number; digits past 500 change nothing that a double can hold. */
static double float_of(const char *p, size_t n)
{
	char text[512];
	size_t k = 0;

	for (size_t i = 0; i < n && k + 1 < sizeof text; i++)
		if (p[i] != '_')
			text[k++] = p[i];
	text[k] = 0;
	return strtod(text, NULL);
}

/* The length of a decimal float's digits at p; *point tells whether it is more than an integer. */
static size_t float_length(const char *p, size_t n, bool *point)
{
	size_t i = digits(p, n, 10), k = 0;

	*point = false;
	if (i < n && p[i] == '.' && (k = digits(p + i + 1, n - i - 1, 10))) {
		i += 1 + k;
		*point = true;
	}
	if (i < n && (p[i] | 0x20) == 'e') {
		size_t sign = i + 1 < n && (p[i + 1] == '+' || p[i + 1] == '-');

		if ((k = digits(p + i + 1 + sign, n - i - 1 - sign, 10))) {
			i += 1 + sign + k;
			*point = true;
		}
	}
	return i;
}

/* 16, 8 or 2 after 0x, 0o or 0b; else 0. */
static int base_prefix(const char *p, size_t n)
{
	if (n < 2 || *p != '0')
		return 0;
	char c = p[1] | 0x20;
	return c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 0;
}

size_t number_literal(const char *p, size_t n, struct value *v)
{
	int base = base_prefix(p, n);
	size_t skip = base ? 2 + (n > 2 && p[2] == '_') : 0;
	size_t len = base ? digits(p + skip, n - skip, base) : 0;
	bool is_float = false;
	uint64_t u;

	if (!len) {
		base = 10;
		skip = 0;
		len = float_length(p, n, &is_float);
	}
	if (is_float) {
		*v = v_float(float_of(p, len));
		return len;
	}
	if (!digits_value(p + skip, len, base, &u) || u > INT64_MAX)
		return 0;
	*v = v_int((int64_t)u);
	return skip + len;
}

static void strip(const char **p, size_t *n)
{
	size_t len;

	while (*n && uc_space(utf8_get(*p, *n, &len))) {
		*p += len;
		*n -= len;
	}
	while (*n) {
		size_t k = utf8_last(*p, *n);

		if (!uc_space(utf8_get(*p + *n - k, k, &len)))
			break;
		*n -= k;
	}
}

bool number_int(const struct str *s, int base, int64_t *v)
{
	const char *p = s->p;
	size_t n = s->n;
	uint64_t u;

	strip(&p, &n);
	bool minus = n && *p == '-';
	if (n && (*p == '-' || *p == '+')) {
		p++;
		n--;
	}
	int prefix = base_prefix(p, n);
	if (prefix && (base == 0 || base == prefix)) {
		p += 2;
		n -= 2;
		if (n && *p == '_') {
			p++;
			n--;
		}
		base = prefix;
	}
	base = base ? base : 10;
	if (!n || digits(p, n, base) != n || !digits_value(p, n, base, &u) || u > (uint64_t)INT64_MAX + minus)
		return false;
	*v = minus ? (int64_t)(0 - u) : (int64_t)u;
	return true;
}

static bool word_is(const char *p, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++)
		if ((p[i] | 0x20) != word[i] || !word[i])
			return false;
	return n == strlen(word);
}

bool number_float(const struct str *s, double *v)
{
	const char *p = s->p;
	size_t n = s->n;
	bool point;

	strip(&p, &n);
	double sign = n && *p == '-' ? -1 : 1;
	if (n && (*p == '-' || *p == '+')) {
		p++;
		n--;
	}
	if (word_is(p, n, "inf") || word_is(p, n, "infinity") || word_is(p, n, "nan")) {
		*v = *p == 'n' || *p == 'N' ? NAN : sign * INFINITY;
		return true;
	}
	size_t whole = digits(p, n, 10), len = float_length(p, n, &point);
	if (!whole && n && *p == '.') /* ".5" */
		len = n > 1 && digits(p + 1, n - 1, 10) ? 1 + float_length(p + 1, n - 1, &point) : 0;
	else if (whole && whole + 1 <= n && p[whole] == '.' && len == whole) /* "5." */
		len = whole + 1;
	if (!n || len != n)
		return false;
	*v = sign * float_of(p, n);
	return true;
}

void number_repr(char out[32], double f)
{
	char text[32];
	int precision = 1;

	if (!isfinite(f)) {
		strcpy(out, isnan(f) ? "nan" : f < 0 ? "-inf" : "inf");
		return;
	}
	do
		snprintf(text, sizeof text, "%.*e", precision - 1, f);
	while (strtod(text, NULL) != f && ++precision <= 17);
	int exponent = atoi(strchr(text, 'e') + 1);
	if (exponent >= -4 && exponent < 16) {
		int decimals = precision - 1 - exponent;

		snprintf(out, 32, "%.*f", decimals > 1 ? decimals : 1, f);
		return;
	}
	strcpy(out, text);
}

bool is_number(struct value v)
{
	return v.type == V_BOOL || v.type == V_INT || v.type == V_FLOAT;
}

double number_double(struct value v)
{
	return v.type == V_FLOAT ? v.f : v.type == V_INT ? (double)v.i : (double)v.b;
}

static int64_t integer(struct value v)
{
	return v.type == V_INT ? v.i : v.b;
}

/* Exactly, though neither type holds all of the other. */
static int order_int_float(int64_t i, double f)
{
	if (f >= 0x1p63)
		return -1;
	if (f < -0x1p63)
		return 1;
	int64_t whole = (int64_t)f;
	if (i != whole)
		return i < whole ? -1 : 1;
	double rest = f - (double)whole;
	return (rest < 0) - (rest > 0);
}

int number_order(struct value a, struct value b)
{
	if (a.type == V_FLOAT && b.type == V_FLOAT)
		return (a.f > b.f) - (a.f < b.f);
	if (a.type == V_FLOAT)
		return -order_int_float(integer(b), a.f);
	if (b.type == V_FLOAT)
		return order_int_float(integer(a), b.f);
	return (integer(a) > integer(b)) - (integer(a) < integer(b));
}
