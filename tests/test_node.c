/* SPDX-License-Identifier: MIT */
/* The tree without a mount: names to inodes and back, listings from any place, attributes, bytes. */
#include "node.h"
#include "made.h"
#include "tap.h"
#include "xattr.h"
#include <errno.h>
#include <stdlib.h>

enum { LAYERS = 40 };
static char long_name[400];

/* Tensors: some of layers, some with odd names. */
static struct gguf *model(struct build *m)
{
	static const char *const odd[] = { "output.weight", "a/b", "..", "blk.07.x", "blk.3.", "blk.x.y", "blk.1" };
	enum { ODD = sizeof odd / sizeof *odd };
	uint64_t n = 2 * LAYERS + ODD + 1, k = 0;
	char name[512];

	memset(long_name, 'n', sizeof long_name - 1);
	made_head(m, n, 4);
	made_key(m, "general.architecture", GGUF_STRING);
	made_string(m, "llama");
	made_key(m, "tokenizer.chat_template", GGUF_STRING);
	made_string(m, "{{ x }}\n");
	made_key(m, "list", GGUF_ARRAY);
	made_array(m, GGUF_U8, 3);
	build_number(m, 0x030201, 3);
	made_key(m, "llama.block_count", GGUF_U32);
	build_number(m, LAYERS, 4);
	for (int i = LAYERS - 1; i >= 0; i--, k += 2) {
		made_tensor(m, (sprintf(name, "blk.%d.attn.weight", i), name), 32 * k);
		made_tensor(m, (sprintf(name, "blk.%d.%s", i, i ? "ffn.weight" : long_name), name), 32 * (k + 1));
	}
	for (int i = 0; i < ODD; i++)
		made_tensor(m, odd[i], 32 * k++);
	made_tensor(m, long_name, 32 * k++);
	made_data(m, n);
	return made_open(m);
}

/* The inode of a path, or -errno. */
static int64_t walk(const struct mtree *t, const char *path)
{
	uint64_t ino = NODE_ROOT;

	while (*path) {
		size_t n = strcspn(path, "|");
		int err = node_lookup(t, ino, path, n, &ino);

		if (err)
			return err;
		path += n + (path[n] == '|');
	}
	return (int64_t)ino;
}

static const struct {
	const char *path; /* parts between bars */
	int64_t want;   /* 0: it is there */
	const char *content;
} paths[] = {
	{ "metadata|general.architecture", 0, "llama\n" },
	{ "metadata|tokenizer.chat_template", 0, "{{ x }}\n\n" },
	{ "metadata|list", 0, "1\n2\n3\n" },
	{ "metadata|nothing", -ENOENT, NULL },
	{ "chat_template.jinja", 0, "metadata/tokenizer.chat_template" },
	{ "tensors|output.weight|type", 0, "F32\n" },
	{ "tensors|output.weight|shape", 0, "8\n" },
	{ "tensors|a%2Fb|type", 0, "F32\n" },
	{ "tensors|%2E%2E|type", 0, "F32\n" },
	{ "tensors|..|type", -ENOENT, NULL },
	{ "tensors|output.weight|nothing", -ENOENT, NULL },
	{ "tensors|output.weight|type|more", -ENOTDIR, NULL },
	{ "layers|39|attn.weight", 0, "../../tensors/blk.39.attn.weight" },
	{ "layers|3|%", 0, "../../tensors/blk.3." },
	{ "layers|40", -ENOENT, NULL },
	{ "layers|07", -ENOENT, NULL },
	{ "layers|7|x", -ENOENT, NULL },
	{ "layers|x", -ENOENT, NULL },
	{ "layers|0|ffn.weight", -ENOENT, NULL },
	{ "nothing", -ENOENT, NULL },
};

static void test_paths(struct mtree *t)
{
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		int64_t ino = walk(t, paths[i].path);
		char buf[256];

		if (paths[i].want) {
			ok(ino == paths[i].want, "%s: refused (%ld)", paths[i].path, (long)ino);
			continue;
		}
		ssize_t n = ino < 0 ? -1 : node_read(t, (uint64_t)ino, buf, sizeof buf, 0);
		struct stat st = { 0 };

		ok(n == (ssize_t)strlen(paths[i].content) && !memcmp(buf, paths[i].content, (size_t)n) &&
			   !node_stat(t, (uint64_t)ino, &st) && st.st_size == n && st.st_ino == (ino_t)ino,
		   "%s: bytes and size", paths[i].path);
	}
}

/* Lists a directory; each name leads to the inode it was listed with; returns how many entries. */
static size_t list(struct mtree *t, uint64_t dir, bool *sound)
{
	struct node_entry e;
	uint64_t cookie = 0, found;
	size_t n = 0;

	*sound = true;
	while (node_entry(t, dir, cookie, &e) > 0) {
		struct stat st;

		if (n >= 2)
			*sound &= !node_lookup(t, dir, e.name, strlen(e.name), &found) && found == e.ino;
		*sound &= !node_stat(t, e.ino, &st) && (st.st_mode & S_IFMT) == e.type;
		cookie = e.next;
		n++;
	}
	return n;
}

static void test_lists(struct mtree *t)
{
	static const struct {
		const char *path;
		size_t entries;
	} lists[] = {
		{ "", 2 + 9 },
		{ "metadata", 2 + 4 },
		{ "tensors", 2 + 2 * LAYERS + 8 },
		{ "tensors|output.weight", 2 + 3 },
		{ "layers", 2 + LAYERS },
		{ "layers|3", 2 + 3 },
		{ "layers|0", 2 + 2 },
	};
	bool sound;

	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		size_t n = list(t, (uint64_t)walk(t, lists[i].path), &sound);

		ok(sound && n >= lists[i].entries, "/%s: %zu entries, each found by its name", lists[i].path, n);
	}
}

static void test_numbers(struct mtree *t)
{
	struct node_entry e;
	struct stat st;
	unsigned wrong = 0;

	ok(walk(t, "") == NODE_ROOT && !node_stat(t, NODE_ROOT, &st) && S_ISDIR(st.st_mode), "the root is inode 1");
	for (uint64_t ino = 0; ino < 100000; ino++)
		wrong += node_stat(t, ino, &st) && node_read(t, ino, &e, 1, 0) != -ENOENT; /* what cannot be asked about cannot be read */
	ok(!wrong, "numbers of no file are refused");
	ok(node_stat(t, UINT64_MAX, &st) == -ENOENT && node_stat(t, 0, &st) == -ENOENT, "the largest and 0 too");
	ok(node_entry(t, NODE_ROOT, UINT64_MAX, &e) == 0, "a cookie beyond the end");
	ok(node_entry(t, (uint64_t)walk(t, "info"), 0, &e) == -ENOTDIR, "a file is not listed");
}

static void test_cut(struct mtree *t)
{
	char name[NAME_SIZE], path[NAME_SIZE + 16];
	uint64_t last = gguf_tensor_count(t->g) - 1;
	int64_t ino;

	name_encode(name, gguf_tensor(t->g, last)->name, last);
	sprintf(path, "tensors|%s", name);
	ino = walk(t, path);
	ok(ino == (int64_t)node_ino(ROW_TENSOR, last), "a cut name is found");
	path[10] = 'x';
	ok(walk(t, path) == -ENOENT, "not with another beginning");
	path[10] = 'n';
	path[strlen(path) - 1] ^= 1;
	ok(walk(t, path) == -ENOENT, "not with another number");

	char got[512];
	struct out o = { .buf = got, .room = sizeof got };
	ok(!xattr_get(t, (uint64_t)ino, "user.gguf.name", &o) && o.used == strlen(long_name) &&
		   !memcmp(got, long_name, o.used), "its attribute has the whole name");
}

static void test_xattr(struct mtree *t)
{
	uint64_t key = (uint64_t)walk(t, "metadata|list"), dir = (uint64_t)walk(t, "metadata");
	char got[64];
	struct out o = { .buf = got, .room = sizeof got };

	ok(!xattr_get(t, key, "user.gguf.type", &o) && o.used == 9 && !memcmp(got, "array[u8]", 9), "type of an array");
	ok(xattr_get(t, dir, "user.gguf.type", &o) == -ENODATA, "a directory has none");
	ok(xattr_get(t, key, "security.selinux", &o) == -EOPNOTSUPP, "nobody has others");
	o.used = 0;
	ok(!xattr_list(t, key, &o) && o.used == 30 && !memcmp(got, "user.gguf.name\0user.gguf.type", 30), "list");
	ok(xattr_get(t, (uint64_t)walk(t, "tensors|a%2Fb|raw"), "user.gguf.location", &o) == -ENODATA,
	   "a model in memory has no place on disk");
}

/* Bytes of a raw file at every offset. */
static void test_raw(struct mtree *t)
{
	const struct gguf_tensor *second = gguf_tensor(t->g, 1);
	uint64_t ino = node_ino(ROW_RAW, 1);
	unsigned char buf[64];
	bool right = true;

	for (uint64_t at = 0; at < 40; at++) {
		ssize_t n = node_read(t, ino, buf, 16, at), want = at >= 32 ? 0 : at > 16 ? 32 - (ssize_t)at : 16;

		right &= n == want;
		for (ssize_t k = 0; k < n; k++)
			right &= buf[k] == (32 + at + (uint64_t)k) % 251;
	}
	ok(right && second->size == 32, "raw at each offset");
}

static void test_modes(struct mtree *t)
{
	struct stat st;

	node_stat(t, (uint64_t)walk(t, "metadata"), &st);
	ok(st.st_mode == (S_IFDIR | 0550) && st.st_uid == 12 && st.st_gid == 34 && st.st_nlink == 2, "a directory");
	node_stat(t, (uint64_t)walk(t, "info"), &st);
	ok(st.st_mode == (S_IFREG | 0440) && st.st_nlink == 1, "a file");
	node_stat(t, (uint64_t)walk(t, "layers"), &st);
	ok(st.st_nlink == 2 + LAYERS, "a directory of directories counts them");
}

int main(void)
{
	struct mtree_options opt = { .uid = 12, .gid = 34, .umask = 0027 };
	struct build m = { 0 };
	struct gguf *g = model(&m);
	struct mtree *t = NULL;

	if (!ok(!mtree_new(&t, g, &opt), "a tree is made"))
		done();
	test_paths(t);
	test_lists(t);
	test_numbers(t);
	test_cut(t);
	test_xattr(t);
	test_raw(t);
	test_modes(t);
	mtree_free(t);
	gguf_close(g);
	build_free(&m);
	done();
}
