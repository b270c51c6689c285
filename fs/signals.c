/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "signals.h"
#include <stddef.h>

/* From a user, a shell, a terminal; SIGXCPU is a limit's warning, which SIGKILL follows. */
static const int asking[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU };
static const int meaningless[] = { SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR };

void signals_asking(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
		sigaddset(set, asking[i]);
}

void signals_ignore(void)
{
	for (size_t i = 0; i < sizeof meaningless / sizeof *meaningless; i++)
		signal(meaningless[i], SIG_IGN);
	for (int i = SIGRTMIN; i <= SIGRTMAX; i++)
		signal(i, SIG_IGN);
}
