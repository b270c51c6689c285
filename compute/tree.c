/* SPDX-License-Identifier: MIT */
/*
 * A source that is a directory of the mount's layout: a mount, or a plain copy of one. The directory is the truth: a
 * copy may have been edited. tensors.tsv spares the files of a tensor that are no newer than it, and tells names that
 * were cut. Values are text; the getter says how to read it.
 */
#include "treedir.h"
#include "backend.h"
#include "error.h"
#include "pages.h"
#include "tree.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static void free_names(char **names, size_t n)
{
	for (size_t i = 0; names && i < n; i++)
		free(names[i]);
	free(names);
}

static void tree_close(void *impl)
{
	struct tree *t = impl;

	for (struct piece *p = t->pieces, *next; p; p = next) {
		next = p->next;
		munmap((void *)p->p, p->n);
		free(p->path);
		free(p);
	}
	for (struct blob *b = t->blobs, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	table_free(&t->table);
	free_names(t->keys, t->n_keys);
	free_names(t->names, t->n_names);
	free_names(t->exact, t->n_names);
	if (t->tensors >= 0)
		close(t->tensors);
	if (t->dir >= 0)
		close(t->dir);
	free(t);
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int append_name(char ***names, size_t *n, size_t *cap, const char *name)
{
	if (*n == *cap) {
		size_t more = *cap ? *cap * 2 : 64;
		char **p = realloc(*names, more * sizeof(char *));

		if (!p)
			return -ENOMEM;
		*names = p;
		*cap = more;
	}
	(*names)[*n] = strdup(name);
	return (*names)[*n] ? ((*n)++, 0) : -ENOMEM;
}

/* The names in directory at/name, sorted. */
static int list_directory(int at, const char *name, char ***names, size_t *n)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	size_t cap = 0;
	int err = 0;

	if (!d) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	for (struct dirent *e; !err && (e = readdir(d));)
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			err = append_name(names, n, &cap, e->d_name);
	closedir(d);
	if (*n)
		qsort(*names, *n, sizeof(char *), compare_strings);
	return err;
}

int tree_read_text(struct tree *t, int at, const char *name, struct blob **out)
{
	int fd = openat(at, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), err = 0; /* a pipe would be waited for */
	struct blob *b = NULL;
	struct stat st;
	ssize_t got;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EISDIR;
	else if (!(b = pages_block(sizeof(*b) + (size_t)st.st_size + 1)))
		err = -ENOMEM;
	for (size_t want = err ? 0 : (size_t)st.st_size, n = 0; !err; n += (size_t)got) {
		got = read(fd, b->text + n, want - n);
		if (got < 0)
			err = -errno;
		if (got <= 0) {
			b->n = n;
			b->text[n] = '\0';
			break;
		}
	}
	close(fd);
	if (err) {
		free(b);
		return err;
	}
	b->next = t->blobs;
	t->blobs = b;
	*out = b;
	return 0;
}

const char *tree_text_error(int err)
{
	return err == -EISDIR ? "not a regular file" : strerror(-err);
}

void tree_drop_newest(struct tree *t)
{
	struct blob *b = t->blobs;

	t->blobs = b->next;
	free(b);
}

int source_tree_open(void **impl, const char *path, struct gguf_error *e)
{
	struct tree *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return gguf_fail(e, -ENOMEM, 0, "out of memory");
	t->tensors = -1;
	t->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = t->dir < 0 ? -errno : list_directory(t->dir, TREE_METADATA, &t->keys, &t->n_keys);
	if (err == -ENOENT || err == -ENOTDIR)
		gguf_fail(e, err, 0, "not a model's directory: it has no %s/", TREE_METADATA);
	else if (err)
		gguf_fail(e, err, 0, "%s/: %s", TREE_METADATA, strerror(-err));
	if (!err) {
		err = list_directory(t->dir, TREE_TENSORS, &t->names, &t->n_names);
		t->tensors = openat(t->dir, TREE_TENSORS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (err)
			gguf_fail(e, err, 0, "%s/: %s", TREE_TENSORS, strerror(-err));
	}
	if (err) {
		tree_close(t);
		return err;
	}
	*impl = t;
	return 0;
}

/* metadata/FILE for a key, in room bytes. */
static int key_path(char *path, size_t room, const char *key)
{
	size_t n = sizeof(TREE_METADATA); /* with the slash in place of the NUL */

	memcpy(path, TREE_METADATA "/", n + 1);
	return text_escape_name(path + n, room - n, key);
}

static bool tree_has(void *impl, const char *key)
{
	const struct tree *t = impl;
	char path[NAME_ROOM + sizeof(TREE_METADATA)];

	return !key_path(path, sizeof(path), key) && faccessat(t->dir, path, F_OK, 0) == 0;
}

static int tree_value(void *impl, const char *key, enum want want, union answer *v, struct gguf_error *e)
{
	struct tree *t = impl;
	char path[NAME_ROOM + sizeof(TREE_METADATA)];
	struct blob *b;
	int err = key_path(path, sizeof(path), key);

	if (!err)
		err = tree_read_text(t, t->dir, path, &b);
	if (err == -ENOENT)
		return err;
	if (err)
		return gguf_fail(e, err, 0, "%s: %s", path, tree_text_error(err));
	err = text_value(b->text, b->n, want, v);
	if (err || (want != WANT_STRING && want != WANT_STRINGS))
		tree_drop_newest(t);
	if (err == -EINVAL)
		return gguf_fail(e, err, 0, "%s: its value is not %s", key, text_kind(want));
	return err ? gguf_fail(e, err, 0, "%s: %s", key, strerror(-err)) : 0;
}

static const char *tree_key(void *impl, size_t i)
{
	const struct tree *t = impl;

	return i < t->n_keys ? t->keys[i] : NULL;
}

/* Maps the whole of fd and keeps it until the tree is closed. path becomes the tree's. */
static int keep_mapped(struct tree *t, int fd, char *path, const struct stat *st, struct piece **out)
{
	struct piece *p = calloc(1, sizeof(*p));
	void *at = p ? mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

	if (at == MAP_FAILED) {
		int err = p ? -errno : -ENOMEM;

		free(p);
		free(path);
		return err;
	}
	*p = (struct piece){ .next = t->pieces, .path = path, .st = *st, .p = at, .n = (size_t)st->st_size };
	t->pieces = p;
	*out = p;
	return 0;
}

/* The model file at path, mapped, if this process may open it. */
static int backing_file(struct tree *t, const char *path, struct piece **out)
{
	struct stat st;
	char *copy;
	int fd, err;

	for (struct piece *p = t->pieces; p; p = p->next)
		if (p->path && !strcmp(p->path, path)) {
			*out = p;
			return 0;
		}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	copy = strdup(path);
	err = !copy ? -ENOMEM : fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) && st.st_size ? 0 : -EINVAL;
	if (err)
		free(copy);
	else
		err = keep_mapped(t, fd, copy, &st, out);
	close(fd);
	return err;
}

/* Whether the n bytes at p are what raw (fd) shows, by its two ends. */
static bool same_ends(int fd, const char *p, uint64_t n)
{
	char buf[64];
	size_t part = n < sizeof(buf) ? n : sizeof(buf);

	return pread(fd, buf, part, 0) == (ssize_t)part && !memcmp(buf, p, part) &&
	       pread(fd, buf, part, (off_t)(n - part)) == (ssize_t)part && !memcmp(buf, p + n - part, part);
}

/*
 * Where raw (fd) lies in the file below the mount. The mount says so in an attribute; that file is believed to be the
 * same one only if it has the time of change that the mount shows, is long enough and has the same bytes at both ends.
 */
static int map_backing(struct tree *t, int fd, const struct stat *raw, struct weight *w)
{
	char text[PATH_MAX + 64];
	ssize_t n = fgetxattr(fd, TREE_XATTR_LOCATION, text, sizeof(text) - 1);
	uint64_t offset, size;
	struct piece *p;
	int err;

	if (n < 0)
		return -ENOTSUP;
	text[n] = '\0';
	if (text_location(text, &offset, &size))
		return -ENOTSUP;
	err = backing_file(t, text, &p);
	if (err)
		return err;
	if (p->st.st_mtim.tv_sec != raw->st_mtim.tv_sec || p->st.st_mtim.tv_nsec != raw->st_mtim.tv_nsec ||
	    size != w->size || offset > p->n || size > p->n - offset || !same_ends(fd, p->p + offset, size))
		return -ESTALE;
	w->data = p->p + offset;
	return 0;
}

static int map_raw(struct tree *t, int fd, const struct stat *st, struct weight *w)
{
	struct piece *p;
	int err;

	if ((uint64_t)st->st_size != w->size)
		return -ESTALE;
	if (!w->size) {
		w->data = "";
		return 0;
	}
	err = keep_mapped(t, fd, NULL, st, &p);
	if (!err)
		w->data = p->p;
	return err;
}

static int open_raw(struct tree *t, size_t i)
{
	char path[NAME_ROOM + 16];

	snprintf(path, sizeof(path), "%s/" TREE_RAW, t->names[i]);
	return openat(t->tensors, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static int tree_map(void *impl, size_t i, enum load_mode mode, struct weight *w, struct gguf_error *e)
{
	struct tree *t = impl;
	int fd = open_raw(t, i), err = -ENOTSUP;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		err = gguf_fail(e, -errno, 0, "%s/%s/%s: %s", TREE_TENSORS, t->names[i], TREE_RAW, strerror(errno));
		goto out;
	}
	if (w->size && (mode == LOAD_AUTO || mode == LOAD_BACKING))
		err = map_backing(t, fd, &st, w);
	if (err && mode == LOAD_BACKING && w->size) {
		err = gguf_fail(e, err == -ENOTSUP ? -ENODEV : err, 0,
				"%s/%s/%s: the model file below cannot be mapped: %s", TREE_TENSORS, t->names[i],
				TREE_RAW, err == -ENOTSUP ? "no " TREE_XATTR_LOCATION : strerror(-err));
		goto out;
	}
	if (err)
		err = map_raw(t, fd, &st, w);
	if (err)
		gguf_fail(e, err, 0, "%s/%s/%s: cannot be mapped: %s", TREE_TENSORS, t->names[i], TREE_RAW,
			  strerror(-err));
out:
	if (fd >= 0)
		close(fd);
	return err;
}

static int tree_read(void *impl, size_t i, void *buf, size_t n, uint64_t offset, struct gguf_error *e)
{
	struct tree *t = impl;
	int fd = open_raw(t, i), err = fd < 0 ? -errno : 0;
	ssize_t got;

	for (size_t done = 0; !err && done < n; done += (size_t)got) {
		got = pread(fd, (char *)buf + done, n - done, (off_t)(offset + done));
		if (got <= 0)
			err = got ? -errno : -EIO;
	}
	if (fd >= 0)
		close(fd);
	return err ? gguf_fail(e, err, offset, "%s/%s/%s: %s", TREE_TENSORS, t->names[i], TREE_RAW, strerror(-err)) : 0;
}

/* Whether st is of raw (fd) or of the file below the mount that it lies in. */
static bool raw_holds(int fd, const struct stat *st)
{
	char text[PATH_MAX + 64];
	uint64_t offset, size;
	struct stat own;
	ssize_t n;

	if (fstat(fd, &own) == 0 && is_same_file(&own, st))
		return true;
	n = fgetxattr(fd, TREE_XATTR_LOCATION, text, sizeof(text) - 1);
	if (n < 0)
		return false;
	text[n] = '\0';
	return !text_location(text, &offset, &size) && stat(text, &own) == 0 && is_same_file(&own, st);
}

static bool tree_holds(void *impl, const struct stat *st)
{
	struct tree *t = impl;
	bool found = false;

	for (size_t i = 0; i < t->n_names && !found; i++) {
		int fd = open_raw(t, i);

		found = fd >= 0 && raw_holds(fd, st);
		if (fd >= 0)
			close(fd);
	}
	return found;
}

const struct backend backend_tree = {
	.close = tree_close,
	.has = tree_has,
	.value = tree_value,
	.key = tree_key,
	.list = tree_list,
	.map = tree_map,
	.read = tree_read,
	.holds = tree_holds,
};
