/* SPDX-License-Identifier: MIT */
/* The terminal: lines and interrupts. */
#define _GNU_SOURCE
#include "run.h"
#include "run_edit.h"
#include "whole.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static volatile sig_atomic_t flag, waiting;
static struct termios saved;
static bool have_saved;

/* Only calls that may stand in a handler. While the program waits for a line, and the second time, it ends. */
static void on_interrupt(int sig)
{
	if (!flag && !waiting) {
		flag = 1;
		return;
	}
	whole_abandon();
	if (have_saved)
		tcsetattr(STDIN_FILENO, TCSANOW, &saved);
	if (write(STDOUT_FILENO, "\n", 1) < 0)
		_exit(1);
	_exit(128 + sig);
}

void interrupt_catch(void)
{
	struct sigaction act = { .sa_handler = on_interrupt };

	have_saved = !tcgetattr(STDIN_FILENO, &saved);
	sigaction(SIGINT, &act, NULL);
}

bool interrupted(void)
{
	return flag;
}

void interrupt_clear(void)
{
	flag = 0;
}

static char *plain_line(const char *prompt)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	fputs(prompt, stdout);
	fflush(stdout);
	n = getline(&line, &cap, stdin);
	if (n <= 0) {
		free(line);
		return NULL;
	}
	if (line[n - 1] == '\n')
		line[n - 1] = '\0';
	return line;
}

void interrupt_ends(bool yes)
{
	waiting = yes;
}

char *line_read(const char *prompt, bool edit)
{
	char *line;

	waiting = 1;
	line = edit && edit_built() ? edit_line(prompt) : plain_line(prompt);
	waiting = 0;
	if (!line && *prompt)
		putchar('\n'); /* what comes next shall not stand behind the prompt */
	return line;
}
