/* SPDX-License-Identifier: MIT */
/*
 * doc/tree.md read backwards: a value is a file's bytes less the last newline, an array one item a line with backslash
 * escapes. Numbers are whole lines: nothing before or after them is skipped.
 */
#include "treeval.h"
#include "pages.h"
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static bool must_escape(unsigned char c)
{
	return c == '/' || c == '%' || c < 0x20 || c == 0x7f;
}

int text_escape_name(char *out, size_t room, const char *name)
{
	static const char digits[] = "0123456789ABCDEF";
	bool dots = !strcmp(name, ".") || !strcmp(name, "..");
	size_t n = 0;

	if (room > NAME_ROOM)
		room = NAME_ROOM;
	if (!*name && room > 1)
		out[n++] = '%';
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (n + 4 > room)
			return -ENOENT;
		if (!dots && !must_escape(c)) {
			out[n++] = (char)c;
			continue;
		}
		out[n++] = '%';
		out[n++] = digits[c >> 4];
		out[n++] = digits[c & 15];
	}
	out[n] = '\0';
	return 0;
}

static int hex(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
				      : -1;
}

void text_unescape_name(char *out, const char *file)
{
	if (!strcmp(file, "%"))
		file++;
	while (*file) {
		if (*file == '%' && hex(file[1]) >= 0 && hex(file[2]) >= 0) {
			*out++ = (char)(hex(file[1]) << 4 | hex(file[2]));
			file += 3;
		} else {
			*out++ = *file++;
		}
	}
	*out = '\0';
}

static const struct {
	const char *kind;
	size_t item;
} wants[] = {
	[WANT_U64] = { "a number that is not negative", 0 },
	[WANT_I64] = { "a whole number", 0 },
	[WANT_F64] = { "a number", 0 },
	[WANT_BOOL] = { "true or false", 0 },
	[WANT_STRING] = { "a string", 0 },
	[WANT_STRINGS] = { "an array of strings", sizeof(struct gguf_bytes) },
	[WANT_F32S] = { "an array of numbers", sizeof(float) },
	[WANT_I64S] = { "an array of whole numbers", sizeof(int64_t) },
};

const char *text_kind(enum want want)
{
	return wants[want].kind;
}

/* All n bytes are one whole number. */
static bool whole(const char *p, size_t n, int64_t *v)
{
	char *end;

	if (n == 4 && !memcmp(p, "true", 4))
		return *v = 1, true;
	if (n == 5 && !memcmp(p, "false", 5))
		return *v = 0, true;
	if (!n || isspace((unsigned char)*p))
		return false;
	errno = 0;
	*v = strtoll(p, &end, 10);
	return !errno && end == p + n;
}

static bool natural(const char *p, size_t n, uint64_t *v)
{
	char *end;

	if (!n || !isdigit((unsigned char)*p))
		return false;
	errno = 0;
	*v = strtoull(p, &end, 10);
	return !errno && end == p + n;
}

static bool number(const char *p, size_t n, double *v)
{
	char *end;

	if (!n || isspace((unsigned char)*p))
		return false;
	*v = strtod(p, &end);
	return end == p + n;
}

bool text_unescape_item(struct gguf_bytes *s)
{
	char *to = (char *)s->p, *out = to;
	const char *p = s->p, *end = p + s->n;
	static const char from[] = "\\nrt", into[] = "\\\n\r\t";

	for (; p < end; p++) {
		const char *at;

		if (*p != '\\') {
			*out++ = *p;
			continue;
		}
		if (end - p >= 4 && p[1] == 'x' && hex(p[2]) >= 0 && hex(p[3]) >= 0) {
			*out++ = (char)(hex(p[2]) << 4 | hex(p[3]));
			p += 3;
			continue;
		}
		if (end - p < 2 || !p[1] || !(at = strchr(from, p[1])))
			return false;
		*out++ = into[at - from];
		p++;
	}
	s->n = (size_t)(out - to);
	return true;
}

static bool put_line(void *items, size_t i, enum want want, char *p, size_t n)
{
	struct gguf_bytes *s = (struct gguf_bytes *)items + i;
	double f;

	switch (want) {
	case WANT_STRINGS:
		*s = (struct gguf_bytes){ p, n };
		return text_unescape_item(s);
	case WANT_F32S:
		if (!number(p, n, &f))
			return false;
		((float *)items)[i] = (float)f;
		return true;
	default:
		return whole(p, n, (int64_t *)items + i);
	}
}

static int lines(char *text, size_t n, enum want want, struct answer_array *a)
{
	size_t count = 0;
	char *end = text + n, *eol;

	for (char *p = text; p < end; p = eol + 1, count++) {
		eol = memchr(p, '\n', (size_t)(end - p));
		eol = eol ? eol : end;
	}
	a->n = count;
	a->items = pages_block((count + 1) * wants[want].item);
	if (!a->items)
		return -ENOMEM;
	count = 0;
	for (char *p = text; p < end; p = eol + 1, count++) {
		eol = memchr(p, '\n', (size_t)(end - p));
		eol = eol ? eol : end;
		if (put_line(a->items, count, want, p, (size_t)(eol - p)))
			continue;
		free(a->items);
		return -EINVAL;
	}
	return 0;
}

static int value(char *text, size_t n, enum want want, union answer *v)
{
	size_t one = n && text[n - 1] == '\n' ? n - 1 : n;

	switch (want) {
	case WANT_U64:
		return natural(text, one, &v->u) ? 0 : -EINVAL;
	case WANT_I64:
		return whole(text, one, &v->i) ? 0 : -EINVAL;
	case WANT_F64:
		return number(text, one, &v->f) ? 0 : -EINVAL;
	case WANT_BOOL:
		v->b = one == 4;
		return (one == 4 && !memcmp(text, "true", 4)) || (one == 5 && !memcmp(text, "false", 5)) ? 0 : -EINVAL;
	case WANT_STRING:
		v->s = (struct gguf_bytes){ text, one };
		return 0;
	default:
		return lines(text, n, want, &v->a);
	}
}

/* In the C locale, whatever the program's is: it decides what a decimal point is. */
int text_value(char *text, size_t n, enum want want, union answer *v)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), old;
	int err;

	if (!c)
		return -ENOMEM;
	old = uselocale(c);
	err = value(text, n, want, v);
	uselocale(old);
	freelocale(c);
	return err;
}

int text_type(const char *text, uint32_t *type)
{
	char name[32];
	size_t n = strcspn(text, "\n");
	uint64_t id;
	int found;

	if (n >= sizeof(name))
		return -EINVAL;
	memcpy(name, text, n);
	name[n] = '\0';
	found = gguf_type_find(name);
	if (found >= 0)
		*type = (uint32_t)found;
	else if (natural(name, n, &id) && id <= UINT32_MAX)
		*type = (uint32_t)id;
	else
		return -EINVAL;
	return 0;
}

int text_shape(const char *text, struct weight *w)
{
	char *end;

	w->dims = 0;
	for (int i = 0; i < 4; i++)
		w->extent[i] = 1;
	for (; *text && *text != '\n'; text = end + strspn(end, " ")) {
		if (w->dims == 4 || !isdigit((unsigned char)*text))
			return -EINVAL;
		errno = 0;
		w->extent[w->dims++] = strtoull(text, &end, 10);
		if (errno || (*end && *end != ' ' && *end != '\n'))
			return -EINVAL;
	}
	return 0;
}

/* Cuts the last field off text: *v is its number. */
static int last_number(char *text, uint64_t *v)
{
	size_t n = strlen(text);
	char *p;

	while (n && isspace((unsigned char)text[n - 1]))
		text[--n] = '\0';
	for (p = text + n; p > text && isdigit((unsigned char)p[-1]); p--)
		continue;
	if (p == text || !isspace((unsigned char)p[-1]) || !natural(p, strlen(p), v))
		return -EINVAL;
	p[-1] = '\0';
	return 0;
}

int text_location(char *text, uint64_t *offset, uint64_t *size)
{
	int err = last_number(text, size);

	return err ? err : last_number(text, offset);
}

bool text_size_fits(const struct weight *w)
{
	uint64_t values = gguf_type_values(w->type), n;

	if (!values)
		return true;
	if (w->extent[0] % values)
		return false;
	n = w->extent[0] / values;
	for (int i = 1; i < 4; i++)
		if (__builtin_mul_overflow(n, w->extent[i], &n))
			return false;
	return !__builtin_mul_overflow(n, (uint64_t)gguf_type_bytes(w->type), &n) && n == w->size;
}
