/* SPDX-License-Identifier: MIT */
#include "node.h"
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

enum { ROW_BITS = 8 };

uint64_t node_ino(enum row row, uint64_t i)
{
	return i << ROW_BITS | row;
}

/* Whether the row has a file for that item. */
static bool is_present(const struct mtree *t, const struct file *f, uint64_t i)
{
	return !f->present || f->present(t, i);
}

int node_of(const struct mtree *t, uint64_t ino, struct node *node)
{
	uint64_t row = ino & ((1 << ROW_BITS) - 1), i = ino >> ROW_BITS;

	if (row == ROW_NONE || row >= file_count || i >= file_total(t, &files[row]) || !is_present(t, &files[row], i))
		return -ENOENT;
	*node = (struct node){ &files[row], (enum row)row, i };
	return 0;
}

/* node_of for what has to be a directory. */
static int dir_of(const struct mtree *t, uint64_t ino, struct node *node)
{
	int err = node_of(t, ino, node);

	return err ? err : S_ISDIR(node->file->type) ? 0 : -ENOTDIR;
}

/* ---- bytes ---- */

static const struct text *made_text(const struct mtree *t, const struct node *n)
{
	return atomic_load_explicit(&t->texts[n->row][n->i], memory_order_acquire);
}

/* The text of a node whose file has a step: made once, whoever comes first. */
static int text_of(struct mtree *t, const struct node *n, const struct text **out)
{
	const struct text *made = made_text(t, n);
	struct text *text;
	int err = 0;

	if (!made) {
		pthread_mutex_lock(&t->making);
		made = made_text(t, n);
		if (!made)
			err = text_new(&text, n->file->step, t->g, n->i);
		if (!made && !err) {
			atomic_store_explicit(&t->texts[n->row][n->i], text, memory_order_release);
			made = text;
		}
		pthread_mutex_unlock(&t->making);
	}
	*out = made;
	return err;
}

/* Bytes of a file; 0 for a directory. May have to make a text, or to print a short file for nothing but its length. */
static int size_of(struct mtree *t, const struct node *n, uint64_t *size)
{
	const struct text *text;
	struct out count = { 0 };
	int err = 0;

	*size = 0;
	if (n->file->size)
		return n->file->size(t, n->i, size);
	if (n->file->step) {
		err = text_of(t, n, &text);
		if (!err)
			*size = text->size;
	} else if (n->file->print) {
		err = n->file->print(t, n->i, &count);
		*size = count.total;
	}
	return err;
}

/* For rows with size and read: keeps the range within the file. */
static ssize_t read_at(struct mtree *t, const struct node *n, void *buf, size_t len, uint64_t offset)
{
	uint64_t size;
	int err = n->file->size(t, n->i, &size);

	if (err || offset >= size)
		return err;
	if (len > size - offset)
		len = size - offset;
	err = n->file->read(t, n->i, buf, len, offset);
	return err ? err : (ssize_t)len;
}

ssize_t node_read(struct mtree *t, uint64_t ino, void *buf, size_t len, uint64_t offset)
{
	struct out o = { .buf = buf, .room = len, .skip = offset };
	const struct text *text;
	struct node n;
	int err = node_of(t, ino, &n);

	if (err)
		return err;
	if (n.file->read)
		return read_at(t, &n, buf, len, offset);
	if (n.file->step) {
		err = text_of(t, &n, &text);
		return err ? err : text_read(text, buf, len, offset);
	}
	if (!n.file->print)
		return -EISDIR;
	err = n.file->print(t, n.i, &o);
	return err ? err : (ssize_t)o.used;
}

/* ---- attributes ---- */

bool node_is_costly(const struct mtree *t, uint64_t ino)
{
	struct node n;

	return !node_of(t, ino, &n) && n.file->step && !made_text(t, &n);
}

bool node_is_slow(const struct mtree *t, uint64_t ino)
{
	struct node n;

	return !node_of(t, ino, &n) && n.file->slow;
}

/* Nothing can be written, so that only read and search permissions are left for umask to take. */
static mode_t mode_of(const struct mtree *t, const struct file *f)
{
	if (S_ISLNK(f->type))
		return S_IFLNK | 0777;
	return f->type ? f->type | (0555 & ~t->opt.umask) : S_IFREG | (0444 & ~t->opt.umask);
}

/* A directory's links: its own two and one from each directory in it. */
static nlink_t links_of(const struct mtree *t, const struct node *n)
{
	nlink_t links = 2;

	if (!S_ISDIR(n->file->type))
		return 1;
	for (size_t row = ROW_ROOT + 1; row < file_count; row++)
		if (files[row].where == n->row && S_ISDIR(files[row].type))
			links += files[row].items ? files[row].items->count(t, n->i) : 1;
	return links;
}

int node_stat(struct mtree *t, uint64_t ino, struct stat *st)
{
	struct node n;
	uint64_t size;
	int err = node_of(t, ino, &n);

	if (!err)
		err = size_of(t, &n, &size);
	if (err)
		return err;
	*st = (struct stat){
		.st_ino = ino,
		.st_mode = mode_of(t, n.file),
		.st_nlink = links_of(t, &n),
		.st_uid = t->opt.uid,
		.st_gid = t->opt.gid,
		.st_size = (off_t)size,
		.st_blksize = 1 << 20,
		.st_blocks = (blkcnt_t)((size + 511) / 512),
		.st_atim = t->mtime,
		.st_mtim = t->mtime,
		.st_ctim = t->mtime,
	};
	return 0;
}

/* ---- names ---- */

/* Whether item i of directory number dir is called so. */
static bool is_called(const struct mtree *t, const struct items *items, uint64_t dir, uint64_t i, struct gguf_bytes s)
{
	uint64_t count = items->count(t, dir), low = 0, high = count;
	char name[NAME_SIZE];

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (items->nth(t, dir, middle) < i)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && items->nth(t, dir, low) == i && items->name(t, i, name) == s.n && !memcmp(name, s.p, s.n);
}

/* Number of the item of directory dir that the file name stands for, or -ENOENT or -ENAMETOOLONG. */
static ssize_t find_item(const struct mtree *t, const struct items *items, uint64_t dir, const char *name, size_t n)
{
	struct name parts;
	int err = name_decode(&parts, name, n);

	if (err)
		return err;
	if (!parts.cut)
		return items->find(t, dir, (struct gguf_bytes){ parts.exact, parts.n });
	if (!is_called(t, items, dir, parts.number, (struct gguf_bytes){ name, n }))
		return -ENOENT;
	return (ssize_t)parts.number;
}

int node_lookup(const struct mtree *t, uint64_t ino, const char *name, size_t n, uint64_t *found)
{
	struct node dir;
	int err = dir_of(t, ino, &dir);

	if (err)
		return err;
	for (size_t row = ROW_ROOT + 1; row < file_count; row++) {
		const struct file *f = &files[row];
		ssize_t i = (ssize_t)dir.i;

		if (f->where != dir.row || (f->name && (strlen(f->name) != n || memcmp(f->name, name, n) != 0)))
			continue;
		if (!f->name)
			i = find_item(t, f->items, dir.i, name, n);
		if (i < 0 && i != -ENOENT)
			return (int)i;
		if (i < 0 || !is_present(t, f, (uint64_t)i))
			continue;
		*found = node_ino((enum row)row, (uint64_t)i);
		return 0;
	}
	return -ENOENT;
}

/* A cookie is a row, and how many of its items have gone by. Rows 0 and 1 stand for "." and "..". */
static void fill_dots(const struct node *dir, uint64_t row, struct node_entry *e)
{
	enum row up = dir->file->where;

	strcpy(e->name, row ? ".." : ".");
	e->type = S_IFDIR;
	e->next = row + 1;
	e->ino = row ? node_ino(up, files[up].items ? dir->i : 0) : node_ino(dir->row, dir->i);
}

/* The first file from the k-th on that a row has in a directory. */
static bool fill_entry(const struct mtree *t, const struct node *dir, uint64_t row, uint64_t k, struct node_entry *e)
{
	const struct file *f = &files[row];
	uint64_t count = f->items ? f->items->count(t, dir->i) : 1, i = dir->i;

	for (; k < count; k++) {
		if (f->items)
			i = f->items->nth(t, dir->i, k);
		if (is_present(t, f, i))
			break;
	}
	if (k >= count)
		return false;
	e->ino = node_ino((enum row)row, i);
	e->type = f->type ? f->type : S_IFREG;
	e->next = node_ino((enum row)row, k + 1);
	if (f->name)
		strcpy(e->name, f->name);
	else
		f->items->name(t, i, e->name);
	return true;
}

int node_entry(const struct mtree *t, uint64_t ino, uint64_t cookie, struct node_entry *e)
{
	uint64_t row = cookie & ((1 << ROW_BITS) - 1), k = cookie >> ROW_BITS;
	struct node dir;
	int err = dir_of(t, ino, &dir);

	if (err)
		return err;
	if (row <= ROW_ROOT) {
		fill_dots(&dir, row, e);
		return 1;
	}
	for (; row < file_count; row++, k = 0)
		if (files[row].where == dir.row && fill_entry(t, &dir, row, k, e))
			return 1;
	return 0;
}
