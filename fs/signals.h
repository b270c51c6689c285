/* SPDX-License-Identifier: MIT */
/* What signals mean to the daemon: whoever sends one by mistake must not leave a dead mount behind. */
#ifndef FS_SIGNALS_H
#define FS_SIGNALS_H
#include <signal.h>
/* Those that ask it to unmount and end: to be blocked in all threads, and waited for by one. */
void signals_asking(sigset_t *set);
/* Ignores those that have no meaning here, of which the system's default would end the process. */
void signals_ignore(void);
#endif
