/* SPDX-License-Identifier: MIT */
/* Signals that end a program of ours, or would. */
#define _GNU_SOURCE
#include "cli.h"
#include "whole.h"
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char unreadable[160]; /* what on_bus says */

/* A page of a mapped file that cannot be read any more comes as a signal; nothing can go on without it. */
static void on_bus(int signal)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	ssize_t n;

	while (atomic_flag_test_and_set(&told)) /* another thread has come upon it, too, and will end them all */
		pause();
	n = write(STDERR_FILENO, unreadable, strlen(unreadable));
	(void)n;
	(void)signal;
	whole_abandon();
	_exit(1);
}

/* Ends as the signal does by itself, but leaves no half file. */
static void on_end(int sig)
{
	whole_abandon();
	signal(sig, SIG_DFL);
	raise(sig);
}

static void catch_end(int sig)
{
	struct sigaction act;

	if (!sigaction(sig, NULL, &act) && act.sa_handler == SIG_DFL)
		signal(sig, on_end);
}

void cli_signals(const struct cli *c)
{
	snprintf(unreadable, sizeof unreadable,
		 "%.64s: a mapped file cannot be read any more: it was cut, deleted or replaced, or its disk fails\n", c->program);
	signal(SIGBUS, on_bus);
	signal(SIGXFSZ, SIG_IGN); /* a file that is too long for the limit set is an error of the write then */
	catch_end(SIGINT);
	catch_end(SIGTERM);
	catch_end(SIGHUP);
}
