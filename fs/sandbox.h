/* SPDX-License-Identifier: MIT */
/* What a daemon that has mounted does not need any more, it gives up. */
#ifndef FS_SANDBOX_H
#define FS_SANDBOX_H
/*
 * For this thread and all that exist or will: no capability, no way to gain one, and no system call but those that
 * serving takes. A call that is not allowed fails with EPERM. says is told what was given up, a line each.
 */
void sandbox_enter(void (*says)(const char *line));
#endif
