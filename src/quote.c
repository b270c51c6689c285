/* SPDX-License-Identifier: MIT */
#include "quote.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

size_t gguf_utf8(const char *p, size_t n, unsigned *point)
{
	static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *b = (const uint8_t *)p;
	size_t len;
	unsigned v;

	if (!n)
		return 0;
	len = b[0] < 0x80 ? 1 : b[0] >> 5 == 6 ? 2 : b[0] >> 4 == 14 ? 3 : b[0] >> 3 == 30 ? 4 : 0;
	if (!len || len > n)
		return 0;
	v = len == 1 ? b[0] : b[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if (b[i] >> 6 != 2)
			return 0;
		v = v << 6 | (b[i] & 0x3f);
	}
	if (v < least[len] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
		return 0;
	*point = v;
	return len;
}

static bool is_safe(unsigned point)
{
	return point >= 0x20 && !(point >= 0x7f && point < 0xa0) && point != 0x61c && point != 0x200e &&
	       point != 0x200f && !(point >= 0x2028 && point <= 0x202e) && !(point >= 0x2066 && point <= 0x2069);
}

/* One character of p, at most 4 bytes of out for each of its bytes. Returns the bytes taken. */
static size_t quote_one(char *out, size_t *used, const char *p, size_t n, bool backslash)
{
	static const char hex[] = "0123456789abcdef";
	unsigned point = 0;
	size_t len = gguf_utf8(p, n, &point);

	if (len && is_safe(point)) {
		if (point == '\\' && backslash)
			out[(*used)++] = '\\';
		memcpy(out + *used, p, len);
		*used += len;
		return len;
	}
	if (!len)
		len = 1;
	for (size_t i = 0; i < len; i++) {
		memcpy(out + *used, (char[]){ '\\', 'x', hex[(uint8_t)p[i] >> 4], hex[p[i] & 15] }, 4);
		*used += 4;
	}
	return len;
}

static const char *quote(char *out, size_t size, const char *p, size_t n, bool backslash)
{
	size_t used = 0, mark = 0; /* mark: how far the text may stay when "..." must follow */

	for (size_t at = 0; at < n;) {
		char one[16];
		size_t len = 0;

		at += quote_one(one, &len, p + at, n - at, backslash);
		if (len >= size - used) {
			memcpy(out + mark, "...", sizeof "...");
			return out;
		}
		memcpy(out + used, one, len);
		used += len;
		if (used + sizeof "..." <= size)
			mark = used;
	}
	out[used] = 0;
	return out;
}

const char *gguf_quote(char *out, size_t size, const char *p, size_t n)
{
	return quote(out, size, p, n, true);
}

const char *gguf_quote_sentence(char *out, size_t size, const char *p, size_t n)
{
	return quote(out, size, p, n, false);
}
