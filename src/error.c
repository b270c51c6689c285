/* SPDX-License-Identifier: MIT */
#include "error.h"
#include "quote.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int gguf_fail(struct gguf_error *e, int code, uint64_t offset, const char *fmt, ...)
{
	char text[sizeof e->text];
	va_list ap;

	if (!e)
		return code;
	e->code = code;
	e->offset = offset;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	gguf_quote_sentence(e->text, sizeof e->text, text, strlen(text));
	return code;
}
