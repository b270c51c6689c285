/* SPDX-License-Identifier: MIT */
#include "run_edit.h"
#include <locale.h>
#include <stdio.h>
#include <editline/readline.h>

bool edit_built(void)
{
	return true;
}

char *edit_line(const char *prompt)
{
	static bool begun;
	char *line;

	if (!begun) {
		setlocale(LC_CTYPE, "");
		using_history();
		begun = true;
	}
	line = readline(prompt);
	if (line && *line)
		add_history(line);
	return line;
}
