/* SPDX-License-Identifier: MIT */
#include "error.h"
#include <stdarg.h>
#include <stdio.h>

int gguf_fail(struct gguf_error *e, int code, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	e->code = code;
	e->offset = offset;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof e->text, fmt, ap);
	va_end(ap);
	return code;
}
