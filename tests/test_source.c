/* SPDX-License-Identifier: MIT */
/* A model file and a plain directory made from it say the same, in every load mode. */
#define _GNU_SOURCE
#include "source.h"
#include "plain.h"
#include "tap.h"
#include "treeval.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <unistd.h>

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static void same_settings(struct source *a, struct source *b)
{
	size_t keys = 0, equal = 0;

	for (const char *k; (k = source_key(a, keys)); keys++) {
		struct gguf_bytes sa, sb;
		const struct gguf_bytes *la, *lb;
		const float *fa, *fb;
		const int64_t *ia, *ib;
		double da, db;
		size_t n, m;

		if (!source_f64(a, k, &da, NULL))
			equal += !source_f64(b, k, &db, NULL) && da == db;
		else if (!source_string(a, k, &sa, NULL))
			equal += !source_string(b, k, &sb, NULL) && sa.n == sb.n && !memcmp(sa.p, sb.p, sa.n);
		else if (!source_f32s(a, k, &fa, &n, NULL) && source_i64s(a, k, &ia, &m, NULL))
			equal += !source_f32s(b, k, &fb, &m, NULL) && n == m && !memcmp(fa, fb, n * sizeof(*fa));
		else if (!source_i64s(a, k, &ia, &n, NULL))
			equal += !source_i64s(b, k, &ib, &m, NULL) && n == m && !memcmp(ia, ib, n * sizeof(*ia));
		else if (!source_strings(a, k, &la, &n, NULL) && !source_strings(b, k, &lb, &m, NULL) && n == m) {
			size_t i = 0;

			while (i < n && la[i].n == lb[i].n && !memcmp(la[i].p, lb[i].p, la[i].n))
				i++;
			equal += i == n;
		} else {
			bool x, y;

			equal += !source_bool(a, k, &x, NULL) && !source_bool(b, k, &y, NULL) && x == y;
		}
	}
	ok(keys > 10 && equal == keys, "all %zu settings are the same, found %zu", keys, equal);
}

static int same_weights(struct source *a, struct source *b)
{
	size_t equal = 0;

	for (size_t i = 0; i < source_weight_count(a); i++) {
		const struct weight *x = source_weight(a, i), *y;
		char name[200];

		snprintf(name, sizeof(name), "%.*s", (int)x->name.n, x->name.p);
		y = source_find(b, name);
		equal += y && x->type == y->type && x->size == y->size && !memcmp(x->extent, y->extent, sizeof(x->extent)) &&
			 x->data && y->data && !memcmp(x->data, y->data, x->size);
	}
	return equal == source_weight_count(a) && equal == source_weight_count(b);
}

static uint64_t told;
static void progress(void *ctx, uint64_t done, uint64_t total)
{
	(void)ctx;
	told = done == total ? done : told;
}

static void modes(const char *path, struct source *want)
{
	static const struct { enum load_mode mode; const char *name; } rows[] = {
		{ LOAD_AUTO, "auto" }, { LOAD_MMAP, "mmap" }, { LOAD_POPULATE, "populate" }, { LOAD_READ, "read" },
	};

	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(*rows); i++) {
		struct source_options o = { .mode = rows[i / 2].mode, .lazy = i & 1, .progress = progress };
		struct source *s = NULL;
		struct gguf_error e = { 0 };
		int err = source_open(&s, path, &o, &e);

		told = 0;
		err = err ? err : source_map(s, &e);
		ok(!err && same_weights(want, s), "%s: %s%s: %s", path, rows[i / 2].name, o.lazy ? ", lazy" : "",
		   err ? e.text : "same weights");
		if (o.mode >= LOAD_POPULATE)
			ok(told > 100000, "%s: progress was told to the end", rows[i / 2].name);
		source_close(s);
	}
}

static void wrong_kinds(const char *path)
{
	struct source *s = NULL;
	struct gguf_error e = { 0 };
	uint64_t u;
	bool b;
	int err = source_open(&s, path, NULL, &e);

	if (!ok(!err, "%s opens", path))
		return;
	ok(source_u64(s, "no.such.key", &u, &e) == -ENOENT, "a key that is not there");
	ok(source_u64(s, "general.architecture", &u, &e) == -EINVAL && strstr(e.text, "general.architecture"),
	   "text is no number: %s", e.text);
	ok(source_bool(s, "llama.block_count", &b, &e) == -EINVAL && strstr(e.text, "llama.block_count"),
	   "a number is no bool: %s", e.text);
	ok(source_u64(s, "llama.attention.layer_norm_rms_epsilon", &u, &e) == -EINVAL, "a fraction is no whole number");
	ok(!source_find(s, "token_embd"), "a weight that is not there");
	source_close(s);
}

static void texts(void)
{
	static const struct { const char *name, *file; } names[] = {
		{ "a/b", "a%2Fb" }, { "50%", "50%25" }, { ".", "%2E" }, { "..", "%2E%2E" }, { "", "%" }, { "a\nb", "a%0Ab" },
		{ "blk.0.attn_q.weight", "blk.0.attn_q.weight" }, { "\xe2\x96\x81", "\xe2\x96\x81" },
	};
	char out[NAME_ROOM], text[] = "a\\\\b\n\\x00\\n\n\n";
	union answer v;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		bool there = !text_escape_name(out, sizeof(out), names[i].name) && !strcmp(out, names[i].file);

		text_unescape_name(out, names[i].file);
		ok(there && !strcmp(out, names[i].name), "name %s and back", names[i].file);
	}
	ok(!text_value(text, sizeof(text) - 1, WANT_STRINGS, &v) && v.a.n == 3, "three lines, three strings");
	const struct gguf_bytes *s = v.a.items;
	ok(s[0].n == 3 && !memcmp(s[0].p, "a\\b", 3) && s[1].n == 2 && !memcmp(s[1].p, "\0\n", 2) && s[2].n == 0,
	   "escapes are taken out");
	free(v.a.items);
	ok(text_value((char[]){ "1\nx\n" }, 4, WANT_I64S, &v) == -EINVAL, "a word among numbers");
	ok(text_value((char[]){ "18446744073709551616\n" }, 21, WANT_U64, &v) == -EINVAL, "2^64 does not fit");
	ok(text_value((char[]){ "-1\n" }, 3, WANT_U64, &v) == -EINVAL, "-1 is no u64");
	ok(!text_value((char[]){ "" }, 0, WANT_STRINGS, &v) && v.a.n == 0, "an empty array");
	free(v.a.items);
	char place[] = "/tmp/a\tb\t96\t1024";
	uint64_t at, size;
	ok(!text_location(place, &at, &size) && at == 96 && size == 1024 && !strcmp(place, "/tmp/a\tb"), "location");
}

static void spoil(const char *dir, const char *file, const char *text, const char *word)
{
	struct source *s = NULL;
	struct gguf_error e = { 0 };
	int err = plain_file(dir, file, text, strlen(text));

	err = err ? err : source_open(&s, dir, NULL, &e);
	ok(err < 0 && strstr(e.text, word), "%s: %s", file, e.text);
	source_close(err ? NULL : s);
}

/* ---- tensors.tsv ---- */

/* Sets the time of change of dir/file, in seconds. */
static void set_time(const char *dir, const char *file, time_t when)
{
	struct timespec times[2] = { { .tv_sec = when }, { .tv_sec = when } };
	char path[900];

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	utimensat(AT_FDCWD, path, times, 0);
}

static const struct {
	const char *what, *table;
	time_t when;    /* of the table; the tensor's files are of 1000 */
	const char *name; /* expected, with extent[0] */
	uint64_t extent;
} tables[] = {
	{ "a table that is as old as the files is believed", "h\nw\tF32\t2 2\t4\t16\t0\t0\n", 1000, "w", 2 },
	{ "one that is older is not", "h\nw\tF32\t2 2\t4\t16\t0\t0\n", 999, "w", 4 },
	{ "nor one whose size is another", "h\nw\tF32\t2 3\t6\t24\t0\t0\n", 1000, "w", 4 },
	{ "nor one that contradicts itself", "h\nw\tF32\t2 3\t4\t16\t0\t0\n", 1000, "w", 4 },
	{ "nor one with a name twice", "h\nw\tF32\t2 2\t4\t16\t0\t0\nw\tF32\t2 2\t4\t16\t0\t0\n", 1000, "w", 4 },
	{ "a line that does not end is left alone", "h\nw\tF32\t2 2\t4\t16\t0\t0\nx\tF3", 1000, "w", 2 },
	{ "nor one with a line that is none", "h\nw\tF32\t2 2\t4\t16\t0\t0\nx\tF32\n", 1000, "w", 4 },
	{ "an empty one", "", 1000, "w", 4 },
};

static struct source *open_table(const char *dir, const char *tensor, const char *table, time_t when)
{
	char sub[300], path[600];
	struct source *s = NULL;

	snprintf(path, sizeof(path), "%s/metadata", dir);
	if (mkdir(dir, 0777) || mkdir(path, 0777))
		puts("Bail out! no directory"), exit(99);
	snprintf(path, sizeof(path), "%s/tensors", dir);
	mkdir(path, 0777);
	snprintf(sub, sizeof(sub), "tensors/%s", tensor);
	snprintf(path, sizeof(path), "%s/%s", dir, sub);
	mkdir(path, 0777);
	for (int i = 0; i < 3; i++) {
		static const char *const files[] = { "type", "shape", "raw" }, *const texts[] = { "F32\n", "4 1\n", "0123456789abcdef" };

		snprintf(path, sizeof(path), "%s/%s", sub, files[i]);
		plain_file(dir, path, texts[i], strlen(texts[i]));
		set_time(dir, path, 1000);
	}
	plain_file(dir, "tensors.tsv", table, strlen(table));
	set_time(dir, "tensors.tsv", when);
	source_open(&s, dir, NULL, NULL);
	return s;
}

static void table_files(const char *tmp)
{
	char dir[100], cut[256], row[700], name[301];
	struct source *s;

	snprintf(dir, sizeof(dir), "%s/t", tmp);
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		const struct weight *w;

		s = open_table(dir, "w", tables[i].table, tables[i].when);
		w = s ? source_find(s, tables[i].name) : NULL;
		ok(w && w->extent[0] == tables[i].extent && w->size == 16, "%s", tables[i].what);
		source_close(s);
		nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	}
	memset(name, 'n', 300);
	name[300] = '\0';
	snprintf(cut, sizeof(cut), "%.252s%%~0", name);
	snprintf(row, sizeof(row), "h\n%s\tF32\t4\t4\t16\t0\t0\n", name);
	s = open_table(dir, cut, row, 1);
	ok(s && source_find(s, name), "a name that was cut is told by the table");
	source_close(s);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	row[4] = 'm';
	s = open_table(dir, cut, row, 1);
	ok(s && !source_find(s, name) && source_find(s, cut), "but not by a row that begins otherwise");
	source_close(s);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int main(void)
{
	char model[600], tmp[] = "/tmp/sourceXXXXXX", dir[64];
	struct source *file = NULL, *tree = NULL;
	struct gguf_error e = { 0 };

	texts();
	if (!mkdtemp(tmp))
		puts("Bail out! no directory"), exit(99);
	table_files(tmp);
	snprintf(model, sizeof(model), "%s/models/stories/stories260K-q8_0.gguf", getenv("shared") ? getenv("shared") : "");
	if (access(model, R_OK)) {
		rmdir(tmp);
		skip("a model as file and as directory", "no models");
		done();
	}
	snprintf(dir, sizeof(dir), "%s/m", tmp);
	ok(!plain_tree(model, dir), "a plain directory was made");
	ok(!source_open(&file, model, NULL, &e) && !source_map(file, &e), "file: %s", e.text);
	ok(!source_open(&tree, dir, NULL, &e) && !source_map(tree, &e), "directory: %s", e.text);
	if (!file || !tree)
		done();
	same_settings(file, tree);
	ok(same_weights(file, tree), "the same weights");
	modes(model, file);
	modes(dir, file);
	wrong_kinds(model);
	wrong_kinds(dir);
	source_close(tree);
	struct source_options o = { .mode = LOAD_BACKING };
	ok(!source_open(&tree, dir, &o, &e) && source_map(tree, &e) < 0, "backing needs a mount: %s", e.text);
	source_close(tree);
	source_close(file);
	spoil(dir, "tensors/output_norm.weight/shape", "65\n", "output_norm.weight/raw");
	spoil(dir, "tensors/output_norm.weight/shape", "8 8 1 1 1\n", "shape");
	spoil(dir, "tensors/output_norm.weight/type", "Q99\n", "type");
	ok(source_open(&tree, tmp, NULL, &e) < 0, "no model's directory: %s", e.text);
	ok(source_open(&tree, "/nonexistent", NULL, &e) == -ENOENT, "nothing there: %s", e.text);
	nftw(tmp, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	done();
}
