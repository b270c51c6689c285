/* SPDX-License-Identifier: MIT */
#include "rope.h"
#include "error.h"
#include <errno.h>
#include <math.h>
#include <string.h>

/*
 * How a model stretches its context: a divisor of all frequencies, YaRN (Peng et al. 2023), or factors for each pair.
 */
struct scaling {
	enum { SCALE_NONE, SCALE_LINEAR, SCALE_YARN, SCALE_LONG } kind;
	float factor, magnitude;
	uint32_t original;
};

static int scaling_kind(const struct keys *k, struct scaling *sc)
{
	static const struct { const char *name; int kind; } kinds[] = {
		{ "none", SCALE_NONE }, { "linear", SCALE_LINEAR }, { "yarn", SCALE_YARN }, { "longrope", SCALE_LONG },
	};
	struct gguf_bytes type = { "linear", 6 };
	int err = key_string(k, "rope.scaling.type", &type);

	if (err)
		return err;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (type.n == strlen(kinds[i].name) && !memcmp(type.p, kinds[i].name, type.n)) {
			sc->kind = kinds[i].kind;
			return 0;
		}
	return key_fail(k, "rope.scaling.type", "%.*s is none of none, linear, yarn and longrope",
			(int)(type.n < 40 ? type.n : 40), type.p);
}

static int read_scaling(const struct keys *k, const struct model *m, struct scaling *sc)
{
	int err = scaling_kind(k, sc);

	sc->factor = sc->magnitude = 1;
	sc->original = m->h.context;
	err = err ? err : key_f32(k, "rope.scale_linear", &sc->factor);
	err = err ? err : key_f32(k, "rope.scaling.factor", &sc->factor);
	err = err ? err : key_f32(k, "rope.scaling.attn_factor", &sc->magnitude);
	err = err ? err : key_u32(k, "rope.scaling.original_context_length", &sc->original);
	if (!err && sc->factor < 0)
		return key_fail(k, "rope.scaling.factor", "%g is negative", (double)sc->factor);
	if (!err && sc->kind == SCALE_YARN && !sc->original)
		return key_fail(k, "rope.scaling.original_context_length", "it may not be 0");
	if (sc->factor == 0 || sc->kind == SCALE_NONE)
		sc->factor = 1;
	return err;
}

/* Divisors of the frequencies, where the model has some: one set, or one for short and one for long contexts. */
static int read_factors(struct model *m, const struct keys *k, const struct scaling *sc, uint32_t context, float *f)
{
	const char *name = "rope_freqs.weight";
	const struct weight *w;
	unsigned half = m->h.rope_dims / 2;

	for (unsigned i = 0; i < half; i++)
		f[i] = 1;
	if (source_find(k->s, "rope_factors_long.weight") || source_find(k->s, "rope_factors_short.weight"))
		name = context > sc->original ? "rope_factors_long.weight" : "rope_factors_short.weight";
	w = source_find(k->s, name);
	if (!w)
		return strncmp(name, "rope_factors", 12) ? 0 : gguf_fail(k->e, -EINVAL, 0, "tensor %s is missing", name);
	if (w->type != GGUF_TYPE_F32 || w->extent[0] != half || w->size != half * sizeof(float))
		return gguf_fail(k->e, -EINVAL, 0, "tensor %s: expected %u values of type F32", name, half);
	if (w->data)
		memcpy(f, w->data, w->size);
	for (unsigned i = 0; i < half; i++)
		if (!isfinite(f[i]) || f[i] == 0)
			return gguf_fail(k->e, -EINVAL, 0, "tensor %s: factor %u is zero or not finite", name, i);
	return 0;
}

/* The pair of values that makes so many turns within the original context. */
static double pair_of(const struct hyper *h, const struct scaling *sc, double turns, double base)
{
	return h->rope_dims * log(sc->original / (turns * 2 * M_PI)) / (2 * log(base));
}

/* YaRN: fast pairs keep their frequency, slow ones are stretched, between the two it blends. */
static void blend(double *freq, const struct hyper *h, const struct scaling *sc, double base)
{
	double low = fmax(0, floor(pair_of(h, sc, h->yarn_fast, base)));
	double high = fmin(h->rope_dims - 1, ceil(pair_of(h, sc, h->yarn_slow, base)));

	for (unsigned i = 0; i < h->rope_dims / 2; i++) {
		double slow = fmin(1, fmax(0, (i - low) / fmax(0.001, high - low)));

		freq[i] *= slow / sc->factor + (1 - slow);
	}
}

/* Position interpolation: all frequencies are divided (Chen et al. 2023). */
static void stretch(double *freq, unsigned half, const struct scaling *sc)
{
	for (unsigned i = 0; i < half; i++)
		freq[i] /= sc->factor;
}

/* What cosines and sines are multiplied by: YaRN sharpens attention in long contexts. */
static float magnitude(const struct hyper *h, const struct scaling *sc)
{
	if (sc->kind != SCALE_YARN)
		return sc->magnitude;
	if (h->yarn_magnitude != 0)
		return sc->magnitude * h->yarn_magnitude;
	return sc->factor > 1 ? sc->magnitude * (float)(1 + 0.1 * log(sc->factor)) : sc->magnitude;
}

/* The frequencies of rotary embeddings (Su et al. 2021), base^(-2i/dims), with factors and scaling. */
static int fill(struct model *m, const struct keys *k, struct rope *r, const struct scaling *sc, const float *factors,
		float base)
{
	unsigned half = m->h.rope_dims / 2;
	double *freq = model_alloc(m, half, sizeof(double));

	if (!freq)
		return gguf_fail(k->e, -ENOMEM, 0, "out of memory");
	for (unsigned i = 0; i < half; i++)
		freq[i] = pow(base, -2.0 * i / m->h.rope_dims) / factors[i];
	if (sc->kind == SCALE_YARN)
		blend(freq, &m->h, sc, base);
	else if (sc->kind != SCALE_LONG)
		stretch(freq, half, sc);
	*r = (struct rope){ m->h.rope_dims, freq, magnitude(&m->h, sc) };
	return 0;
}

static int check_base(const struct keys *k, const char *name, float base)
{
	return base > 1 ? 0 : key_fail(k, name, "%g is not more than 1", (double)base);
}

/* Layers with a window may have a base of their own and no scaling. */
static int fill_local(struct model *m, const struct keys *k, float base, const float *factors)
{
	const struct scaling plain = { SCALE_NONE, 1, 1, 0 };
	float local = m->arch->local_base != 0 ? m->arch->local_base : base;
	int err = key_f32(k, "rope.freq_base_swa", &local);

	err = err ? err : check_base(k, "rope.freq_base_swa", local);
	return err ? err : fill(m, k, &m->rope_local, &plain, factors, local);
}

/* Each layer gets the way to turn that it uses, or none. */
static void assign(struct model *m)
{
	for (uint32_t i = 0; i < m->h.layers; i++) {
		struct layer *l = &m->layer[i];

		if (m->arch->plain_every && (i + 1) % m->arch->plain_every == 0)
			continue;
		l->rope = m->arch->local_rope && l->window ? &m->rope_local : &m->rope;
	}
}

int model_rope(struct model *m, struct source *s, uint32_t context, struct gguf_error *e)
{
	const struct keys k = { s, m->arch->name, e };
	struct scaling sc;
	float base = 10000, *factors;
	int err;

	if (m->h.rope_dims == 0)
		return 0;
	factors = model_alloc(m, m->h.rope_dims / 2, sizeof(float));
	if (!factors)
		return gguf_fail(e, -ENOMEM, 0, "out of memory");
	err = key_f32(&k, "rope.freq_base", &base);
	err = err ? err : check_base(&k, "rope.freq_base", base);
	err = err ? err : read_scaling(&k, m, &sc);
	err = err ? err : read_factors(m, &k, &sc, context, factors);
	err = err ? err : fill(m, &k, &m->rope, &sc, factors, base);
	if (!err && m->arch->local_rope)
		err = fill_local(m, &k, base, factors);
	if (!err)
		assign(m);
	return err;
}

void rope_table(float *table, const struct rope *r, int64_t position)
{
	unsigned half = r->dims / 2;

	for (unsigned i = 0; i < half; i++) {
		double angle = (double)position * r->freq[i];

		table[i] = (float)cos(angle) * r->magnitude;
		table[half + i] = (float)sin(angle) * r->magnitude;
	}
}

void rope_turn(const struct vec *v, float *x, const float *table, unsigned dims, enum rope_kind kind)
{
	unsigned half = dims / 2;

	if (kind == ROPE_PAIRS)
		v->turn_pairs(x, table, table + half, half);
	else
		v->turn_halves(x, table, table + half, half);
}
