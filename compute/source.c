/* SPDX-License-Identifier: MIT */
/*
 * The getters answer from overrides first, then from the backend. Lists are made once, when they are first asked for, and
 * live as long as the source; a lock makes that safe for several threads.
 */
#include "source.h"
#include "backend.h"
#include "error.h"
#include "load.h"
#include "tree.h"
#include "treeval.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* An array that was handed out. */
struct list {
	struct list *next;
	enum want want;
	struct answer_array a;
	char key[];
};

struct source {
	const struct backend *b;
	void *impl;
	char *path;
	struct source_options opt;
	struct overrides *overrides; /* NULL: none */
	struct weight *weights;
	const struct weight **sorted; /* by name */
	size_t count;
	pthread_mutex_t lock; /* of lists, and of what the backend keeps of values */
	struct list *lists;
	struct load load;
	bool mapped;
};

static int compare_names(const struct gguf_bytes *a, const struct gguf_bytes *b)
{
	int d = memcmp(a->p, b->p, a->n < b->n ? a->n : b->n);

	return d ? d : (a->n > b->n) - (a->n < b->n);
}

static int compare_weights(const void *a, const void *b)
{
	return compare_names(&(*(const struct weight *const *)a)->name, &(*(const struct weight *const *)b)->name);
}

static int keep_overrides(struct source *s, struct gguf_error *e)
{
	if (!s->opt.overrides || !s->opt.overrides->n)
		return 0;
	s->overrides = malloc(sizeof(*s->overrides));
	if (!s->overrides)
		return gguf_fail(e, -ENOMEM, 0, "out of memory");
	*s->overrides = *s->opt.overrides;
	return 0;
}

static int index_weights(struct source *s, struct gguf_error *e)
{
	int err = s->b->list(s->impl, &s->weights, &s->count, e);

	if (err)
		return err;
	s->sorted = calloc(s->count + 1, sizeof(struct weight *));
	if (!s->sorted)
		return gguf_fail(e, -ENOMEM, 0, "out of memory for %zu tensors", s->count);
	for (size_t i = 0; i < s->count; i++)
		s->sorted[i] = &s->weights[i];
	qsort(s->sorted, s->count, sizeof(struct weight *), compare_weights);
	return 0;
}

int source_open(struct source **out, const char *path, const struct source_options *opt, struct gguf_error *e)
{
	struct source *s;
	struct stat st;
	int err;

	if (stat(path, &st) < 0)
		return gguf_fail(e, -errno, 0, "%s", strerror(errno));
	s = calloc(1, sizeof(*s));
	if (!s)
		return gguf_fail(e, -ENOMEM, 0, "out of memory");
	pthread_mutex_init(&s->lock, NULL);
	if (opt)
		s->opt = *opt;
	s->path = realpath(path, NULL);
	s->b = S_ISDIR(st.st_mode) ? &backend_tree : &backend_file;
	err = keep_overrides(s, e);
	if (!err)
		err = S_ISDIR(st.st_mode) ? source_tree_open(&s->impl, path, e) : source_file_open(&s->impl, path, e);
	if (!err)
		err = index_weights(s, e);
	if (err) {
		source_close(s);
		return err;
	}
	*out = s;
	return 0;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	for (struct list *l = s->lists, *next; l; l = next) {
		next = l->next;
		free(l->a.items);
		free(l);
	}
	load_free(&s->load);
	free(s->path);
	free(s->overrides);
	free(s->sorted);
	free(s->weights);
	if (s->impl)
		s->b->close(s->impl);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int source_map(struct source *s, struct gguf_error *e)
{
	int err;

	if (s->mapped)
		return 0;
	err = load_weights(&s->load, s->b, s->impl, s->weights, s->count, &s->opt, e);
	s->mapped = !err;
	return err;
}

/* A mount's model.gguf has nothing of the files below it; the tree around it tells of them. */
static bool tree_holds(const struct source *s, const struct stat *st)
{
	char *name = s->path ? strrchr(s->path, '/') : NULL;
	struct source *tree;
	bool found = false;

	if (s->b != &backend_file || !name || strcmp(name, "/" TREE_MODEL) != 0)
		return false;
	*name = '\0';
	if (!source_open(&tree, name == s->path ? "/" : s->path, NULL, NULL)) {
		found = tree->b == &backend_tree && tree->b->holds(tree->impl, st);
		source_close(tree);
	}
	*name = '/';
	return found;
}

bool source_holds(struct source *s, const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && (s->b->holds(s->impl, &st) || tree_holds(s, &st));
}

void source_progress(struct source *s, uint64_t done, uint64_t total)
{
	if (s->opt.progress)
		s->opt.progress(s->opt.progress_ctx, done, total);
}

bool source_has(struct source *s, const char *key)
{
	return (s->overrides && overrides_find(s->overrides, key)) || s->b->has(s->impl, key);
}

/* What v is as the getter wants it: a list of numbers may be one number. */
static int override_value(const struct override *v, enum want want, union answer *a)
{
	int64_t *one;

	switch (want) {
	case WANT_U64:
		a->u = (uint64_t)v->i;
		return v->type == OVERRIDE_INT && v->i >= 0 ? 0 : -EINVAL;
	case WANT_I64:
		a->i = v->i;
		return v->type == OVERRIDE_INT ? 0 : -EINVAL;
	case WANT_F64:
		a->f = v->type == OVERRIDE_INT ? (double)v->i : v->f;
		return v->type == OVERRIDE_INT || v->type == OVERRIDE_FLOAT ? 0 : -EINVAL;
	case WANT_BOOL:
		a->b = v->b;
		return v->type == OVERRIDE_BOOL ? 0 : -EINVAL;
	case WANT_STRING:
		a->s = (struct gguf_bytes){ v->s, strlen(v->s) };
		return v->type == OVERRIDE_STR ? 0 : -EINVAL;
	case WANT_I64S:
		one = v->type == OVERRIDE_INT ? malloc(sizeof(*one)) : NULL;
		if (one)
			*one = v->i;
		a->a.items = one;
		a->a.n = 1;
		return one ? 0 : v->type == OVERRIDE_INT ? -ENOMEM : -EINVAL;
	default:
		return -EINVAL;
	}
}

/* With the lock held. */
static int value_of(struct source *s, const char *key, enum want want, union answer *a, struct gguf_error *e)
{
	const struct override *v = s->overrides ? overrides_find(s->overrides, key) : NULL;
	int err;

	if (!v)
		return s->b->value(s->impl, key, want, a, e);
	err = override_value(v, want, a);
	return err ? gguf_fail(e, err, 0, "%s: its override is not %s", key, text_kind(want)) : 0;
}

static int value_get(struct source *s, const char *key, enum want want, union answer *a, struct gguf_error *e)
{
	int err;

	pthread_mutex_lock(&s->lock);
	err = value_of(s, key, want, a, e);
	pthread_mutex_unlock(&s->lock);
	return err;
}

#define SCALAR(name, ctype, want, field)                                                   \
	int source_##name(struct source *s, const char *key, ctype *v, struct gguf_error *e) \
	{                                                                                  \
		union answer a;                                                            \
		int err = value_get(s, key, want, &a, e);                                  \
                                                                                           \
		if (!err)                                                                  \
			*v = a.field;                                                      \
		return err;                                                                \
	}
SCALAR(u64, uint64_t, WANT_U64, u)
SCALAR(i64, int64_t, WANT_I64, i)
SCALAR(f64, double, WANT_F64, f)
SCALAR(bool, bool, WANT_BOOL, b)
SCALAR(string, struct gguf_bytes, WANT_STRING, s)
#undef SCALAR

static struct list *list_find(const struct source *s, const char *key, enum want want)
{
	for (struct list *l = s->lists; l; l = l->next)
		if (l->want == want && !strcmp(l->key, key))
			return l;
	return NULL;
}

static int list_get(struct source *s, const char *key, enum want want, struct answer_array *a, struct gguf_error *e)
{
	struct list *l = list_find(s, key, want);
	union answer v;
	int err;

	if (!l) {
		err = value_of(s, key, want, &v, e);
		if (err)
			return err;
		l = calloc(1, sizeof(*l) + strlen(key) + 1);
		if (!l) {
			free(v.a.items);
			return gguf_fail(e, -ENOMEM, 0, "%s: out of memory", key);
		}
		strcpy(l->key, key);
		l->want = want;
		l->a = v.a;
		l->next = s->lists;
		s->lists = l;
	}
	*a = l->a;
	return 0;
}

#define ARRAY(name, ctype, want)                                                                               \
	int source_##name(struct source *s, const char *key, const ctype **v, size_t *n, struct gguf_error *e) \
	{                                                                                                      \
		struct answer_array a;                                                                         \
		int err;                                                                                       \
                                                                                                               \
		pthread_mutex_lock(&s->lock);                                                                  \
		err = list_get(s, key, want, &a, e);                                                           \
		pthread_mutex_unlock(&s->lock);                                                                \
		if (err)                                                                                       \
			return err;                                                                            \
		*v = a.items;                                                                                  \
		*n = a.n;                                                                                      \
		return 0;                                                                                      \
	}
ARRAY(strings, struct gguf_bytes, WANT_STRINGS)
ARRAY(f32s, float, WANT_F32S)
ARRAY(i64s, int64_t, WANT_I64S)
#undef ARRAY

size_t source_weight_count(struct source *s)
{
	return s->count;
}

const struct weight *source_weight(struct source *s, size_t i)
{
	return i < s->count ? &s->weights[i] : NULL;
}

const struct weight *source_find(struct source *s, const char *name)
{
	struct gguf_bytes want = { name, strlen(name) };
	size_t from = 0, to = s->count;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		int d = compare_names(&want, &s->sorted[mid]->name);

		if (!d)
			return s->sorted[mid];
		if (d < 0)
			to = mid;
		else
			from = mid + 1;
	}
	return NULL;
}

const char *source_key(struct source *s, size_t i)
{
	return s->b->key(s->impl, i);
}
