/* SPDX-License-Identifier: MIT */
#include "name.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What cannot be in a file name, or would break a line of ls; and the escape itself. */
static bool is_escaped(unsigned char c)
{
	return c < 0x20 || c == 0x7f || c == '/' || c == '%';
}

static bool is_dots(struct gguf_bytes s)
{
	return (s.n == 1 && s.p[0] == '.') || (s.n == 2 && s.p[0] == '.' && s.p[1] == '.');
}

/* How many bytes of s fit into room bytes of file name. */
static size_t fitting(struct gguf_bytes s, size_t room)
{
	size_t i = 0;

	for (size_t used = 0; i < s.n; i++) {
		used += is_escaped((unsigned char)s.p[i]) ? 3 : 1;
		if (used > room)
			break;
	}
	return i;
}

/* The same, moved back to where a UTF-8 character ends; in bytes that are no UTF-8, not further than one could be. */
static size_t fitting_characters(struct gguf_bytes s, size_t room)
{
	size_t end = fitting(s, room), cut = end;

	for (int i = 0; i < 3 && cut && ((unsigned char)s.p[cut] & 0xc0) == 0x80; i++)
		cut--;
	return ((unsigned char)s.p[cut] & 0xc0) == 0x80 ? end : cut;
}

/* Writes s with %XX for what needs it (all: for each byte), terminated; out has room. Returns the length. */
static size_t escape(char *out, struct gguf_bytes s, bool all)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (!all && !is_escaped(c)) {
			out[n++] = (char)c;
			continue;
		}
		out[n++] = '%';
		out[n++] = hex[c >> 4];
		out[n++] = hex[c & 15];
	}
	out[n] = '\0';
	return n;
}

size_t name_encode(char out[NAME_SIZE], struct gguf_bytes exact, uint64_t number)
{
	char end[24];
	size_t n, end_n;

	if (!exact.n)
		return (size_t)snprintf(out, NAME_SIZE, "%%");
	if (fitting(exact, NAME_LONGEST) == exact.n)
		return escape(out, exact, is_dots(exact));
	end_n = (size_t)snprintf(end, sizeof end, "%%~%llu", (unsigned long long)number);
	exact.n = fitting_characters(exact, NAME_LONGEST - end_n);
	n = escape(out, exact, false);
	memcpy(out + n, end, end_n + 1);
	return n + end_n;
}

/* Capitals only: a name has one form. */
static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte that %XX at p stands for, or -1. */
static int unescape(const char *p, size_t left)
{
	int high = left >= 3 ? hex_digit(p[1]) : -1, low = left >= 3 ? hex_digit(p[2]) : -1;

	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* The number after the last "%~", where the name ends in one. */
static bool cut_number(const char *file, size_t n, uint64_t *number)
{
	size_t digits = 0;

	while (digits < n && file[n - 1 - digits] >= '0' && file[n - 1 - digits] <= '9')
		digits++;
	if (!digits || digits > 19 || n - digits < 2 || memcmp(file + n - digits - 2, "%~", 2) != 0)
		return false;
	for (*number = 0; digits; digits--)
		*number = *number * 10 + (uint64_t)(file[n - digits] - '0');
	return true;
}

int name_decode(struct name *out, const char *file, size_t n)
{
	bool dots = n % 3 == 0 && n <= 6 && !memcmp(file, "%2E%2E", n);

	out->n = 0;
	out->cut = false;
	if (!n || n > NAME_LONGEST)
		return n ? -ENAMETOOLONG : -ENOENT;
	if (n == 1 && *file == '%')
		return 0;
	if (cut_number(file, n, &out->number)) {
		out->cut = true;
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		int c = (unsigned char)file[i];

		if (c == '%') {
			c = unescape(file + i, n - i);
			if (c < 0 || !(is_escaped((unsigned char)c) || dots))
				return -ENOENT;
			i += 2;
		} else if (is_escaped((unsigned char)c)) {
			return -ENOENT;
		}
		out->exact[out->n++] = (char)c;
	}
	return is_dots((struct gguf_bytes){ file, n }) ? -ENOENT : 0;
}
