/* SPDX-License-Identifier: MIT */
/* Vocabularies made here: what is taken, what is refused and in which words, and what flags and attributes do. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "build.h"
#include "source.h"
#include "tap.h"
#include "token/token.h"
#include "token/utf8.h"

/* A file of some keys; scripts are those of build.h. */
static void write_model(const char *path, const char *const *keys)
{
	struct build b = { 0 };
	char head[32];
	FILE *f = fopen(path, "w");
	int n = 0;

	while (keys[n])
		n++;
	snprintf(head, sizeof head, "hdr 3 0 %d", n);
	build(&b, head);
	for (; *keys; keys++)
		build(&b, *keys);
	if (!f || fwrite(b.p, 1, b.n, f) != b.n || fclose(f))
		puts("Bail out! no temporary file"), exit(99);
	build_free(&b);
}

struct open_vocab {
	struct source *s;
	struct vocab *v;
	struct gguf_error e;
	int err;
};

static struct open_vocab open_keys(const char *const *keys)
{
	struct open_vocab o = { 0 };
	char path[] = "/tmp/test_vocab.XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0)
		puts("Bail out! no temporary file"), exit(99);
	close(fd);
	write_model(path, keys);
	o.err = source_open(&o.s, path, NULL, &o.e);
	if (!o.err)
		o.err = vocab_open(&o.v, o.s, &o.e);
	unlink(path);
	return o;
}

static void close_vocab(struct open_vocab *o)
{
	vocab_close(o->v);
	source_close(o->s);
}

#define KEY(name) "key tokenizer.ggml." name " "
#define SPM KEY("model") "string str llama"
#define BPE KEY("model") "string str gpt2"
#define PRE KEY("pre") "string str gpt-2"
#define SPM_TEXTS KEY("tokens") "array arr string 12 str <unk> str <s> str </s> str a str b str ab str %E2%96%81 " \
	"str %E2%96%81ab str <0xFF> str %E2%96%81%E2%96%81 str <mark> str c"
#define SPM_SCORES KEY("scores") "array arr f32 12 f32 0 f32 0 f32 0 f32 -5 f32 -6 f32 -2 f32 -3 f32 -1 f32 0 f32 -4 f32 0 f32 -9"
#define SPM_TYPES KEY("token_type") "array arr i32 12 i32 2 i32 3 i32 3 i32 1 i32 1 i32 1 i32 1 i32 1 i32 6 i32 1 i32 4 i32 1"
/* "h" "e" "l" "o" space, then what merges make */
#define BPE_TEXTS KEY("tokens") "array arr string 10 str h str e str l str o str %C4%A0 str he str ll str hell str hello str <|im_end|>"
#define BPE_MERGES KEY("merges") "array arr string 4 str h%20e str l%20l str he%20ll str hell%20o"

/* ---- refused ---- */

static const struct {
	const char *what, *keys[8];
	int err;
	const char *says; /* in the message */
} refused[] = {
	{ "no vocabulary", { "key general.architecture string str llama" }, -ENOENT, "tokenizer.ggml.model" },
	{ "a vocabulary called none", { KEY("model") "string str none" }, -ENOENT, "tokenizer.ggml.model" },
	{ "an unknown tokenizer", { KEY("model") "string str morse", BPE_TEXTS }, -ENOTSUP, "'morse'" },
	{ "a model name that is a number", { KEY("model") "u32 u32 7", BPE_TEXTS }, -EINVAL, "tokenizer.ggml.model" },
	{ "no tokens", { SPM }, -EINVAL, "tokenizer.ggml.tokens" },
	{ "an empty list of tokens", { SPM, KEY("tokens") "array arr string 0" }, -EINVAL, "tokenizer.ggml.tokens" },
	{ "tokens that are numbers", { SPM, KEY("tokens") "array arr u32 1 u32 5" }, -EINVAL, "tokenizer.ggml.tokens" },
	{ "tokens that are one text", { SPM, KEY("tokens") "string str abc" }, -EINVAL, "tokens: its value is not an array of strings" },
	{ "an id just beyond the tokens", { SPM, SPM_TEXTS, KEY("bos_token_id") "u32 u32 12" }, -EINVAL,
	  "bos_token_id: 12 is not a token, there are 12" },
	{ "an id far beyond the tokens", { SPM, SPM_TEXTS, KEY("eos_token_id") "u32 u32 2^31" }, -EINVAL, "eos_token_id: 2147483648" },
	{ "a negative id", { SPM, SPM_TEXTS, KEY("padding_token_id") "i64 i64 -2" }, -EINVAL, "padding_token_id: -2" },
	{ "too few scores", { SPM, SPM_TEXTS, KEY("scores") "array arr f32 1 f32 0" }, -EINVAL, "1 scores for 12 tokens" },
	{ "too few types", { SPM, SPM_TEXTS, KEY("token_type") "array arr i32 2 i32 1 i32 1" }, -EINVAL, "2 types for 12 tokens" },
	{ "types that are text", { SPM, SPM_TEXTS, KEY("token_type") "array arr string 1 str 1" }, -EINVAL, "token_type" },
	{ "no merges", { BPE, PRE, BPE_TEXTS }, -EINVAL, "tokenizer.ggml.merges" },
	{ "a merge without a space", { BPE, PRE, BPE_TEXTS, KEY("merges") "array arr string 2 str h%20e str ll" }, -EINVAL,
	  "tokenizer.ggml.merges: item 1" },
	{ "an empty merge", { BPE, PRE, BPE_TEXTS, KEY("merges") "array arr string 1 str %" }, -EINVAL, "item 0" },
	{ "an unknown pre-tokenizer", { BPE, KEY("pre") "string str gpt-99", BPE_TEXTS, BPE_MERGES }, -ENOTSUP, "'gpt-99'" },
	{ "a flag that is text", { SPM, SPM_TEXTS, KEY("add_bos_token") "string str yes" }, -EINVAL, "add_bos_token" },
	{ "an id that is text", { SPM, SPM_TEXTS, KEY("bos_token_id") "string str 1" }, -EINVAL, "bos_token_id" },
	{ "a character table that is cut", { KEY("model") "string str t5", SPM_TEXTS,
	  KEY("precompiled_charsmap") "array arr u8 6 u8 200 u8 0 u8 0 u8 0 u8 1 u8 2" }, -EINVAL, "precompiled_charsmap" },
};

static void test_refused(void)
{
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct open_vocab o = open_keys(refused[i].keys);

		if (!ok(o.err == refused[i].err && o.e.code == o.err && strstr(o.e.text, refused[i].says), "refused: %s",
			refused[i].what))
			printf("# %d: %s\n", o.err, o.e.text);
		close_vocab(&o);
	}
}

/* ---- taken ---- */

static const struct {
	const char *what, *keys[8];
	unsigned flags;
	const char *text, *ids; /* a text ends at its NUL */
} taken[] = {
	{ "best score first", { SPM, SPM_TEXTS, SPM_SCORES, SPM_TYPES }, 0, "ab b", "7 6 4" },
	{ "bos, and control tokens in the text", { SPM, SPM_TEXTS, SPM_SCORES, SPM_TYPES }, VOCAB_SPECIAL | VOCAB_PARSE,
	  "ab</s>ab", "1 7 2 7" },
	{ "control tokens as text", { SPM, SPM_TEXTS, SPM_SCORES, SPM_TYPES }, 0, "<s>", "6 0 0 0" },
	{ "user-defined tokens always", { SPM, SPM_TEXTS, SPM_SCORES, SPM_TYPES }, 0, "ab<mark>ab", "7 10 7" },
	{ "a word after one, and its space", { SPM, SPM_TEXTS, SPM_SCORES, SPM_TYPES }, 0, "<mark> ab", "10 6 7" },
	{ "two spaces", { SPM, SPM_TEXTS, SPM_SCORES, SPM_TYPES }, 0, "  ab", "9 7" },
	{ "no space before the text", { SPM, SPM_TEXTS, SPM_SCORES, SPM_TYPES, KEY("add_space_prefix") "bool bool 0" }, 0, "ab", "5" },
	{ "bytes that have tokens, and unknown ones", { SPM, SPM_TEXTS, SPM_SCORES, SPM_TYPES }, 0, "\xff\xfe", "6 8 0" },
	{ "no text", { SPM, SPM_TEXTS, SPM_SCORES, SPM_TYPES }, 0, "", "" },
	{ "bos and eos", { SPM, SPM_TEXTS, SPM_SCORES, SPM_TYPES, KEY("add_eos_token") "bool bool 1" }, VOCAB_SPECIAL, "", "1 2" },
	{ "no bos", { SPM, SPM_TEXTS, SPM_SCORES, SPM_TYPES, KEY("add_bos_token") "bool bool 0" }, VOCAB_SPECIAL, "ab", "7" },
	{ "ids and types of other widths", { SPM, SPM_TEXTS, SPM_SCORES, KEY("bos_token_id") "u64 u64 2",
	  KEY("token_type") "array arr u64 12 u64 2 u64 3 u64 3 u64 1 u64 1 u64 1 u64 1 u64 1 u64 6 u64 1 u64 4 u64 1" },
	  VOCAB_SPECIAL, "ab", "2 7" },
	{ "no scores: the leftmost pair first", { SPM, SPM_TEXTS, SPM_TYPES }, 0, "ab", "7" },
	{ "of equal texts the last", { SPM, KEY("tokens") "array arr string 5 str <unk> str x str x str %E2%96%81 str y" }, 0, "x", "3 2" },
	{ "an id of -1 is none", { SPM, SPM_TEXTS, KEY("bos_token_id") "i32 i32 -1" }, VOCAB_SPECIAL, "c", "1 6 11" },
	{ "nor one of -1 without a sign", { SPM, SPM_TEXTS, KEY("bos_token_id") "u32 u32 2^32-1" }, VOCAB_SPECIAL, "c", "1 6 11" },
	{ "merges by rank", { BPE, PRE, BPE_TEXTS, BPE_MERGES }, 0, "hello hell", "8 4 7" },
	{ "a byte without a token is left out", { BPE, PRE, BPE_TEXTS, BPE_MERGES }, 0, "hexe", "5 1" },
	{ "a merge of texts that are no tokens", { BPE, PRE, KEY("tokens") "array arr string 3 str h str e str hexo",
	  KEY("merges") "array arr string 3 str h%20e str x%20o str he%20xo" }, 0, "hexo he", "2 0 1" },
	{ "merges that go on from texts that are no tokens", { BPE, PRE, KEY("tokens") "array arr string 5 str a str b str c str d str abcd",
	  KEY("merges") "array arr string 3 str a%20b str ab%20c str abc%20d" }, 0, "abcd", "4" },
	{ "the first of two equal merges", { BPE, PRE, BPE_TEXTS,
	  KEY("merges") "array arr string 3 str l%20l str h%20e str l%20l" }, 0, "hell", "5 6" },
	{ "a merge with nothing after its space", { BPE, PRE, BPE_TEXTS, KEY("merges") "array arr string 1 str h%20" }, 0, "h", "0" },
	{ "a whole word before merges", { BPE, KEY("pre") "string str llama3", BPE_TEXTS, KEY("merges") "array arr string 1 str x%20y" },
	  0, "hello", "8" },
	{ "gemma4: characters, spaces, newlines and bytes", { KEY("model") "string str gemma4",
	  KEY("tokens") "array arr string 6 str %E2%96%81 str a str %E2%96%81a str %0A%0A str <0xC3> str <0xA9>",
	  KEY("merges") "array arr string 1 str %E2%96%81%20a" }, 0, "a a\n\n\xc3\xa9", "1 2 3 4 5" },
	{ "bert: words, parts of them, and unknown ones", { KEY("model") "string str bert",
	  KEY("tokens") "array arr string 6 str [UNK] str [CLS] str [SEP] str %E2%96%81un str do str %E2%96%81!",
	  KEY("cls_token_id") "u32 u32 1", KEY("seperator_token_id") "u32 u32 2", KEY("unknown_token_id") "u32 u32 0" },
	  VOCAB_SPECIAL, "\xc3\x9cn" "d\xc3\xb6! dodo", "1 3 4 5 0 2" },
	{ "rwkv: the longest token, escapes", { KEY("model") "string str rwkv",
	  KEY("tokens") "array arr string 5 str <s> str a str ab str \\x00b str \\n" }, 0, "aab\n", "1 2 4" },
	{ "t5: the best cover", { KEY("model") "string str t5",
	  KEY("tokens") "array arr string 7 str <pad> str </s> str <unk> str %E2%96%81 str a str ab str %E2%96%81a",
	  KEY("scores") "array arr f32 7 f32 0 f32 0 f32 0 f32 -4 f32 -3 f32 -1 f32 -2",
	  KEY("token_type") "array arr i32 7 i32 3 i32 3 i32 2 i32 1 i32 1 i32 1 i32 1",
	  KEY("add_space_prefix") "bool bool 1", KEY("remove_extra_whitespaces") "bool bool 1" }, VOCAB_SPECIAL, "  a  ab zz ", "6 3 5 3 2 1" },
	{ "phi-3: white space after a special token goes", { "key general.name string str Phi-3-mini", SPM, SPM_TEXTS, SPM_SCORES,
	  SPM_TYPES }, VOCAB_PARSE, "<mark> \n ab", "10 7" },
	{ "an empty token has a name", { SPM, KEY("tokens") "array arr string 4 str <unk> str % str %E2%96%81 str [EMPTY_1]" }, 0, "",
	  "" },
};

static bool same_ids(const struct tokens *t, const char *ids)
{
	char *end;

	for (size_t i = 0; i < t->n; i++, ids = end)
		if (strtol(ids, &end, 10) != t->id[i] || end == ids)
			return false;
	return !*ids;
}

static void test_taken(void)
{
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
		struct open_vocab o = open_keys(taken[i].keys);
		struct tokens t = { 0 };
		int err = o.err;

		if (!err)
			err = vocab_encode(o.v, taken[i].text, strlen(taken[i].text), taken[i].flags, &t);
		if (!ok(!err && same_ids(&t, taken[i].ids), "%s", taken[i].what)) {
			printf("# %s:", o.e.text);
			for (size_t k = 0; k < t.n; k++)
				printf(" %d", t.id[k]);
			puts("");
		}
		free(t.id);
		close_vocab(&o);
	}
}

/* ---- what a vocabulary says ---- */

static bool piece_is(const struct vocab *v, int32_t id, bool special, const char *want, size_t n)
{
	struct gguf_bytes p = vocab_piece(v, id, special);

	return p.n == n && !memcmp(p.p, want, n);
}

static void test_pieces(void)
{
	struct open_vocab o = open_keys((const char *const[]){ SPM, SPM_TEXTS, SPM_SCORES, SPM_TYPES, NULL });

	ok(!o.err && piece_is(o.v, 7, false, " ab", 3), "a piece has spaces");
	ok(piece_is(o.v, 8, false, "\xff", 1), "a byte token is its byte");
	ok(piece_is(o.v, 2, false, "", 0) && piece_is(o.v, 2, true, "</s>", 4), "a control token shows only when asked for");
	ok(piece_is(o.v, 10, false, "<mark>", 6), "a user-defined token is its text");
	ok(piece_is(o.v, -1, true, "", 0) && piece_is(o.v, 12, true, "", 0), "what is no token is nothing");
	ok(vocab_is_eog(o.v, 2) && !vocab_is_eog(o.v, 1) && !vocab_is_eog(o.v, -1) && !vocab_is_eog(o.v, 12), "eos ends, bos does not");
	ok(vocab_bos(o.v) == 1 && vocab_eos(o.v) == 2 && vocab_size(o.v) == 12 && vocab_adds_bos(o.v), "ids and size");
	close_vocab(&o);
	o = open_keys((const char *const[]){ BPE, PRE, BPE_TEXTS, BPE_MERGES, NULL });
	ok(!o.err && piece_is(o.v, 4, false, " ", 1), "a mapped space is a space");
	ok(vocab_is_eog(o.v, 9) && vocab_is_control(o.v, 9), "a text that ends turns does so whatever its type");
	ok(vocab_bos(o.v) == -1 && vocab_eos(o.v) == -1 && !vocab_adds_bos(o.v), "no bos without a key");
	close_vocab(&o);
}

static void test_ends(void)
{
	struct open_vocab o = open_keys((const char *const[]){ BPE, PRE,
		KEY("tokens") "array arr string 5 str <|end|> str <|return|> str <|call|> str <|channel|> str x",
		BPE_MERGES, KEY("token_type") "array arr i32 5 i32 3 i32 3 i32 3 i32 3 i32 1", NULL });

	ok(!o.err && !vocab_is_eog(o.v, 0) && vocab_is_eog(o.v, 1) && vocab_is_eog(o.v, 2), "where <|return|> ends, <|end|> does not");
	ok(piece_is(o.v, 3, false, "<|channel|>", 11), "a channel is said aloud");
	close_vocab(&o);
}

static void test_warnings(void)
{
	struct open_vocab o = open_keys((const char *const[]){ BPE, BPE_TEXTS, BPE_MERGES, KEY("padding_token_id") "u32 u32 2^32-1", NULL });

	ok(!o.err && strstr(vocab_warning(o.v, 0), "tokenizer.ggml.pre is missing"), "a missing pre-tokenizer is warned of");
	ok(strstr(vocab_warning(o.v, 1), "padding_token_id: 4294967295") && !vocab_warning(o.v, 2), "so is an id of -1");
	close_vocab(&o);
}

/* ---- long texts, and text in pieces ---- */

static void test_long(void)
{
	enum { BYTES = 2000000 };
	struct open_vocab o[2] = {
		open_keys((const char *const[]){ SPM, SPM_TEXTS, SPM_SCORES, SPM_TYPES, NULL }),
		open_keys((const char *const[]){ BPE, PRE, BPE_TEXTS, BPE_MERGES, NULL }),
	};
	static const char *const word[2] = { "ab", "hell" };
	char *text = malloc(BYTES);

	for (int k = 0; k < 2 && text; k++) {
		struct tokens t = { 0 };
		size_t n = strlen(word[k]);

		for (size_t at = 0; at < BYTES; at += n)
			memcpy(text + at, word[k], n);
		ok(!o[k].err && !vocab_encode(o[k].v, text, BYTES, 0, &t) && t.n == BYTES / n, "one word of %d bytes", BYTES);
		free(t.id);
	}
	free(text);
	close_vocab(&o[0]);
	close_vocab(&o[1]);
}

/* What comes out when text goes in step bytes at a time. */
static bool held(const char *text, size_t step, const char *want)
{
	struct utf8_hold h = { 0 };
	char out[256];
	size_t n = strlen(text), w = 0;

	for (size_t at = 0; at < n; at += step) {
		size_t before = w;

		w += utf8_hold(&h, text + at, n - at < step ? n - at : step, out + w);
		if (utf8_valid_prefix(out + before, w - before) != w - before)
			return false;
	}
	w += utf8_hold_end(&h, out + w);
	return w == strlen(want) && !memcmp(out, want, w);
}

static void test_hold(void)
{
	static const struct { const char *text, *want; } texts[] = {
		{ "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80z", "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80z" },
		{ "x\xffy", "x" UTF8_REPLACEMENT "y" },
		{ "\xe4\xb8", UTF8_REPLACEMENT UTF8_REPLACEMENT },
		{ "\xe4\xb8z", UTF8_REPLACEMENT UTF8_REPLACEMENT "z" },
		{ "\xc0\x80\xed\xa0\x80", UTF8_REPLACEMENT UTF8_REPLACEMENT UTF8_REPLACEMENT UTF8_REPLACEMENT UTF8_REPLACEMENT },
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		bool same = true;

		for (size_t step = 1; step < 9; step++)
			same &= held(texts[i].text, step, texts[i].want);
		ok(same, "text %zu is cut between characters only", i);
	}
}

/* A vocabulary of 256 byte tokens is too long for a row: it is one of the fuzzer's. */
static void test_plamo(void)
{
	struct gguf_error e = { 0 };
	struct open_vocab o = { 0 };
	char path[512];
	struct tokens t = { 0 };

	snprintf(path, sizeof path, "%s/tests/corpus/token/plamo2.gguf", getenv("top_srcdir") ? getenv("top_srcdir") : ".");
	o.err = source_open(&o.s, path, NULL, &e);
	if (!o.err)
		o.err = vocab_open(&o.v, o.s, &e);
	ok(!o.err && !vocab_encode(o.v, "aab\xe4\xb8\xad\xc3\xa9" "b", 9, 0, &t) && same_ids(&t, "260 262 264 199 173 261"),
	   "plamo2: the cheapest cover, and bytes");
	free(t.id);
	close_vocab(&o);
}

int main(void)
{
	test_plamo();
	test_refused();
	test_taken();
	test_pieces();
	test_ends();
	test_warnings();
	test_long();
	test_hold();
	done();
}
