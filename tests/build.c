/* SPDX-License-Identifier: MIT */
#include "build.h"
#include "gguf.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 4096 };

void build_bytes(struct build *b, const void *p, size_t n)
{
	if (n > b->room - b->n) {
		b->room = (b->n + n) * 2;
		b->p = realloc(b->p, b->room);
		if (!b->p)
			abort();
	}
	if (n)
		memcpy(b->p + b->n, p, n);
	b->n += n;
}

void build_number(struct build *b, uint64_t v, unsigned width)
{
	uint8_t bytes[8];

	for (unsigned i = 0; i < width; i++)
		bytes[b->big_endian ? width - 1 - i : i] = (uint8_t)(v >> 8 * i);
	build_bytes(b, bytes, width);
}

static void build_fill(struct build *b, size_t n, uint8_t byte)
{
	uint8_t *p = malloc(n + 1);

	if (!p)
		abort();
	memset(p, byte, n);
	build_bytes(b, p, n);
	free(p);
}

void build_zeros(struct build *b, size_t n)
{
	build_fill(b, n, 0);
}

static void build_length(struct build *b, uint64_t v)
{
	build_number(b, v, b->version == 1 ? 4 : 8);
}

void build_string(struct build *b, const char *p, size_t n)
{
	build_length(b, n);
	build_bytes(b, p, n);
}

void build_free(struct build *b)
{
	free(b->p);
	*b = (struct build){ 0 };
}

/* ---- the words of a script ---- */

static _Noreturn void complain(const char *word)
{
	fprintf(stderr, "build: unknown word '%s'\n", word);
	exit(99);
}

static const char *next_word(const char **script, char word[WORD])
{
	size_t n = 0;

	while (isspace((unsigned char)**script))
		(*script)++;
	while (**script && !isspace((unsigned char)**script) && n < WORD - 1)
		word[n++] = *(*script)++;
	word[n] = 0;
	return word;
}

/* 12, -1, 0x10, 2^63, 2^63-1, 2^42+1 */
static uint64_t number_of(const char *word)
{
	char *end;
	uint64_t v = strtoull(word, &end, 0);

	if (*end == '^' && v == 2)
		v = UINT64_C(1) << strtoull(end + 1, &end, 10);
	if (*end == '+')
		v += strtoull(end + 1, &end, 0);
	else if (*end == '-' && end != word)
		v -= strtoull(end + 1, &end, 0);
	if (*end)
		complain(word);
	return v;
}

static uint64_t next_number(const char **script)
{
	char word[WORD];

	return number_of(next_word(script, word));
}

static uint32_t value_type(const char *word)
{
	for (uint32_t t = 0; t < GGUF_VALUE_TYPES; t++)
		if (!strcmp(word, gguf_value_type_name(t)))
			return t;
	return (uint32_t)number_of(word);
}

static uint32_t tensor_type(const char *word)
{
	int t = gguf_type_find(word);

	return t < 0 ? (uint32_t)number_of(word) : (uint32_t)t;
}

/* Undoes the escapes of a TEXT, in place. Returns its length. */
static size_t text_of(char word[WORD])
{
	size_t n = 0;

	if (word[0] == '@') {
		n = number_of(word + 1);
		if (n >= WORD)
			complain(word);
		memset(word, 'n', n);
		return n;
	}
	if (!strcmp(word, "%"))
		return 0;
	for (const char *p = word; *p; n++) {
		unsigned byte;

		if (*p == '%' && sscanf(p + 1, "%2x", &byte) == 1) {
			word[n] = (char)byte;
			p += 3;
		} else {
			word[n] = *p++;
		}
	}
	return n;
}

static void do_text(struct build *b, const char **script)
{
	char word[WORD];

	next_word(script, word);
	build_string(b, word, text_of(word));
}

static void do_hdr(struct build *b, const char **script)
{
	char word[WORD];

	next_word(script, word);
	b->big_endian = word[strlen(word) - 1] == 'b';
	if (b->big_endian)
		word[strlen(word) - 1] = 0;
	b->version = (unsigned)number_of(word);
	build_bytes(b, "GGUF", 4);
	build_number(b, b->version, 4);
	build_length(b, next_number(script));
	build_length(b, next_number(script));
}

static void do_key(struct build *b, const char **script)
{
	char word[WORD];

	do_text(b, script);
	build_number(b, value_type(next_word(script, word)), 4);
}

static void do_arr(struct build *b, const char **script)
{
	char word[WORD];

	build_number(b, value_type(next_word(script, word)), 4);
	build_length(b, next_number(script));
}

static void do_ten(struct build *b, const char **script)
{
	char word[WORD], *save;

	do_text(b, script);
	build_number(b, next_number(script), 4);
	next_word(script, word);
	for (char *p = strtok_r(word, ",", &save); p; p = strtok_r(NULL, ",", &save))
		if (strcmp(p, "none"))
			build_length(b, number_of(p));
	build_number(b, tensor_type(next_word(script, word)), 4);
	build_number(b, next_number(script), 8);
}

static void do_f32(struct build *b, const char **script)
{
	char word[WORD];
	float f = strtof(next_word(script, word), NULL);
	uint32_t bits;

	memcpy(&bits, &f, sizeof bits);
	build_number(b, bits, 4);
}

static void do_f64(struct build *b, const char **script)
{
	char word[WORD];
	double f = strtod(next_word(script, word), NULL);
	uint64_t bits;

	memcpy(&bits, &f, sizeof bits);
	build_number(b, bits, 8);
}

static void do_len(struct build *b, const char **script)
{
	build_length(b, next_number(script));
}

static void do_pad(struct build *b, const char **script)
{
	size_t n = next_number(script);

	build_zeros(b, (n - b->n % n) % n);
}

static void do_zero(struct build *b, const char **script)
{
	build_zeros(b, next_number(script));
}

static void do_fill(struct build *b, const char **script)
{
	size_t n = next_number(script);

	build_fill(b, n, (uint8_t)next_number(script));
}

static void do_raw(struct build *b, const char **script)
{
	char word[WORD];
	unsigned byte;

	next_word(script, word);
	for (const char *p = word; sscanf(p, "%2x", &byte) == 1; p += 2)
		build_bytes(b, &(uint8_t){ (uint8_t)byte }, 1);
}

static void do_cut(struct build *b, const char **script)
{
	size_t n = next_number(script);

	b->n -= n < b->n ? n : b->n;
}

static const struct verb {
	const char *word;
	unsigned width; /* a plain number of so many bytes, or 0 */
	void (*run)(struct build *b, const char **script);
} verbs[] = {
	{ "u8", 1, NULL },     { "i8", 1, NULL },     { "bool", 1, NULL },   { "u16", 2, NULL },
	{ "i16", 2, NULL },    { "u32", 4, NULL },    { "i32", 4, NULL },    { "u64", 8, NULL },
	{ "i64", 8, NULL },    { "hdr", 0, do_hdr },  { "key", 0, do_key },  { "arr", 0, do_arr },
	{ "ten", 0, do_ten },  { "f32", 0, do_f32 },  { "f64", 0, do_f64 },  { "str", 0, do_text },
	{ "len", 0, do_len },  { "pad", 0, do_pad },  { "zero", 0, do_zero }, { "fill", 0, do_fill },
	{ "raw", 0, do_raw },  { "cut", 0, do_cut },
};

static const struct verb *find_verb(const char *word)
{
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (!strcmp(word, verbs[i].word))
			return &verbs[i];
	complain(word);
}

void build(struct build *b, const char *script)
{
	char word[WORD];

	while (*next_word(&script, word)) {
		const struct verb *v = find_verb(word);

		if (v->width)
			build_number(b, next_number(&script), v->width);
		else
			v->run(b, &script);
	}
}
