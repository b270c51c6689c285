/* SPDX-License-Identifier: MIT */
/* How many threads this process may keep busy. */
#ifndef THREADS_H
#define THREADS_H

/* CPUs that the affinity mask allows, cut to what the cgroup quota pays for. At least 1. */
unsigned threads_allowed(void);
/*
 * Whole CPUs that the cpu controllers (cgroup v1 and v2, this process's group and those above it) pay for, as /proc and
 * /sys below root say it ("" for the real ones). 0: no limit.
 */
unsigned threads_quota(const char *root);
#endif
