/* SPDX-License-Identifier: MIT */
#ifndef FS_MOUNTINFO_H
#define FS_MOUNTINFO_H

enum { DEVICE_SIZE = 32 };
/*
 * The number, "0:42", of the device of what is mounted on dir last; -ENOENT when nothing is. Asks the kernel and not
 * the file system, whose daemon may not answer, or be dead.
 */
int mountinfo_device(const char *dir, char device[DEVICE_SIZE]);
#endif
