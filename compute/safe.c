/* SPDX-License-Identifier: MIT */
/* C1 controls are two bytes in UTF-8, 0xC2 0x80 to 0xC2 0x9F: terminals obey some of them. */
#include "safe.h"

static int is_plain(unsigned char c)
{
	return (c >= 0x20 && c != 0x7f) || c == '\n' || c == '\t';
}

/* U+0080 to U+009F is 0xc2, then 0x80 to 0x9f. */
static int is_c1(const unsigned char *p, size_t n)
{
	return n > 1 && p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f;
}

void safe_print(FILE *f, const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;

	for (size_t i = 0; i < n; i++) {
		if (is_c1(p + i, n - i))
			fprintf(f, "\\x%02x", p[++i]);
		else if (is_plain(p[i]))
			fputc(p[i], f);
		else
			fprintf(f, "\\x%02x", p[i]);
	}
}
