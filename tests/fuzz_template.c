/* SPDX-License-Identifier: MIT */
/* Any bytes as a chat template: text up to the first NUL, then the context as JSON (or one of ours). */
#include "chat/template.h"
#include "fuzz.h"
#include <stdlib.h>
#include <string.h>

static const char usual[] =
	"{\"messages\":[{\"role\":\"system\",\"content\":\"S \\u00e9\"},{\"role\":\"user\",\"content\":\"U\"},"
	"{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"function\":{\"name\":\"f\",\"arguments\":{\"a\":1}}}]}],"
	"\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"properties\":{\"a\":{\"type\":\"integer\"}}}}}],"
	"\"x\":1,\"f\":1.5,\"s\":\"text\",\"l\":[1,2,[3]],\"d\":{\"a\":1,\"b\":{}},\"add_generation_prompt\":true,\"bos_token\":\"<s>\"}";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct template_limits limits = { .steps = 20000, .bytes = 4 << 20, .depth = 200 };
	const char *text = (const char *)data, *end = size ? memchr(text, 0, size) : NULL;
	size_t n = end ? (size_t)(end - text) : size, made;
	json_t *context = end ? json_loadb(end + 1, size - n - 1, 0, NULL) : NULL;
	struct gguf_error e;
	struct template *t;
	char *out;

	if (!context)
		context = json_loads(usual, 0, NULL);
	if (!template_parse(&t, text, n, &e)) {
		if (!template_render(t, context, 1767323045, &limits, &out, &made, &e))
			free(out);
		template_free(t);
	}
	json_decref(context);
	return 0;
}
