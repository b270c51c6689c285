/* SPDX-License-Identifier: MIT */
/*
 * Weights are mapped where the backend has them lying as they are wanted, and copied where it has not (a big-endian file)
 * or the mode asks for it: all copies lie in one mapping, which load_free ends.
 */
#include "load.h"
#include "error.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CHUNK = 16 << 20, ALIGN = 64 };

struct job {
	struct load *l;
	const struct backend *b;
	void *impl;
	struct weight *w;
	size_t n;
	const struct source_options *opt;
	uint64_t done, total;
	struct gguf_error *e;
};

static void advance(struct job *j, uint64_t bytes)
{
	j->done += bytes;
	if (j->opt->progress)
		j->opt->progress(j->opt->progress_ctx, j->done, j->total);
}

/* Embedding tables are read a row at a time: with lazy they are left where they lie. */
static bool is_put_off(const struct job *j, const struct weight *w)
{
	static const char *const tables[] = { "token_embd.weight", "per_layer_token_embd.weight",
					      "position_embd.weight" };

	for (size_t i = 0; j->opt->lazy && i < sizeof(tables) / sizeof(*tables); i++)
		if (w->name.n == strlen(tables[i]) && !memcmp(w->name.p, tables[i], w->name.n))
			return true;
	return false;
}

static int map_one(struct job *j, size_t i)
{
	return j->b->map(j->impl, i, j->opt->mode, &j->w[i], j->e);
}

/* Room for copies of the weights that are not mapped yet. */
static int reserve(struct job *j)
{
	uint64_t size = 0;

	for (size_t i = 0; i < j->n; i++)
		if (!j->w[i].data && __builtin_add_overflow(size, (j->w[i].size + ALIGN - 1) / ALIGN * ALIGN, &size))
			return gguf_fail(j->e, -EOVERFLOW, 0, "the tensors' sizes add up to more than memory can be");
	if (!size)
		return 0;
	j->l->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (j->l->memory == MAP_FAILED) {
		j->l->memory = NULL;
		return gguf_fail(j->e, -ENOMEM, 0, "no memory for a copy of the weights, %llu MiB",
				 (unsigned long long)(size >> 20));
	}
	j->l->size = size;
	madvise(j->l->memory, size, MADV_HUGEPAGE);
	return 0;
}

static int copy_one(struct job *j, size_t i, char *to)
{
	struct weight *w = &j->w[i];

	for (uint64_t at = 0; at < w->size; at += CHUNK) {
		size_t n = w->size - at < CHUNK ? w->size - at : CHUNK;
		int err = j->b->read(j->impl, i, to + at, n, at, j->e);

		if (err)
			return err;
		advance(j, n);
	}
	w->data = to;
	return 0;
}

static int copy_rest(struct job *j)
{
	int err = reserve(j);
	char *to = j->l->memory;

	for (size_t i = 0; i < j->n && !err; i++) {
		if (j->w[i].data)
			continue;
		err = copy_one(j, i, to);
		to += (j->w[i].size + ALIGN - 1) / ALIGN * ALIGN;
	}
	return err;
}

static int map_all(struct job *j)
{
	for (size_t i = 0; i < j->n; i++) {
		bool copy = j->opt->mode == LOAD_READ && !j->w[i].put_off;
		int err = copy ? -ENOTSUP : map_one(j, i);

		if (err && err != -ENOTSUP)
			return err;
	}
	return copy_rest(j);
}

static void touch(const char *p, size_t n, size_t page)
{
	for (size_t at = 0; at < n; at += page)
		(void)*(const volatile char *)(p + at);
}

int load_pages(const void *p, size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *start = (char *)((uintptr_t)p / page * page);

	n += (size_t)((const char *)p - start);
#ifdef MADV_POPULATE_READ
	if (madvise(start, n, MADV_POPULATE_READ) == 0)
		return 0;
	if (errno != EINVAL)
		return errno == EFAULT ? -EIO : -errno; /* so it names pages that the file did not give */
#endif
	touch(start, n, page);
	return 0;
}

static int lock(const char *p, size_t n)
{
	return mlock(p, n) < 0 ? -errno : 0;
}

/*
 * Pages are read before they are locked: mlock(2) itself tries again and again, within the kernel, to read a page that
 * gives an error.
 */
static int bring_in(struct job *j, const struct weight *w)
{
	for (uint64_t at = 0; at < w->size; at += CHUNK) {
		size_t n = w->size - at < CHUNK ? w->size - at : CHUNK;
		const char *p = (const char *)w->data + at;
		int err = load_pages(p, n);

		if (err)
			return gguf_fail(j->e, err, 0, "tensor %.*s: its bytes cannot be read: %s", (int)w->name.n,
					 w->name.p, strerror(-err));
		err = j->opt->mode == LOAD_MLOCK ? lock(p, n) : 0;
		if (err)
			return gguf_fail(j->e, err, 0, "cannot lock the weights in memory: %s (ulimit -l)",
					 strerror(-err));
		advance(j, n);
	}
	return 0;
}

int load_weights(struct load *l, const struct backend *b, void *impl, struct weight *w, size_t n,
		 const struct source_options *opt, struct gguf_error *e)
{
	struct job j = { .l = l, .b = b, .impl = impl, .w = w, .n = n, .opt = opt, .e = e };
	int err;

	for (size_t i = 0; i < n; i++)
		j.total += (w[i].put_off = is_put_off(&j, &w[i])) ? 0 : w[i].size;
	err = map_all(&j);
	if (opt->mode != LOAD_POPULATE && opt->mode != LOAD_MLOCK)
		return err;
	for (size_t i = 0; i < n && !err; i++)
		if (!w[i].put_off)
			err = bring_in(&j, &w[i]);
	return err;
}

void load_free(struct load *l)
{
	if (l->memory)
		munmap(l->memory, l->size);
}
