/* SPDX-License-Identifier: MIT */
/* What a model asks of the machine for each token. */
#include "bench.h"
#include "source.h"
#include <stdio.h>
#include <string.h>

static bool is(const struct weight *w, const char *name)
{
	return w->name.n == strlen(name) && !memcmp(w->name.p, name, w->name.n);
}

/* Of the experts, those that a token goes through. */
static double share_of_experts(struct source *s, const char *arch)
{
	uint64_t used = 1, all = 1;
	char key[80];

	snprintf(key, sizeof key, "%.40s.expert_used_count", arch);
	if (source_u64(s, key, &used, NULL))
		return 1;
	snprintf(key, sizeof key, "%.40s.expert_count", arch);
	return source_u64(s, key, &all, NULL) || !all ? 1 : (double)used / (double)all;
}

/* The type that most bytes have. */
static const char *main_type(struct source *s)
{
	double bytes[GGUF_TYPE_LIMIT] = { 0 };
	uint32_t best = 0;

	for (size_t i = 0; i < source_weight_count(s); i++) {
		const struct weight *w = source_weight(s, i);

		if (w->type >= GGUF_TYPE_LIMIT)
			continue;
		bytes[w->type] += (double)w->size;
		best = bytes[w->type] > bytes[best] ? w->type : best;
	}
	return gguf_type_name(best);
}

void bench_weigh(struct source *s, struct bench_model *m)
{
	bool tied = !source_find(s, "output.weight");
	struct gguf_bytes text = { "?", 1 };
	char arch[41] = { 0 };

	source_string(s, "general.architecture", &text, NULL);
	memcpy(arch, text.p, text.n < sizeof arch ? text.n : sizeof arch - 1);
	snprintf(m->what, sizeof m->what, "%s %s", arch, main_type(s));
	for (size_t i = 0; i < source_weight_count(s); i++) {
		const struct weight *w = source_weight(s, i);
		double values = (double)w->extent[0] * (double)w->extent[1] * (double)w->extent[2] * (double)w->extent[3];
		double share = w->dims > 2 ? share_of_experts(s, arch) : 1;
		bool head = is(w, tied ? "token_embd.weight" : "output.weight");

		m->size += (double)w->size;
		m->values += values;
		if (is(w, "token_embd.weight") && !tied)
			continue;
		m->read += share * (double)w->size;
		if (w->dims > 1)
			*(head ? &m->head_macs : &m->macs) += share * values;
	}
}
