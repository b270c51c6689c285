/* SPDX-License-Identifier: MIT */
/* UTF-8 as RFC 3629 has it: no surrogates, no overlong forms, nothing above U+10FFFF. */
#include <stdbool.h>
#include <string.h>
#include "utf8.h"

static bool continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Whether b can follow the first byte a of a character: where overlong forms, surrogates and too large ones show. */
static bool second_fits(unsigned char a, unsigned char b)
{
	unsigned char low = a == 0xe0 ? 0xa0 : a == 0xf0 ? 0x90 : 0x80;
	unsigned char high = a == 0xed ? 0x9f : a == 0xf4 ? 0x8f : 0xbf;

	return b >= low && b <= high;
}

static size_t length_by_first(unsigned char a)
{
	return a < 0x80 ? 1 : a < 0xc2 ? 0 : a < 0xe0 ? 2 : a < 0xf0 ? 3 : a < 0xf5 ? 4 : 0;
}

/* Bytes of p that a character can begin with: its length in *want, 0 for none. */
static size_t begun(const char *p, size_t n, size_t *want)
{
	size_t len = *want = n ? length_by_first((unsigned char)p[0]) : 0;
	size_t have = 1;

	if (!len)
		return 0;
	if (len > 1 && n > 1 && !second_fits((unsigned char)p[0], (unsigned char)p[1]))
		return 1;
	while (have < len && have < n && continues(p[have]))
		have++;
	return have;
}

size_t utf8_valid(const char *p, size_t n)
{
	size_t len, have = begun(p, n, &len);

	return len && have == len ? len : 0;
}

uint32_t utf8_decode(const char *p, size_t len)
{
	static const unsigned char first_bits[5] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t c = (unsigned char)p[0] & first_bits[len];

	for (size_t i = 1; i < len; i++)
		c = c << 6 | ((unsigned char)p[i] & 0x3f);
	return c;
}

size_t utf8_encode(uint32_t c, char *out)
{
	size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char first_mark[5] = { 0, 0, 0xc0, 0xe0, 0xf0 };

	for (size_t i = len; i-- > 1; c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(first_mark[len] | c);
	return len;
}

size_t utf8_valid_prefix(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n) {
		uint64_t eight;
		size_t len;

		if (n - i >= 8 && (memcpy(&eight, p + i, 8), !(eight & 0x8080808080808080))) {
			i += 8;
			continue;
		}
		len = utf8_valid(p + i, n - i);
		if (!len)
			break;
		i += len;
	}
	return i;
}

static size_t replace(char *out)
{
	memcpy(out, UTF8_REPLACEMENT, 3);
	return 3;
}

/* Writes what is whole or hopeless at p; *used bytes of it. */
static size_t settle(const char *p, size_t n, size_t *used, char *out)
{
	size_t i = 0, w = 0;

	while (i < n) {
		size_t len, have = begun(p + i, n - i, &len);

		if (len && have == len) {
			memcpy(out + w, p + i, len);
			w += len;
			i += len;
		} else if (len && have == n - i) {
			break;
		} else {
			w += replace(out + w);
			i++;
		}
	}
	*used = i;
	return w;
}

size_t utf8_hold(struct utf8_hold *h, const char *p, size_t n, char *out)
{
	size_t w = 0, used;

	while (h->n && n) {
		h->byte[h->n++] = *p++;
		n--;
		w += settle(h->byte, h->n, &used, out + w);
		h->n -= (unsigned)used;
		memmove(h->byte, h->byte + used, h->n);
	}
	w += settle(p, n, &used, out + w);
	if (n > used) {
		memcpy(h->byte, p + used, n - used);
		h->n = (unsigned)(n - used);
	}
	return w;
}

size_t utf8_hold_end(struct utf8_hold *h, char *out)
{
	size_t w = 0;

	for (; h->n; h->n--)
		w += replace(out + w);
	return w;
}
