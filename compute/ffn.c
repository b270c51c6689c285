/* SPDX-License-Identifier: MIT */
#include "engine.h"

/* Gate and up side by side: the fused matrix gives them so, and two matrices write them so. */
static void widen(const struct pass *p, const struct team *t, const struct layer *l, struct rows g, struct rows u)
{
	struct llm *m = p->m;
	unsigned forms = act_form(l->up.w.type) | (l->gate.w.out ? act_form(l->gate.w.type) : 0);

	act_load(m->act, t, forms, m->h.p, m->h.stride, NULL, p->n, l->up.w.in);
	team_barrier(t);
	if (l->gate.w.out)
		mat_mul(&l->gate.w, m->act, g.p, g.stride, t);
	mat_mul(&l->up.w, m->act, u.p, u.stride, t);
	team_barrier(t);
	if (l->gate.w.out)
		finish_linear(p, t, &l->gate, g, p->n);
	finish_linear(p, t, &l->up, u, p->n);
	if (l->gate.bias || l->up.bias || l->gate.scale != l->up.scale || l->up.scale != 1)
		team_barrier(t);
}

void ffn(const struct pass *p, const struct team *t, const struct layer *l)
{
	struct llm *m = p->m;
	bool fused = l->up.w.out == 2 * (size_t)l->ffn;
	struct rows g = m->gate, u = rows_at(g, l->ffn), none = { 0 };

	widen(p, t, l, g, l->gate.w.out ? u : g);
	activate(p, t, g, fused || l->gate.w.out ? u : none, p->n, l->ffn);
	team_barrier(t);
	act_load(m->act, t, act_form(l->down.w.type), g.p, g.stride, NULL, p->n, l->ffn);
	team_barrier(t);
	apply(p, t, &l->down, m->act, m->out, p->n);
}
