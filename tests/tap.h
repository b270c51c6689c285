/* SPDX-License-Identifier: MIT */
/* The whole test library: ok(condition, "what holds"), skip("why"), done(). */
#ifndef TAP_H
#define TAP_H
#include <stdarg.h>
#include <stdio.h>
static int tap_count, tap_failed;
__attribute__((format(printf, 2, 3))) static inline int ok(int cond, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("%sok %d - ", cond ? "" : "not ", ++tap_count);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	tap_failed += !cond;
	return cond;
}
#define skip(what, why) printf("ok %d - %s # SKIP %s\n", ++tap_count, what, why)
#define done() return printf("1..%d\n", tap_count), tap_failed != 0
#endif
