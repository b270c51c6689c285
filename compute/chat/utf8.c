/* SPDX-License-Identifier: MIT */
/* Characters of strings, whose indexes in templates count code points, and case by utf8proc's tables. */
#include "utf8.h"
#include <string.h>
#include <utf8proc.h>

uint32_t utf8_get(const char *p, size_t n, size_t *len)
{
	utf8proc_int32_t c;
	unsigned char first = (unsigned char)*p;

	*len = 1;
	if (first < 0x80)
		return first;
	utf8proc_ssize_t k = utf8proc_iterate((const utf8proc_uint8_t *)p, n > 4 ? 4 : (utf8proc_ssize_t)n, &c);
	if (k <= 0)
		return UTF8_BAD + first;
	*len = (size_t)k;
	return (uint32_t)c;
}

size_t utf8_put(char *p, uint32_t c)
{
	if (c >= UTF8_BAD + 0x80 && c <= UTF8_BAD + 0xff) {
		*p = (char)(c - UTF8_BAD);
		return 1;
	}
	return (size_t)utf8proc_encode_char((utf8proc_int32_t)c, (utf8proc_uint8_t *)p);
}

size_t utf8_count(const char *p, size_t n)
{
	size_t count = 0, len;

	for (size_t i = 0; i < n; i += len, count++)
		utf8_get(p + i, n - i, &len);
	return count;
}

size_t utf8_skip(const char *p, size_t n, size_t i)
{
	size_t at = 0, len;

	for (; i && at < n; i--, at += len)
		utf8_get(p + at, n - at, &len);
	return at;
}

size_t utf8_last(const char *p, size_t n)
{
	for (size_t k = 2; k <= 4 && k <= n; k++) {
		size_t len;

		utf8_get(p + n - k, k, &len);
		if (len == k)
			return k;
	}
	return 1;
}

static utf8proc_category_t category(uint32_t c)
{
	return utf8proc_category((utf8proc_int32_t)c);
}

bool uc_space(uint32_t c)
{
	return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
	       (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool uc_alpha(uint32_t c)
{
	switch (category(c)) {
	case UTF8PROC_CATEGORY_LU: case UTF8PROC_CATEGORY_LL: case UTF8PROC_CATEGORY_LT:
	case UTF8PROC_CATEGORY_LM: case UTF8PROC_CATEGORY_LO:
		return true;
	default:
		return false;
	}
}

bool uc_decimal(uint32_t c)
{
	return category(c) == UTF8PROC_CATEGORY_ND;
}

bool uc_digit(uint32_t c)
{
	return uc_decimal(c) || c == 0xb2 || c == 0xb3 || c == 0xb9 || c == 0x2070 || (c >= 0x2074 && c <= 0x2079) ||
	       (c >= 0x2080 && c <= 0x2089) || (c >= 0x2460 && c <= 0x2468);
}

bool uc_numeric(uint32_t c)
{
	utf8proc_category_t k = category(c);

	return k == UTF8PROC_CATEGORY_ND || k == UTF8PROC_CATEGORY_NL || k == UTF8PROC_CATEGORY_NO;
}

bool uc_printable(uint32_t c)
{
	if (c == ' ')
		return true;
	switch (category(c)) {
	case UTF8PROC_CATEGORY_CC: case UTF8PROC_CATEGORY_CF: case UTF8PROC_CATEGORY_CS: case UTF8PROC_CATEGORY_CO:
	case UTF8PROC_CATEGORY_CN: case UTF8PROC_CATEGORY_ZL: case UTF8PROC_CATEGORY_ZP: case UTF8PROC_CATEGORY_ZS:
		return false;
	default:
		return true;
	}
}

bool uc_lower(uint32_t c)
{
	return category(c) == UTF8PROC_CATEGORY_LL || c == 0xaa || c == 0xba || (c >= 0x2b0 && c <= 0x2b8) ||
	       (c >= 0x2170 && c <= 0x217f) || (c >= 0x24d0 && c <= 0x24e9);
}

bool uc_upper(uint32_t c)
{
	return category(c) == UTF8PROC_CATEGORY_LU || (c >= 0x2160 && c <= 0x216f) || (c >= 0x24b6 && c <= 0x24cf);
}

bool uc_title(uint32_t c)
{
	return category(c) == UTF8PROC_CATEGORY_LT;
}

bool uc_cased(uint32_t c)
{
	return uc_lower(c) || uc_upper(c) || uc_title(c);
}

/* The commoner of Unicode's SpecialCasing: one character that becomes several. */
static const struct special { uint32_t from, upper[3], title[3], fold[3]; } specials[] = {
	{ 0xdf, { 'S', 'S' }, { 'S', 's' }, { 's', 's' } },
	{ 0x149, { 0x2bc, 'N' }, { 0x2bc, 'N' }, { 0x2bc, 'n' } },
	{ 0x1f0, { 'J', 0x30c }, { 'J', 0x30c }, { 'j', 0x30c } },
	{ 0x390, { 0x399, 0x308, 0x301 }, { 0x399, 0x308, 0x301 }, { 0x3b9, 0x308, 0x301 } },
	{ 0x3b0, { 0x3a5, 0x308, 0x301 }, { 0x3a5, 0x308, 0x301 }, { 0x3c5, 0x308, 0x301 } },
	{ 0x587, { 0x535, 0x552 }, { 0x535, 0x582 }, { 0x565, 0x582 } },
	{ 0x1e9e, { 0x1e9e }, { 0x1e9e }, { 's', 's' } },
	{ 0xfb00, { 'F', 'F' }, { 'F', 'f' }, { 'f', 'f' } },
	{ 0xfb01, { 'F', 'I' }, { 'F', 'i' }, { 'f', 'i' } },
	{ 0xfb02, { 'F', 'L' }, { 'F', 'l' }, { 'f', 'l' } },
	{ 0xfb03, { 'F', 'F', 'I' }, { 'F', 'f', 'i' }, { 'f', 'f', 'i' } },
	{ 0xfb04, { 'F', 'F', 'L' }, { 'F', 'f', 'l' }, { 'f', 'f', 'l' } },
	{ 0xfb05, { 'S', 'T' }, { 'S', 't' }, { 's', 't' } },
	{ 0xfb06, { 'S', 'T' }, { 'S', 't' }, { 's', 't' } },
};

static const struct special *special(uint32_t c)
{
	for (size_t i = 0; c >= 0xdf && i < sizeof specials / sizeof *specials; i++)
		if (specials[i].from == c)
			return &specials[i];
	return NULL;
}

static unsigned copy_case(const uint32_t from[3], uint32_t out[3])
{
	unsigned n = 0;

	for (; n < 3 && from[n]; n++)
		out[n] = from[n];
	return n;
}

static bool bad_byte(uint32_t c)
{
	return c >= 0xd800 && c <= 0xdfff;
}

unsigned uc_to_upper(uint32_t c, uint32_t out[3])
{
	const struct special *s = special(c);

	if (s)
		return copy_case(s->upper, out);
	out[0] = bad_byte(c) ? c : (uint32_t)utf8proc_toupper((utf8proc_int32_t)c);
	return 1;
}

unsigned uc_to_lower(uint32_t c, uint32_t out[3])
{
	if (c == 0x130) {
		out[0] = 'i';
		out[1] = 0x307;
		return 2;
	}
	out[0] = bad_byte(c) ? c : (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
	return 1;
}

unsigned uc_to_title(uint32_t c, uint32_t out[3])
{
	const struct special *s = special(c);

	if (s)
		return copy_case(s->title, out);
	out[0] = bad_byte(c) ? c : (uint32_t)utf8proc_totitle((utf8proc_int32_t)c);
	return 1;
}

unsigned uc_fold(uint32_t c, uint32_t out[3])
{
	const struct special *s = special(c);

	if (s)
		return copy_case(s->fold, out);
	if (c == 0x3c2 || c == 0xb5 || c == 0x17f) {
		out[0] = c == 0x3c2 ? 0x3c3 : c == 0xb5 ? 0x3bc : 's';
		return 1;
	}
	return uc_to_lower(c, out);
}
