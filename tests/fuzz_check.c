/* SPDX-License-Identifier: MIT */
/* What fsck.gguf does with a file that opens, and with one that opens when it may be cut. */
#include "check.h"
#include "fuzz.h"
#include "quote.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report {
	unsigned long findings;
};

void check_say(struct report *r, enum severity how, const char *where, uint64_t offset, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	(void)offset;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (how >= SEVERITIES || strpbrk(where, "\n\033") || strpbrk(text, "\n\033"))
		abort();
	r->findings++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const volatile int stop;
	struct report r = { 0 };
	struct deep d = { .threads = 1, .scan = true, .stop = &stop };
	struct gguf *g = NULL;

	if (gguf_open_memory(&g, data, size, NULL))
		return 0;
	check_layout(&r, g);
	check_keys(&r, g);
	check_settings(&r, g);
	check_tokens(&r, g);
	if (check_data(&r, g, &d))
		abort();
	gguf_close(g);
	return 0;
}
