/* SPDX-License-Identifier: MIT */
#include "value.h"
#include "number.h"
#include <errno.h>
#include <math.h>

enum { PIECE = 16 << 10 }; /* about what a step puts: bytes of a string, or of many short items */
enum { BATCH = 64 };

/* The two ways to write an item. */
struct style {
	bool json;
	void (*escape)(struct out *o, struct gguf_bytes s); /* a piece of a string that ends with a character */
	const char *quote;                                  /* around strings */
};

void value_escape(struct out *o, struct gguf_bytes s)
{
	static const char *const known[256] = { ['\\'] = "\\\\", ['\n'] = "\\n", ['\r'] = "\\r", ['\t'] = "\\t" };
	size_t from = 0;

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c >= 0x20 && c != 0x7f && c != '\\')
			continue;
		out_put(o, s.p + from, i - from);
		from = i + 1;
		if (known[c])
			out_string(o, known[c]);
		else
			out_printf(o, "\\x%02x", c);
	}
	out_put(o, s.p + from, s.n - from);
}

/* Bytes of the UTF-8 character that s starts with, 0 where it starts with none. */
static size_t utf8_length(struct gguf_bytes s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

	if (!n || n > s.n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

/* JSON is UTF-8 by definition: a byte that is none becomes U+FFFD. The exact bytes are in metadata/KEY. */
static void json_escape(struct out *o, struct gguf_bytes s)
{
	static const char *const known[256] = { ['"'] = "\\\"", ['\\'] = "\\\\", ['\n'] = "\\n", ['\r'] = "\\r",
						['\t'] = "\\t" };
	size_t from = 0, step;

	for (size_t i = 0; i < s.n; i += step) {
		unsigned char c = (unsigned char)s.p[i];
		size_t n = utf8_length((struct gguf_bytes){ s.p + i, s.n - i });

		step = n ? n : 1;
		if (n && c >= 0x20 && c != 0x7f && !known[c])
			continue;
		out_put(o, s.p + from, i - from);
		from = i + 1;
		if (known[c])
			out_string(o, known[c]);
		else
			out_printf(o, "\\u%04x", n ? c : 0xfffd);
	}
	out_put(o, s.p + from, s.n - from);
}

static const struct style lines = { false, value_escape, "" };
static const struct style json = { true, json_escape, "\"" };

/* What of s, from byte on, makes one piece: not past PIECE by more than a character. */
static size_t piece_length(struct gguf_bytes s, size_t byte)
{
	size_t end = byte + PIECE;

	if (s.n - byte <= PIECE)
		return s.n - byte;
	for (int i = 0; i < 3 && ((unsigned char)s.p[end] & 0xc0) == 0x80; i++)
		end--;
	return end - byte;
}

/* The next piece of a string; *byte says where and is 0 again when it is whole. */
static bool put_string(const struct style *style, struct gguf_bytes s, size_t *byte, struct out *o)
{
	size_t n = piece_length(s, *byte);

	if (!*byte)
		out_string(o, style->quote);
	style->escape(o, (struct gguf_bytes){ s.p + *byte, n });
	*byte += n;
	if (*byte < s.n)
		return false;
	*byte = 0;
	out_string(o, style->quote);
	return true;
}

static void put_float(const struct style *style, const struct gguf_value *v, struct out *o)
{
	char text[NUMBER_SIZE];

	if (style->json && !isfinite(v->f))
		out_string(o, "null");
	else
		out_put(o, text, v->type == GGUF_F32 ? number_f32(text, (float)v->f) : number_f64(text, v->f));
}

/* An item that is no array. Returns whether it is whole. */
static bool put_scalar(const struct style *style, const struct gguf_value *v, size_t *byte, struct out *o)
{
	char text[NUMBER_SIZE];

	switch (v->type) {
	case GGUF_STRING:
		return put_string(style, v->s, byte, o);
	case GGUF_F32:
	case GGUF_F64:
		put_float(style, v, o);
		break;
	case GGUF_BOOL:
		out_string(o, v->u ? "true" : "false");
		break;
	case GGUF_I8:
	case GGUF_I16:
	case GGUF_I32:
	case GGUF_I64:
		out_put(o, text, number_i64(text, v->i));
		break;
	default:
		out_u64(o, v->u);
	}
	return true;
}

void value_print(const struct gguf_value *v, struct out *o)
{
	size_t byte = 0;

	if (v->type == GGUF_STRING)
		out_put(o, v->s.p, v->s.n);
	else
		put_scalar(&lines, v, &byte, o);
	out_put(o, "\n", 1);
}

static int push(struct text_pos *pos, const struct gguf_array *a, struct out *o)
{
	if (pos->depth == TEXT_DEPTH)
		return -ELOOP;
	out_put(o, "[", 1);
	pos->rest[pos->depth] = *a;
	pos->opened &= ~(1u << pos->depth++);
	return 1;
}

/* The next item of the innermost array, which has one. */
static int nested_item(const struct gguf *g, struct text_pos *pos, struct out *o)
{
	struct gguf_array *top = &pos->rest[pos->depth - 1], rest = *top;
	struct gguf_value v;
	int err = gguf_array_next(g, &rest, &v);

	if (err)
		return err;
	if (!pos->byte && pos->opened & 1u << (pos->depth - 1))
		out_put(o, ",", 1);
	pos->opened |= 1u << (pos->depth - 1);
	if (v.type != GGUF_ARRAY && !put_scalar(&json, &v, &pos->byte, o))
		return 1;
	*top = rest;
	return v.type == GGUF_ARRAY ? push(pos, &v.a, o) : 1;
}

/* Items of arrays inside arrays, until the outermost is closed or there is enough for a step. */
static int nested(const struct gguf *g, struct text_pos *pos, struct out *o)
{
	uint64_t enough = o->total + PIECE;
	int more = 1;

	while (more > 0 && pos->depth && o->total < enough) {
		if (pos->rest[pos->depth - 1].count) {
			more = nested_item(g, pos, o);
		} else {
			out_put(o, "]", 1);
			pos->depth--;
		}
	}
	return more;
}

/* An item of the array itself is whole: what follows it. */
static void end_item(const struct style *style, struct text_pos *pos, struct out *o)
{
	pos->item++;
	if (!style->json)
		out_put(o, "\n", 1);
}

static int batch(const struct style *style, struct text_pos *pos, struct out *o, const struct gguf_value *v, size_t n)
{
	uint64_t enough = o->total + PIECE;

	for (size_t k = 0; k < n && o->total < enough; k++) {
		if (style->json && pos->item && !pos->byte)
			out_put(o, ",", 1);
		if (v[k].type == GGUF_ARRAY)
			return push(pos, &v[k].a, o);
		if (!put_scalar(style, &v[k], &pos->byte, o))
			return 1;
		end_item(style, pos, o);
	}
	return 1;
}

/* Some items of key i's array. Returns 0 at its end. */
static int items(const struct gguf *g, size_t i, const struct style *style, struct text_pos *pos, struct out *o)
{
	uint64_t left = gguf_key(g, i)->count - pos->item;
	struct gguf_value v[BATCH];
	int err;

	if (pos->depth) {
		err = nested(g, pos, o);
		if (err > 0 && !pos->depth)
			end_item(style, pos, o);
		return err;
	}
	if (!left)
		return 0;
	if (left > BATCH)
		left = BATCH;
	err = gguf_items(g, i, pos->item, left, v);
	return err ? err : batch(style, pos, o, v, left);
}

int array_step(const struct gguf *g, uint64_t i, struct text_pos *pos, struct out *o)
{
	return items(g, i, &lines, pos, o);
}

static int json_key(const struct gguf *g, struct text_pos *pos, struct out *o)
{
	const struct gguf_key *k = gguf_key(g, pos->part);

	out_string(o, pos->part ? ",\n  \"" : "{\n  \"");
	json_escape(o, k->name);
	out_string(o, k->type == GGUF_ARRAY ? "\": [" : "\": ");
	return 1;
}

static int json_scalar(const struct gguf *g, struct text_pos *pos, struct out *o)
{
	struct gguf_value v;
	int err = gguf_value(g, pos->part, &v);

	if (err)
		return err;
	if (!pos->byte)
		json_key(g, pos, o);
	if (put_scalar(&json, &v, &pos->byte, o))
		pos->part++;
	return 1;
}

static int json_array(const struct gguf *g, struct text_pos *pos, struct out *o)
{
	int more;

	if (!pos->item && !pos->byte && !pos->depth)
		json_key(g, pos, o);
	more = items(g, pos->part, &json, pos, o);
	if (more)
		return more;
	out_put(o, "]", 1);
	pos->part++;
	pos->item = 0;
	return 1;
}

int json_step(const struct gguf *g, uint64_t i, struct text_pos *pos, struct out *o)
{
	size_t count = gguf_key_count(g);

	(void)i;
	if (pos->part < count)
		return gguf_key(g, pos->part)->type == GGUF_ARRAY ? json_array(g, pos, o) : json_scalar(g, pos, o);
	if (pos->part > count)
		return 0;
	out_string(o, count ? "\n}\n" : "{}\n");
	pos->part++;
	return 1;
}
