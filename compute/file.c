/* SPDX-License-Identifier: MIT */
/* A source that is a .gguf file, or the shards of one. */
#include "backend.h"
#include "error.h"
#include "treeval.h"
#include "pages.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct file {
	struct gguf *g;
	struct mapping {
		const char *p; /* NULL: not mapped yet */
		size_t n;
	} *maps; /* of each shard */
	char **keys; /* terminated names, made when first asked for */
};

static void file_close(void *impl)
{
	struct file *f = impl;

	for (size_t i = 0; f->maps && i < gguf_shard_count(f->g); i++)
		if (f->maps[i].p)
			munmap((void *)f->maps[i].p, f->maps[i].n);
	for (size_t i = 0; f->keys && i < gguf_key_count(f->g); i++)
		free(f->keys[i]);
	free(f->keys);
	free(f->maps);
	gguf_close(f->g);
	free(f);
}

int source_file_open(void **impl, const char *path, struct gguf_error *e)
{
	struct file *f = calloc(1, sizeof(*f));
	int err = f ? gguf_open(&f->g, path, e) : gguf_fail(e, -ENOMEM, 0, "out of memory");

	if (err) {
		free(f);
		return err;
	}
	f->maps = calloc(gguf_shard_count(f->g), sizeof(*f->maps));
	if (!f->maps) {
		file_close(f);
		return gguf_fail(e, -ENOMEM, 0, "out of memory");
	}
	*impl = f;
	return 0;
}

static bool file_has(void *impl, const char *key)
{
	const struct file *f = impl;

	return gguf_find_key(f->g, key, strlen(key)) >= 0;
}

static bool as_i64(const struct gguf_value *v, int64_t *i)
{
	switch (v->type) {
	case GGUF_U8:
	case GGUF_U16:
	case GGUF_U32:
	case GGUF_U64:
	case GGUF_BOOL:
		*i = (int64_t)v->u;
		return v->u <= INT64_MAX;
	case GGUF_I8:
	case GGUF_I16:
	case GGUF_I32:
	case GGUF_I64:
		*i = v->i;
		return true;
	default:
		return false;
	}
}

static bool as_f32(const struct gguf_value *v, float *f)
{
	int64_t i;

	if (v->type == GGUF_F32 || v->type == GGUF_F64) {
		*f = (float)v->f;
		return true;
	}
	if (!as_i64(v, &i))
		return false;
	*f = (float)i;
	return true;
}

static size_t item_size(enum want want)
{
	return want == WANT_STRINGS ? sizeof(struct gguf_bytes) : want == WANT_F32S ? sizeof(float) : sizeof(int64_t);
}

/* Puts n values into places from at on of the array items; false when one is of another kind. */
static bool put_items(void *items, size_t at, enum want want, const struct gguf_value *v, size_t n)
{
	struct gguf_bytes *strings = (struct gguf_bytes *)items + at;
	float *floats = (float *)items + at;
	int64_t *whole = (int64_t *)items + at;
	bool good = true;

	for (size_t i = 0; i < n && good && want == WANT_STRINGS; i++) {
		strings[i] = v[i].s;
		good = v[i].type == GGUF_STRING;
	}
	for (size_t i = 0; i < n && good && want == WANT_F32S; i++)
		good = as_f32(&v[i], &floats[i]);
	for (size_t i = 0; i < n && good && want == WANT_I64S; i++)
		good = as_i64(&v[i], &whole[i]);
	return good;
}

static int fill(const struct gguf *g, size_t key, enum want want, struct answer_array *a)
{
	enum { SOME = 64 };
	struct gguf_value v[SOME];

	for (size_t at = 0; at < a->n; at += SOME) {
		size_t n = a->n - at < SOME ? a->n - at : SOME;
		int err = gguf_items(g, key, at, n, v);

		if (!err && !put_items(a->items, at, want, v, n))
			err = -EINVAL;
		if (err)
			return err;
	}
	return 0;
}

static int file_array(const struct gguf *g, size_t key, enum want want, struct answer_array *a)
{
	const struct gguf_key *k = gguf_key(g, key);
	struct gguf_value v;
	size_t size;
	int err;

	if (want == WANT_STRINGS && k->type != GGUF_ARRAY)
		return -EINVAL;
	a->n = k->count;
	if (__builtin_mul_overflow(a->n, item_size(want), &size) ||
	    __builtin_add_overflow(size, item_size(want), &size))
		return -ENOMEM;
	a->items = pages_block(size);
	if (!a->items)
		return -ENOMEM;
	if (k->type == GGUF_ARRAY) {
		err = fill(g, key, want, a);
	} else {
		err = gguf_value(g, key, &v);
		err = err ? err : put_items(a->items, 0, want, &v, 1) ? 0 : -EINVAL;
	}
	if (err)
		free(a->items);
	return err;
}

static int file_value(void *impl, const char *key, enum want want, union answer *v, struct gguf_error *e)
{
	const struct gguf *g = ((const struct file *)impl)->g;
	ssize_t i = gguf_find_key(g, key, strlen(key));
	int err;

	if (i < 0)
		return -ENOENT;
	switch (want) {
	case WANT_U64:
		err = gguf_get_u64(g, key, &v->u);
		break;
	case WANT_I64:
		err = gguf_get_i64(g, key, &v->i);
		break;
	case WANT_F64:
		err = gguf_get_f64(g, key, &v->f);
		break;
	case WANT_BOOL:
		err = gguf_get_bool(g, key, &v->b);
		break;
	case WANT_STRING:
		err = gguf_get_string(g, key, &v->s);
		break;
	default:
		err = file_array(g, (size_t)i, want, &v->a);
	}
	if (err == -EINVAL || err == -ERANGE)
		return gguf_fail(e, -EINVAL, gguf_key(g, (size_t)i)->offset, "%s: its value is not %s", key,
				 text_kind(want));
	return err ? gguf_fail(e, err, gguf_key(g, (size_t)i)->offset, "%s: %s", key, strerror(-err)) : 0;
}

static const char *file_key(void *impl, size_t i)
{
	struct file *f = impl;
	size_t n = gguf_key_count(f->g);

	if (i >= n)
		return NULL;
	if (!f->keys)
		f->keys = calloc(n, sizeof(char *));
	if (f->keys && !f->keys[i])
		f->keys[i] = strndup(gguf_key(f->g, i)->name.p, gguf_key(f->g, i)->name.n);
	return f->keys ? f->keys[i] : NULL;
}

static int file_list(void *impl, struct weight **w, size_t *n, struct gguf_error *e)
{
	const struct gguf *g = ((const struct file *)impl)->g;

	*n = gguf_tensor_count(g);
	*w = calloc(*n + 1, sizeof(**w));
	if (!*w)
		return gguf_fail(e, -ENOMEM, 0, "out of memory for %zu tensors", *n);
	for (size_t i = 0; i < *n; i++) {
		const struct gguf_tensor *t = gguf_tensor(g, i);

		(*w)[i] = (struct weight){ .name = t->name, .size = t->size, .dims = t->dims, .type = t->type };
		memcpy((*w)[i].extent, t->extent, sizeof(t->extent));
	}
	return 0;
}

static int map_shard(struct file *f, size_t i, struct gguf_error *e)
{
	const struct gguf_shard *s = gguf_shard(f->g, i);
	void *p;

	if (f->maps[i].p)
		return 0;
	p = mmap(NULL, s->size, PROT_READ, MAP_SHARED, s->fd, 0);
	if (p == MAP_FAILED)
		return gguf_fail(e, -errno, 0, "cannot map %s: %s", s->path ? s->path : "the file", strerror(errno));
	f->maps[i] = (struct mapping){ p, s->size };
	return 0;
}

static int file_map(void *impl, size_t i, enum load_mode mode, struct weight *w, struct gguf_error *e)
{
	struct file *f = impl;
	const struct gguf_tensor *t = gguf_tensor(f->g, i);
	const struct gguf_shard *s = gguf_shard(f->g, t->shard);
	int err;

	(void)mode;
	if (s->fd < 0 || s->big_endian)
		return -ENOTSUP;
	if (t->offset > s->size || t->size > s->size - t->offset)
		return gguf_fail(e, -EINVAL, t->offset, "tensor %.*s is not within the file: it was cut",
				 (int)t->name.n, t->name.p);
	err = map_shard(f, t->shard, e);
	if (!err)
		w->data = f->maps[t->shard].p + t->offset;
	return err;
}

static int file_read(void *impl, size_t i, void *buf, size_t n, uint64_t offset, struct gguf_error *e)
{
	const struct gguf *g = ((const struct file *)impl)->g;
	const struct gguf_tensor *t = gguf_tensor(g, i);
	int err = gguf_tensor_read(g, i, buf, n, offset);

	return err ? gguf_fail(e, err, t->offset + offset, "tensor %.*s: cannot be read: %s", (int)t->name.n, t->name.p,
			       strerror(-err)) : 0;
}

static bool file_holds(void *impl, const struct stat *st)
{
	const struct file *f = impl;
	struct stat own;

	for (size_t i = 0; i < gguf_shard_count(f->g); i++) {
		int fd = gguf_shard(f->g, i)->fd;

		if (fd >= 0 && fstat(fd, &own) == 0 && is_same_file(&own, st))
			return true;
	}
	return false;
}

const struct backend backend_file = {
	.close = file_close,
	.has = file_has,
	.value = file_value,
	.key = file_key,
	.list = file_list,
	.map = file_map,
	.read = file_read,
	.holds = file_holds,
};
