/* SPDX-License-Identifier: MIT */
#ifndef FS_READAHEAD_H
#define FS_READAHEAD_H
/*
 * Lets the kernel read ahead that many bytes of files below dir. To be called before the daemon answers its first
 * request, and needs root; -EPERM or -EACCES without, and then it stays at 128 KiB.
 */
int readahead_set(const char *dir, unsigned bytes);
#endif
