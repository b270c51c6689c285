/* SPDX-License-Identifier: MIT */
/*
 * A small process beside the daemon that unmounts for it: the daemon gives its privileges up, and an ordinary user's
 * unmount needs a setuid program, which a process without new privileges cannot run. It has no model and no open
 * files, waits for a word, and ends with the daemon.
 */
#ifndef FS_KEEPER_H
#define FS_KEEPER_H
#include "mountinfo.h"
#include <stdbool.h>

struct keeper {
	int fd; /* -1: none */
	const char *dir;
	struct mountinfo mine; /* what the daemon mounted there; an empty device when that is not known */
};
/*
 * dir has to outlive k. orphaned: unmount also when the daemon ends without a word. To be started before any other
 * thread; -errno.
 */
int keeper_start(struct keeper *k, const char *dir, bool orphaned);
/* The daemon has mounted on dir: nothing else that is mounted there, before or after, will be unmounted. */
void keeper_mounted(struct keeper *k);
/*
 * Has dir unmounted lazily: it is gone at once, and open files live on. -errno when it stays mounted, because the
 * keeper was killed, and this process may not unmount itself, as it may without a sandbox.
 */
int keeper_unmount(struct keeper *k);
/* The daemon ends, and dir is unmounted or never was mounted. */
void keeper_end(struct keeper *k);
#endif
