/* SPDX-License-Identifier: MIT */
/* One batch through all layers, for every architecture: what a layer has is done, what it has not is left out. */
#include "engine.h"
#include "rope.h"
#include <string.h>

/* Row i of an embedding table, as floats. */
static void get_row(const struct mat *w, size_t i, float *y)
{
	gguf_decode(w->type, y, (const char *)w->data + i * w->row_bytes, w->in / gguf_type_values(w->type));
}

/* A token's row of x; its row of h is room for what is added. */
static void embed_token(const struct pass *p, size_t token)
{
	const struct llm *m = p->m;
	const struct model *model = m->model;
	size_t width = model->h.width;
	float *x = row(m->x, token), *more = row(m->h, token);

	get_row(&model->embed, (size_t)p->ids[token], x);
	if (model->h.embed_scale != 1)
		m->v->scale(x, model->h.embed_scale, width);
	if (model->types.out) {
		get_row(&model->types, 0, more);
		m->v->add(x, more, width);
	}
	if (model->position.out) {
		get_row(&model->position, p->at + token, more);
		m->v->add(x, more, width);
	}
}

/* y = x by the norm n, or as it is where there is none; y may be x. */
static void norm_row(const struct llm *m, const struct norm *n, float *y, const float *x)
{
	const struct hyper *h = &m->model->h;

	if (!n->w) {
		if (y != x)
			memcpy(y, x, h->width * sizeof(*y));
	} else if (h->rms) {
		m->v->norm_rms(y, x, n->w, h->width, h->eps);
	} else {
		m->v->norm_layer(y, x, n->w, n->b, h->width, h->eps);
	}
}

/* A token's row of h = x, normalised, and what is multiplied of it. */
static void put_hidden(const struct pass *p, size_t i, const struct norm *n, unsigned forms)
{
	const struct llm *m = p->m;
	struct act a = hidden_act(p);

	norm_row(m, n, row(m->h, i), row(m->x, i));
	if (forms)
		act_put(&a, i, forms, row(m->h, i), 0, a.blocks);
}

/* Embeds the tokens, turns their positions into angles, and makes what the first layer begins with. */
static void begin(const struct pass *p, const struct team *t)
{
	const struct llm *m = p->m;
	const struct model *model = m->model;
	unsigned forms = attend_forms(m, &model->layer[0]);
	struct team_loop loop = team_loop(t, p->n, 1);

	for (size_t from, to; team_take(t, &loop, &from, &to);)
		for (size_t i = from; i < to; i++) {
			embed_token(p, i);
			norm_row(m, &model->embed_norm, row(m->x, i), row(m->x, i));
			put_hidden(p, i, &model->layer[0].attn_norm, forms);
			if (model->rope.dims)
				rope_table(row(m->turn, i), &model->rope, p->at + (int64_t)i);
			if (model->rope_local.dims)
				rope_table(row(m->turn_local, i), &model->rope_local, p->at + (int64_t)i);
		}
	team_barrier(t);
}

/* What follows a branch: the norms around its sum with x, and what the next one begins with. */
struct joint {
	const struct norm *post, *end, *next;
	unsigned forms;
};

/* x += branch, h = what the next branch takes. The threads share the rows. */
static void join(const struct pass *p, const struct team *t, const struct joint *j)
{
	const struct llm *m = p->m;
	const struct hyper *h = &m->model->h;
	size_t from, to;

	team_share(t, p->n, 1, &from, &to);
	for (size_t i = from; i < to; i++) {
		float *x = row(m->x, i), *out = row(m->out, i);

		norm_row(m, j->post, out, out);
		if (h->residual_scale == 1)
			m->v->add(x, out, h->width);
		else
			m->v->add_scaled(x, out, h->residual_scale, h->width);
		norm_row(m, j->end, x, x);
		put_hidden(p, i, j->next, j->forms);
	}
	team_barrier(t);
}

static struct joint behind_attention(const struct layer *l)
{
	return (struct joint){ &l->attn_post, &l->attn_end, &l->ffn_norm, ffn_forms(l) };
}

/* Behind the last layer stands the output matrix, where logits are wanted. */
static struct joint behind_ffn(const struct pass *p, uint32_t layer)
{
	const struct model *model = p->m->model;
	const struct layer *l = &model->layer[layer], *next = l + 1;

	if (layer + 1 < model->h.layers)
		return (struct joint){ &l->ffn_post, &l->ffn_end, &next->attn_norm, attend_forms(p->m, next) };
	return (struct joint){
		&l->ffn_post, &l->ffn_end, &model->output_norm, p->logits ? linear_forms(&model->output) : 0,
	};
}

/* rest: the tokens of p that are wanted behind the last layer. */
static void run_layers(const struct pass *p, const struct pass *rest, const struct team *t)
{
	const struct model *model = p->m->model;

	for (uint32_t i = 0; i < model->h.layers; i++) {
		const struct layer *l = &model->layer[i];
		const struct pass *out = i + 1 == model->h.layers ? rest : p;
		const struct joint first = behind_attention(l), second = behind_ffn(p, i);

		if (model->arch->rank_attention)
			attend_mla(p, out, t, i);
		else
			attend(p, out, t, i);
		if (!out->n)
			return;
		join(out, t, &first);
		if (l->experts)
			experts(out, t, l);
		else
			ffn(out, t, l);
		join(out, t, &second);
	}
}

/* Scale and cap of logits, for count rows; the threads share the vocabulary. */
static void scale_logits(const struct pass *p, const struct team *t, size_t count)
{
	const struct llm *m = p->m;
	const struct hyper *h = &m->model->h;
	size_t from, to;

	if (h->logit_scale == 1 && h->final_cap == 0)
		return;
	team_share(t, h->vocab, 64, &from, &to);
	for (size_t i = 0; i < count; i++) {
		float *y = p->logits + i * h->vocab + from;

		if (h->logit_scale != 1)
			m->v->scale(y, h->logit_scale, to - from);
		if (h->final_cap != 0)
			m->v->soft_cap(y, h->final_cap, to - from);
	}
}

/* Logits of all tokens of p, from the hidden states in m->act. */
static void head(const struct pass *p, const struct team *t)
{
	struct rows y = { p->logits, p->m->model->h.vocab };
	struct act h = hidden_act(p);

	apply(p, t, &p->m->model->output, &h, y);
	scale_logits(p, t, p->n);
}

/* The last tokens of p, as many as there are results to give: all, one or none. */
static struct pass wanted(const struct pass *p)
{
	struct pass rest = *p;

	rest.n = p->hidden || (p->logits && p->every) ? p->n : p->logits != NULL;
	rest.ids += p->n - rest.n;
	rest.at += (uint32_t)(p->n - rest.n);
	return rest;
}

void forward(const struct team *team, void *pass)
{
	const struct pass *p = pass, rest = wanted(p);
	const struct llm *m = p->m;
	const struct team looking = { team->id, team->n, team->barrier, m->look }, *t = &looking;
	size_t width = m->model->h.width, from, to;

	begin(p, t);
	run_layers(p, &rest, t);
	team_share(t, p->n, 1, &from, &to);
	for (size_t i = from; p->hidden && i < to; i++)
		memcpy(p->hidden + i * width, row(m->h, i), width * sizeof(float));
	if (p->logits)
		head(&rest, t);
}
