/* SPDX-License-Identifier: MIT */
/* A file in memory as a mount shows it: each directory is listed, each file sized, and read whole and in parts. */
#include "fs/node.h"
#include "fs/xattr.h"
#include "fuzz.h"
#include <errno.h>
#include <stdlib.h>

enum { NODES_MOST = 400, WHOLE_MOST = 1 << 16, DEPTH_MOST = 4 };

struct walk {
	struct mtree *t;
	size_t left; /* nodes */
};

/* Parts are what the whole has there, also those that reach past its end. */
static void read_parts(struct mtree *t, uint64_t ino, const char *whole, size_t n)
{
	char part[700];

	for (size_t at = 0; at <= n; at += n / 5 + 1) {
		ssize_t got = node_read(t, ino, part, sizeof part, at);
		size_t want = n - at < sizeof part ? n - at : sizeof part;

		if (got != (ssize_t)want || memcmp(part, whole + at, want))
			abort();
	}
}

static void read_file(struct mtree *t, uint64_t ino, const struct stat *st)
{
	size_t n = st->st_size < WHOLE_MOST ? (size_t)st->st_size : WHOLE_MOST;
	char *whole = malloc(n + 1);
	ssize_t got = whole ? node_read(t, ino, whole, n, 0) : -1;

	if (got > (ssize_t)n || (got >= 0 && (size_t)got < n))
		abort();
	if (got > 0 && n < WHOLE_MOST)
		read_parts(t, ino, whole, n);
	node_read(t, ino, whole, n, (uint64_t)st->st_size);
	node_read(t, ino, whole, n, UINT64_MAX - 5);
	free(whole);
}

/* Each attribute that is listed can be had. */
static void read_attributes(const struct mtree *t, uint64_t ino)
{
	char names[512], value[512];
	struct out o = { .buf = names, .room = sizeof names };

	if (xattr_list(t, ino, &o) || o.total > sizeof names)
		return;
	for (size_t at = 0; at < o.used; at += strlen(names + at) + 1) {
		struct out v = { .buf = value, .room = sizeof value };

		if (names[o.used - 1] || xattr_get(t, ino, names + at, &v) == -EOPNOTSUPP)
			abort();
	}
}

static void visit(struct walk *w, uint64_t ino, int depth)
{
	struct node_entry e;
	struct stat st;
	uint64_t cookie = 0, found;

	if (!w->left || depth > DEPTH_MOST || node_stat(w->t, ino, &st))
		return;
	w->left--;
	read_attributes(w->t, ino);
	if (!S_ISDIR(st.st_mode)) {
		read_file(w->t, ino, &st);
		return;
	}
	while (w->left && node_entry(w->t, ino, cookie, &e) > 0) {
		cookie = e.next;
		if (!strcmp(e.name, ".") || !strcmp(e.name, ".."))
			continue;
		if (strchr(e.name, '/') || node_lookup(w->t, ino, e.name, strlen(e.name), &found) || found != e.ino)
			abort();
		visit(w, e.ino, depth + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct mtree_options options = { .keep_below = true };
	struct walk w = { .left = NODES_MOST };
	struct gguf *g = NULL;

	if (gguf_open_memory(&g, data, size, NULL))
		return 0;
	if (mtree_new(&w.t, g, &options))
		abort();
	visit(&w, NODE_ROOT, 0);
	mtree_free(w.t);
	gguf_close(g);
	return 0;
}
