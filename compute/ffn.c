/* SPDX-License-Identifier: MIT */
#include "engine.h"

unsigned ffn_forms(const struct layer *l)
{
	if (l->experts)
		return linear_forms(&l->router) | linear_forms(&l->s_gate) | linear_forms(&l->s_up) |
		       linear_forms(&l->s_router) | act_form(l->e_up.w.type) |
		       (l->e_gate.w.out ? act_form(l->e_gate.w.type) : 0);
	return linear_forms(&l->gate) | linear_forms(&l->up);
}

/* Gate and up side by side: a fused matrix gives them so, and two matrices write them so. */
void ffn(const struct pass *p, const struct team *t, const struct layer *l)
{
	struct llm *m = p->m;
	bool apart = l->gate.w.out > 0, fused = l->up.w.out == 2 * (size_t)l->ffn;
	struct rows g = m->gate, u = rows_at(g, l->ffn), none = { 0 };
	const struct gated gated = { apart ? &l->gate : NULL, &l->up, g, apart || fused ? u : none, l->ffn };
	struct act h = hidden_act(p), a = act_part(m->act, 0, p->n, l->ffn);

	if (apart)
		mat_mul(&l->gate.w, &h, g.p, g.stride, t);
	mat_mul(&l->up.w, &h, apart ? u.p : g.p, g.stride, t);
	team_barrier(t);
	if (!apart && (l->up.bias || l->up.scale != 1)) {
		finish_linear(p, t, &l->up, g, p->n);
		team_barrier(t);
	}
	activate_into(p, t, &gated, &a, linear_forms(&l->down));
	team_barrier(t);
	apply(p, t, &l->down, &a, m->out);
}
