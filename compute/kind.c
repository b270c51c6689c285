/* SPDX-License-Identifier: MIT */
/* What a file is, for those that are no model to run. */
#include "error.h"
#include "network.h"
#include <errno.h>
#include <string.h>

static bool is(const struct gguf_bytes *b, const char *text)
{
	return b->n == strlen(text) && !memcmp(b->p, text, b->n);
}

/* general.type, or the architecture, of files that belong to a model but are none. */
static const struct {
	const char *word, *what;
} parts[] = {
	{ "adapter", "an adapter (LoRA), to be applied to a model" },
	{ "mmproj", "a multimodal projector (mmproj), which goes with a language model" },
	{ "clip", "a multimodal projector (mmproj), which goes with a language model" },
	{ "imatrix", "an importance matrix (imatrix), which guides quantization" },
	{ "vocab", "a vocabulary" },
};

static const char *part_of_model(struct source *s, const struct gguf_bytes *type)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (is(type, parts[i].word))
			return parts[i].what;
	if (source_has(s, "adapter.type"))
		return parts[0].what;
	if (source_has(s, "clip.has_vision_encoder") || source_has(s, "clip.has_audio_encoder"))
		return parts[1].what;
	if (source_has(s, "imatrix.datasets") || source_has(s, "imatrix.chunk_count"))
		return parts[3].what;
	return NULL;
}

static int unknown(const struct gguf_bytes *name, struct gguf_error *e)
{
	char known[200] = "";

	for (size_t i = 0; arch_name(i) && strlen(known) + strlen(arch_name(i)) + 2 < sizeof(known); i++) {
		strcat(known, i ? " " : "");
		strcat(known, arch_name(i));
	}
	return gguf_fail(e, -ENOTSUP, 0, "general.architecture: %.*s is unknown (known: %s)",
			 (int)(name->n < 40 ? name->n : 40), name->p, known);
}

int model_kind(struct source *s, const struct arch **arch, struct gguf_error *e)
{
	struct gguf_bytes name = { "", 0 }, type = { "", 0 };
	const char *what;
	int err = source_string(s, "general.type", &type, e);

	if (err && err != -ENOENT)
		return err;
	err = source_string(s, "general.architecture", &name, e);
	if (err && err != -ENOENT)
		return err;
	what = part_of_model(s, &type);
	what = what ? what : part_of_model(s, &name);
	if (what)
		return gguf_fail(e, -ENOTSUP, 0, "this is %s: there is no model in it", what);
	if (err)
		return gguf_fail(e, -EINVAL, 0, "general.architecture: this key is missing");
	if (!source_weight_count(s))
		return gguf_fail(e, -ENOTSUP, 0, "this is a vocabulary only: it has no tensors to run");
	*arch = arch_find(name.p, name.n);
	return *arch ? 0 : unknown(&name, e);
}
