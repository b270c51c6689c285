/* SPDX-License-Identifier: MIT */
#include "out.h"
#include "number.h"
#include <stdarg.h>
#include <stdio.h>

void out_u64(struct out *o, uint64_t v)
{
	char text[NUMBER_SIZE];

	out_put(o, text, number_u64(text, v));
}

void out_printf(struct out *o, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (n > 0)
		out_put(o, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}
