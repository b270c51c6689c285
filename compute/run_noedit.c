/* SPDX-License-Identifier: MIT */
#include "run_edit.h"
#include <stddef.h>

bool edit_built(void)
{
	return false;
}

char *edit_line(const char *prompt)
{
	(void)prompt;
	return NULL;
}
