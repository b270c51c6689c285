/* SPDX-License-Identifier: MIT */
/* Line editing with history, where libedit was there when this was built. */
#ifndef RUN_EDIT_H
#define RUN_EDIT_H
#include <stdbool.h>

bool edit_built(void);
/* A line, to be free()d, which is now part of the history; NULL at the end. */
char *edit_line(const char *prompt);
#endif
