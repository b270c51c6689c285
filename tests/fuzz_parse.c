/* SPDX-License-Identifier: MIT */
/* One file in memory. */
#include "fuzz.h"
#include <string.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gguf *g = NULL;
	struct gguf_error e = { 0 };
	int err = gguf_open_memory(&g, data, size, &e);

	if (err) {
		if (g || e.code != err || !e.text[0] || strpbrk(e.text, "\n\r\033"))
			abort();
		return 0;
	}
	fuzz_walk(g);
	gguf_close(g);
	return 0;
}
