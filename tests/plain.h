/* SPDX-License-Identifier: MIT */
/* Writes the plain directory that a copy of a mounted model would be: what the engine reads of it. */
#ifndef PLAIN_H
#define PLAIN_H
#include "gguf.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static inline void plain_item(FILE *f, const struct gguf_value *v, int escape)
{
	switch (v->type) {
	case GGUF_STRING:
		for (size_t i = 0; i < v->s.n; i++) {
			unsigned char c = (unsigned char)v->s.p[i];
			const char *at = c ? strchr("\\\\\nn\rr\tt", c) : NULL;

			if (escape && at && (at - "\\\\\nn\rr\tt") % 2 == 0 && (c < 0x20 || c == '\\'))
				fprintf(f, "\\%c", at[1]);
			else if (escape && c < 0x20)
				fprintf(f, "\\x%02X", c);
			else
				putc(c, f);
		}
		break;
	case GGUF_F32:
	case GGUF_F64:
		fprintf(f, "%.17g", v->f);
		break;
	case GGUF_BOOL:
		fputs(v->u ? "true" : "false", f);
		break;
	case GGUF_U8:
	case GGUF_U16:
	case GGUF_U32:
	case GGUF_U64:
		fprintf(f, "%llu", (unsigned long long)v->u);
		break;
	default:
		fprintf(f, "%lld", (long long)v->i);
	}
	putc('\n', f);
}

static inline int plain_key(const struct gguf *g, size_t i, const char *dir)
{
	const struct gguf_key *k = gguf_key(g, i);
	struct gguf_value v;
	char path[1024];
	FILE *f;

	snprintf(path, sizeof(path), "%s/metadata/%.*s", dir, (int)k->name.n, k->name.p);
	f = fopen(path, "w");
	if (!f)
		return -1;
	if (k->type != GGUF_ARRAY && !gguf_value(g, i, &v))
		plain_item(f, &v, 0);
	for (uint64_t j = 0; k->type == GGUF_ARRAY && j < k->count; j++)
		if (!gguf_items(g, i, j, 1, &v))
			plain_item(f, &v, 1);
	return fclose(f);
}

static inline int plain_file(const char *dir, const char *name, const void *p, size_t n)
{
	char path[1024];
	FILE *f;
	size_t done;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f)
		return -1;
	done = fwrite(p, 1, n, f);
	return fclose(f) || done != n;
}

static inline int plain_tensor(const struct gguf *g, size_t i, const char *dir)
{
	const struct gguf_tensor *t = gguf_tensor(g, i);
	char path[600], text[120];
	size_t n = 0;
	void *raw = malloc(t->size + 1);
	int err;

	snprintf(path, sizeof(path), "%s/tensors/%.*s", dir, (int)t->name.n, t->name.p);
	err = !raw || mkdir(path, 0777) || gguf_tensor_read(g, i, raw, t->size, 0) || plain_file(path, "raw", raw, t->size);
	free(raw);
	for (uint32_t d = 0; d < t->dims; d++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%llu", d ? " " : "", (unsigned long long)t->extent[d]);
	text[n++] = '\n';
	err = err || plain_file(path, "shape", text, n);
	n = (size_t)snprintf(text, sizeof(text), "%s\n", gguf_type_name(t->type));
	return err || plain_file(path, "type", text, n);
}

/* dir must not be there yet. 0, or not 0. */
static inline int plain_tree(const char *model, const char *dir)
{
	struct gguf *g;
	char path[600];
	int err = gguf_open(&g, model, NULL);

	if (err)
		return err;
	err = mkdir(dir, 0777);
	snprintf(path, sizeof(path), "%s/metadata", dir);
	err = err || mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/tensors", dir);
	err = err || mkdir(path, 0777);
	for (size_t i = 0; !err && i < gguf_key_count(g); i++)
		err = plain_key(g, i, dir);
	for (size_t i = 0; !err && i < gguf_tensor_count(g); i++)
		err = plain_tensor(g, i, dir);
	gguf_close(g);
	return err;
}
#endif
