/* SPDX-License-Identifier: MIT */
/* From names and shapes to the parts of a model. Whatever is missing or has another shape is refused by its name. */
#include "error.h"
#include "network.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 128, PART = 48, OPTIONAL = 0, REQUIRED = 1 };

struct finder {
	struct model *m;
	struct source *s;
	struct gguf_error *e;
	int layer; /* -1: names are global */
};

/* "blk.N.PART.SUFFIX", or without the block. */
static const char *name_of(const struct finder *f, const char *part, const char *suffix, char buf[NAME])
{
	if (f->layer < 0)
		snprintf(buf, NAME, "%s%s", part, suffix);
	else
		snprintf(buf, NAME, "blk.%d.%s%s", f->layer, part, suffix);
	return buf;
}

static int fail_shape(const struct finder *f, const struct weight *w, uint64_t in, uint64_t out, uint64_t each)
{
	char found[90], want[70];

	snprintf(found, sizeof(found), "%llu %llu %llu %llu", (unsigned long long)w->extent[0],
		 (unsigned long long)w->extent[1], (unsigned long long)w->extent[2], (unsigned long long)w->extent[3]);
	snprintf(want, sizeof(want), "%llu %llu %llu", (unsigned long long)in, (unsigned long long)out,
		 (unsigned long long)each);
	return gguf_fail(f->e, -EINVAL, 0, "tensor %.*s: its shape is %s, expected %s", (int)w->name.n, w->name.p,
			 found, want);
}

/* *w is NULL for an optional one that is not there. Marks what it finds as used. */
static int find(const struct finder *f, const char *name, int required, const struct weight **w)
{
	*w = source_find(f->s, name);
	if (*w) {
		f->m->in_use[*w - source_weight(f->s, 0)] = true;
		f->m->bytes += (*w)->size;
		return 0;
	}
	return required ? gguf_fail(f->e, -EINVAL, 0, "tensor %s is missing", name) : 0;
}

static int check_shape(const struct finder *f, const struct weight *w, uint64_t in, uint64_t out, uint64_t each)
{
	bool fits = w->extent[0] == in && w->extent[1] == out && w->extent[2] == each && w->extent[3] == 1;

	return fits ? 0 : fail_shape(f, w, in, out, each);
}

static int as_mat(const struct finder *f, const struct weight *w, uint64_t in, uint64_t out, uint64_t each,
		  struct mat *m)
{
	size_t values = gguf_type_values(w->type);
	int err = check_shape(f, w, in, out, each);

	if (err)
		return err;
	if (!values || !mat_type_ok(w->type))
		return gguf_fail(f->e, -ENOTSUP, 0, "tensor %.*s: there is no product for its type %s", (int)w->name.n,
				 w->name.p, gguf_type_name(w->type) ? gguf_type_name(w->type) : "(unknown)");
	if (in % values || in / values * gguf_type_bytes(w->type) * out * each != w->size)
		return gguf_fail(f->e, -EINVAL, 0, "tensor %.*s: its rows are not whole blocks", (int)w->name.n,
				 w->name.p);
	*m = (struct mat){ w->data, in, out, in / values * gguf_type_bytes(w->type), w->type };
	return 0;
}

/* rows x len floats, whatever their type in the file. *v is NULL where an optional one is not there. */
static int vectors(const struct finder *f, const char *part, const char *suffix, int required, uint64_t len,
		   uint64_t rows, const float **v)
{
	char buf[NAME];
	const struct weight *w;
	uint64_t n = len * rows;
	size_t values;
	float *p;
	int err = find(f, name_of(f, part, suffix, buf), required, &w);

	*v = NULL;
	if (err || !w)
		return err;
	values = gguf_type_values(w->type);
	err = check_shape(f, w, len, rows, 1);
	if (err)
		return err;
	if (!gguf_can_decode(w->type) || n % values || n / values * gguf_type_bytes(w->type) != w->size)
		return gguf_fail(f->e, -ENOTSUP, 0, "tensor %s: its type cannot be decoded", buf);
	p = model_alloc(f->m, n, sizeof(float));
	if (!p)
		return gguf_fail(f->e, -ENOMEM, 0, "tensor %s: out of memory", buf);
	if (w->data)
		gguf_decode(w->type, p, w->data, n / values);
	*v = p;
	return 0;
}

static int vector(const struct finder *f, const char *part, const char *suffix, int required, uint64_t n,
		  const float **v)
{
	return vectors(f, part, suffix, required, n, 1, v);
}

static int matrix(const struct finder *f, const char *part, int required, uint64_t in, uint64_t out, struct mat *m)
{
	char buf[NAME];
	const struct weight *w;
	int err = find(f, name_of(f, part, ".weight", buf), required, &w);

	return err || !w ? err : as_mat(f, w, in, out, 1, m);
}

static int linear(const struct finder *f, const char *part, int required, uint64_t in, uint64_t out, struct linear *l)
{
	const float *scale;
	int err = matrix(f, part, required, in, out, &l->w);

	l->scale = 1;
	if (err || !l->w.out)
		return err;
	err = vector(f, part, ".bias", OPTIONAL, out, &l->bias);
	err = err ? err : vector(f, part, ".scale", OPTIONAL, 1, &scale);
	if (!err && scale)
		l->scale = *scale;
	return err;
}

static int norm(const struct finder *f, const char *part, int required, uint64_t n, struct norm *v)
{
	int err = vector(f, part, ".weight", required, n, &v->w);

	return err || !v->w ? err : vector(f, part, ".bias", OPTIONAL, n, &v->b);
}

/* Old files have a tensor for each expert: "ffn_gate.E" for "ffn_gate_exps". */
static const char *name_apart(const char *part, unsigned expert, char buf[PART])
{
	const char *end = strstr(part, "_exps");

	snprintf(buf, PART, "%.*s.%u", (int)(end ? end - part : (ptrdiff_t)strlen(part)), part, expert);
	return buf;
}

static int bank_apart(const struct finder *f, const char *part, uint64_t in, uint64_t out, unsigned n, struct bank *b)
{
	char name[PART];

	for (unsigned i = 0; i < n; i++) {
		struct mat m = { 0 };
		int err;

		name_apart(part, i, name);
		err = matrix(f, name, REQUIRED, in, out, &m);
		if (err)
			return err;
		if (i && m.type != b->w.type)
			return gguf_fail(f->e, -ENOTSUP, 0, "tensor blk.%d.%s.weight: its type differs from expert 0's",
					 f->layer, name);
		b->w = m;
		b->each[i] = m.data;
	}
	return 0;
}

static int bank(const struct finder *f, const char *part, int required, uint64_t in, uint64_t out, unsigned n,
		struct bank *b)
{
	char buf[NAME], name[PART], first[NAME];
	const struct weight *w;
	int err = find(f, name_of(f, part, ".weight", buf), OPTIONAL, &w);

	if (!w && !source_find(f->s, name_of(f, name_apart(part, 0, name), ".weight", first)))
		return required ? gguf_fail(f->e, -EINVAL, 0, "tensor %s is missing", buf) : 0;
	b->each = model_alloc(f->m, n, sizeof(*b->each));
	if (!b->each)
		return gguf_fail(f->e, -ENOMEM, 0, "tensor %s: out of memory", buf);
	err = w ? as_mat(f, w, in, out, n, &b->w) : bank_apart(f, part, in, out, n, b);
	for (unsigned i = 0; !err && w && w->data && i < n; i++)
		b->each[i] = (const char *)w->data + b->w.row_bytes * out * i;
	err = err ? err : vectors(f, part, ".bias", OPTIONAL, out, n, &b->bias);
	return err ? err : vector(f, part, ".scale", OPTIONAL, n, &b->scale);
}

/* One matrix that gives q, k and v, or one for each. */
static int projections(const struct finder *f, struct layer *l)
{
	const struct hyper *h = &f->m->h;
	uint64_t q = (uint64_t)l->heads * h->key_len, k = (uint64_t)l->kv_heads * h->key_len,
		 v = (uint64_t)l->kv_heads * h->value_len;
	int err = linear(f, "attn_qkv", OPTIONAL, h->width, q + k + v, &l->qkv);

	if (err || l->qkv.w.out)
		return err;
	err = linear(f, "attn_q", REQUIRED, h->width, q, &l->q);
	err = err ? err : linear(f, "attn_k", REQUIRED, h->width, k, &l->k);
	return err ? err : linear(f, "attn_v", REQUIRED, h->width, v, &l->v);
}

/* Their length tells whether they go over each head or over all at once. */
static int head_norms(const struct finder *f, struct layer *l)
{
	const struct hyper *h = &f->m->h;
	uint64_t q = h->key_len, k = h->key_len;
	char buf[NAME];
	const struct weight *w = source_find(f->s, name_of(f, "attn_q_norm", ".weight", buf));
	int err;

	if (!w)
		return 0;
	l->norm_whole = l->heads > 1 && w->extent[0] == (uint64_t)l->heads * h->key_len;
	if (l->norm_whole) {
		q *= l->heads;
		k *= l->kv_heads;
	}
	err = norm(f, "attn_q_norm", REQUIRED, q, &l->q_norm);
	return err ? err : norm(f, "attn_k_norm", REQUIRED, k, &l->k_norm);
}

static int attention(const struct finder *f, struct layer *l)
{
	const struct hyper *h = &f->m->h;
	int err = projections(f, l);

	err = err ? err : head_norms(f, l);
	err = err ? err : linear(f, "attn_output", REQUIRED, (uint64_t)l->heads * h->value_len, h->width, &l->o);
	return err ? err : vector(f, "attn_sinks", ".weight", OPTIONAL, l->heads, &l->sinks);
}

/* How keys and values unfold: for each head apart, or (old files) by one matrix for all heads, both at once. */
static int unfolding(const struct finder *f, struct layer *l)
{
	const struct hyper *h = &f->m->h;
	uint32_t nope = h->key_mla - h->rope_dims;
	char buf[NAME];
	int err;

	if (!source_find(f->s, name_of(f, "attn_k_b", ".weight", buf)))
		return linear(f, "attn_kv_b", REQUIRED, h->kv_rank, (uint64_t)l->heads * (nope + h->value_mla),
			      &l->kv_b);
	err = bank(f, "attn_k_b", REQUIRED, nope, h->kv_rank, l->heads, &l->k_b);
	err = err ? err : bank(f, "attn_v_b", REQUIRED, h->kv_rank, h->value_mla, l->heads, &l->v_b);
	if (source_find(f->s, name_of(f, "attn_kv_b", ".weight", buf)))
		f->m->in_use[source_find(f->s, buf) - source_weight(f->s, 0)] = true;
	return err;
}

static int rank_attention(const struct finder *f, struct layer *l)
{
	const struct hyper *h = &f->m->h;
	uint64_t q = (uint64_t)l->heads * h->key_mla;
	int err;

	if (h->q_rank) {
		err = linear(f, "attn_q_a", REQUIRED, h->width, h->q_rank, &l->q_a);
		err = err ? err : norm(f, "attn_q_a_norm", REQUIRED, h->q_rank, &l->q_a_norm);
		err = err ? err : linear(f, "attn_q_b", REQUIRED, h->q_rank, q, &l->q);
	} else {
		err = linear(f, "attn_q", REQUIRED, h->width, q, &l->q);
	}
	err = err ? err : linear(f, "attn_kv_a_mqa", REQUIRED, h->width, h->kv_rank + h->rope_dims, &l->kv_a);
	err = err ? err : norm(f, "attn_kv_a_norm", REQUIRED, h->kv_rank, &l->kv_a_norm);
	err = err ? err : unfolding(f, l);
	return err ? err : linear(f, "attn_output", REQUIRED, (uint64_t)l->heads * h->value_mla, h->width, &l->o);
}

/* Gate and up apart, or up of twice the length with the gate first, or up alone. */
static int dense(const struct finder *f, struct layer *l)
{
	const struct hyper *h = &f->m->h;
	char buf[NAME];
	const struct weight *up = source_find(f->s, name_of(f, "ffn_up", ".weight", buf));
	bool fused = up && up->extent[1] == 2 * (uint64_t)l->ffn;
	int err = fused ? 0 : linear(f, "ffn_gate", f->m->arch->act == ACT_SILU, h->width, l->ffn, &l->gate);

	err = err ? err : linear(f, "ffn_up", REQUIRED, h->width, fused ? 2 * (uint64_t)l->ffn : l->ffn, &l->up);
	return err ? err : linear(f, "ffn_down", REQUIRED, l->ffn, h->width, &l->down);
}

/* The gate of the shared expert is a vector in files, and a matrix of one row here. */
static int shared_router(const struct finder *f, struct layer *l)
{
	char buf[NAME];
	const struct weight *w;
	int err = find(f, name_of(f, "ffn_gate_inp_shexp", ".weight", buf), OPTIONAL, &w);

	l->s_router.scale = 1;
	return err || !w ? err : as_mat(f, w, f->m->h.width, 1, 1, &l->s_router.w);
}

static int shared_expert(const struct finder *f, struct layer *l)
{
	const struct hyper *h = &f->m->h;
	int err = linear(f, "ffn_up_shexp", OPTIONAL, h->width, l->shared_ffn, &l->s_up);

	if (err || !l->s_up.w.out)
		return err;
	err = linear(f, "ffn_gate_shexp", REQUIRED, h->width, l->shared_ffn, &l->s_gate);
	err = err ? err : linear(f, "ffn_down_shexp", REQUIRED, l->shared_ffn, h->width, &l->s_down);
	return err ? err : shared_router(f, l);
}

static int experts(const struct finder *f, struct layer *l)
{
	const struct hyper *h = &f->m->h;
	unsigned n = l->experts;
	int err = linear(f, "ffn_gate_inp", REQUIRED, h->width, n, &l->router);

	err = err ? err : vector(f, "exp_probs_b", ".bias", OPTIONAL, n, &l->select_bias);
	err = err ? err : bank(f, "ffn_gate_up_exps", OPTIONAL, h->width, 2 * (uint64_t)l->expert_ffn, n, &l->e_up);
	if (!err && !l->e_up.w.out) {
		err = bank(f, "ffn_gate_exps", REQUIRED, h->width, l->expert_ffn, n, &l->e_gate);
		err = err ? err : bank(f, "ffn_up_exps", REQUIRED, h->width, l->expert_ffn, n, &l->e_up);
	}
	err = err ? err : bank(f, "ffn_down_exps", REQUIRED, l->expert_ffn, h->width, n, &l->e_down);
	return err ? err : shared_expert(f, l);
}

static int layer_norms(const struct finder *f, struct layer *l)
{
	uint32_t n = f->m->h.width;
	const char *ffn = f->m->arch->ffn_norm ? f->m->arch->ffn_norm : "ffn_norm";
	int err = norm(f, "attn_norm", OPTIONAL, n, &l->attn_norm);

	if (!err && !f->m->arch->ffn_norm)
		err = norm(f, "post_attention_norm", OPTIONAL, n, &l->attn_post);
	err = err ? err : norm(f, "attn_output_norm", OPTIONAL, n, &l->attn_end);
	err = err ? err : norm(f, ffn, OPTIONAL, n, &l->ffn_norm);
	err = err ? err : norm(f, "post_ffw_norm", OPTIONAL, n, &l->ffn_post);
	return err ? err : norm(f, "layer_output_norm", OPTIONAL, n, &l->ffn_end);
}

/* Each branch is normalised somewhere: before, after, or after the sum. */
static int check_norms(const struct finder *f, const struct layer *l)
{
	const char *ffn = f->m->arch->ffn_norm ? f->m->arch->ffn_norm : "ffn_norm";
	bool attn = l->attn_norm.w || l->attn_post.w || l->attn_end.w;
	char buf[NAME];

	if (attn && (l->ffn_norm.w || l->ffn_post.w || l->ffn_end.w))
		return 0;
	return gguf_fail(f->e, -EINVAL, 0, "tensor %s is missing",
			 name_of(f, attn ? ffn : "attn_norm", ".weight", buf));
}

static int check_needs(const struct finder *f)
{
	char buf[NAME];

	for (const char *const *n = f->m->arch->needs; n && *n; n++)
		if (!source_find(f->s, name_of(f, *n, "", buf)))
			return gguf_fail(f->e, -EINVAL, 0, "tensor %s is missing", buf);
	return 0;
}

static int one_layer(const struct finder *f, struct layer *l)
{
	int err = check_needs(f);

	err = err ? err : layer_norms(f, l);
	err = err ? err : check_norms(f, l);
	err = err ? err : f->m->arch->rank_attention ? rank_attention(f, l) : attention(f, l);
	return err ? err : l->experts ? experts(f, l) : dense(f, l);
}

/* The number of token embeddings is the vocabulary's size, whatever else says. */
static int embeddings(const struct finder *f)
{
	struct model *m = f->m;
	const struct weight *w, *p = source_find(f->s, "position_embd.weight"),
				*t = source_find(f->s, "token_types.weight");
	int err = find(f, "token_embd.weight", REQUIRED, &w);

	if (err)
		return err;
	if (!w->extent[1] || w->extent[1] > INT32_MAX)
		return fail_shape(f, w, m->h.width, m->h.vocab, 1);
	m->h.vocab = (uint32_t)w->extent[1];
	err = as_mat(f, w, m->h.width, m->h.vocab, 1, &m->embed);
	if (!err && m->arch->rope == ROPE_NONE)
		err = matrix(f, "position_embd", REQUIRED, m->h.width, p ? p->extent[1] : 0, &m->position);
	if (!err && p && p->extent[1] < m->h.context)
		m->h.context = (uint32_t)p->extent[1];
	if (!err && t)
		err = matrix(f, "token_types", REQUIRED, m->h.width, t->extent[1], &m->types);
	return err ? err : norm(f, "token_embd_norm", OPTIONAL, m->h.width, &m->embed_norm);
}

static int output(const struct finder *f)
{
	struct model *m = f->m;
	int err;

	if (m->arch->embeds)
		return 0;
	err = norm(f, "output_norm", REQUIRED, m->h.width, &m->output_norm);
	err = err ? err : linear(f, "output", OPTIONAL, m->h.width, m->h.vocab, &m->output);
	if (!err && !m->output.w.out)
		m->output.w = m->embed;
	return err;
}

/* A tensor of a layer that nothing here knows would change what the layer computes. */
static int check_rest(const struct finder *f)
{
	static const char *const harmless[] = { ".attn_rot_embd.", ".rope_freqs.", ".rope_factors_", ".input_scale",
						NULL };
	char buf[NAME];

	for (size_t i = 0; i < source_weight_count(f->s); i++) {
		const struct weight *w = source_weight(f->s, i);
		const char *const *h = harmless;

		if (f->m->in_use[i] || w->name.n >= sizeof(buf))
			continue;
		memcpy(buf, w->name.p, w->name.n);
		buf[w->name.n] = '\0';
		while (*h && !strstr(buf, *h))
			h++;
		if (!*h && !strncmp(buf, "blk.", 4) && strtoul(buf + 4, NULL, 10) < f->m->h.layers)
			return gguf_fail(f->e, -ENOTSUP, 0, "tensor %s: architecture %s has no use for it", buf,
					 f->m->arch->name);
	}
	return 0;
}

int model_weights(struct model *m, struct source *s, struct gguf_error *e)
{
	struct finder f = { m, s, e, -1 };
	int err;

	m->in_use = model_alloc(m, source_weight_count(s) + 1, sizeof(bool));
	if (!m->in_use)
		return gguf_fail(e, -ENOMEM, 0, "out of memory");
	err = embeddings(&f);
	err = err ? err : output(&f);
	for (uint32_t i = 0; !err && i < m->h.layers; i++) {
		f.layer = (int)i;
		err = one_layer(&f, &m->layer[i]);
	}
	return err ? err : check_rest(&f);
}
