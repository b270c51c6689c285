/* SPDX-License-Identifier: MIT */
/*
 * How many threads may run: the affinity mask, cut to the CPU quota of this process's control groups, all the way up, of
 * version 1 (cpu.cfs_quota_us / cpu.cfs_period_us) and 2 (cpu.max). Rounded down, at least one.
 */
#define _GNU_SOURCE
#include "threads.h"
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rounded down: a thread that the quota pays for in part holds up all others at each barrier. */
static unsigned whole_cpus(long long quota, long long period)
{
	if (quota <= 0 || period <= 0)
		return 0;
	if (quota / period > UINT_MAX)
		return UINT_MAX;
	return quota < period ? 1 : (unsigned)(quota / period);
}

static unsigned stricter(unsigned a, unsigned b)
{
	return a && (!b || a < b) ? a : b;
}

/* The first line of a small file; false when there is none. */
static bool read_line(const char *dir, const char *name, char *buf, size_t size)
{
	char path[PATH_MAX];
	FILE *f;
	bool ok;

	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	ok = fgets(buf, (int)size, f) != NULL;
	fclose(f);
	return ok;
}

static unsigned quota_v2(const char *dir)
{
	char line[64];
	long long quota, period;

	if (!read_line(dir, "cpu.max", line, sizeof line) || sscanf(line, "%lld %lld", &quota, &period) != 2)
		return 0;
	return whole_cpus(quota, period);
}

static unsigned quota_v1(const char *dir)
{
	char quota[64], period[64];

	if (!read_line(dir, "cpu.cfs_quota_us", quota, sizeof quota) ||
	    !read_line(dir, "cpu.cfs_period_us", period, sizeof period))
		return 0;
	return whole_cpus(atoll(quota), atoll(period));
}

/* The strictest limit of the group at path and of every group above it, up to the mount point base. */
static unsigned walk(const char *base, const char *path, unsigned (*quota)(const char *dir))
{
	char dir[PATH_MAX];
	size_t root = strlen(base);
	unsigned least = 0;
	char *slash;

	if (snprintf(dir, sizeof dir, "%s%s", base, strcmp(path, "/") ? path : "") >= (int)sizeof dir)
		return 0;
	for (;;) {
		least = stricter(quota(dir), least);
		slash = strrchr(dir, '/');
		if (strlen(dir) <= root || !slash)
			return least;
		*slash = '\0';
	}
}

/* Whether a comma-separated list of controllers names cpu. */
static bool has_cpu(const char *list)
{
	for (;;) {
		size_t n = strcspn(list, ",");

		if (n == 3 && !strncmp(list, "cpu", 3))
			return true;
		if (!list[n])
			return false;
		list += n + 1;
	}
}

/* One line of /proc/self/cgroup: number:controllers:path. */
static unsigned line_quota(const char *root, char *line)
{
	char base[PATH_MAX], *list = strchr(line, ':'), *path;
	bool v2;

	line[strcspn(line, "\n")] = '\0';
	if (!list || !(path = strchr(++list, ':')))
		return 0;
	*path++ = '\0';
	v2 = !*list;
	if (!v2 && !has_cpu(list))
		return 0;
	if (snprintf(base, sizeof base, "%s/sys/fs/cgroup%s%s", root, v2 ? "" : "/", list) >= (int)sizeof base)
		return 0;
	return walk(base, path, v2 ? quota_v2 : quota_v1);
}

unsigned threads_quota(const char *root)
{
	char path[PATH_MAX], *line = NULL;
	size_t cap = 0;
	unsigned least = 0;
	FILE *f;

	if (snprintf(path, sizeof path, "%s/proc/self/cgroup", root) >= (int)sizeof path)
		return 0;
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (getline(&line, &cap, f) > 0)
		least = stricter(line_quota(root, line), least);
	free(line);
	fclose(f);
	return least;
}

/* The mask may be wider than cpu_set_t: the kernel answers EINVAL until the room is enough. */
static unsigned affinity(void)
{
	for (size_t cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
		size_t size = CPU_ALLOC_SIZE(cpus);
		cpu_set_t *set = CPU_ALLOC(cpus);
		int err, n;

		if (!set)
			return 1;
		err = sched_getaffinity(0, size, set) ? errno : 0;
		n = err ? 0 : CPU_COUNT_S(size, set);
		CPU_FREE(set);
		if (!err)
			return n > 0 ? (unsigned)n : 1;
		if (err != EINVAL)
			return 1;
	}
	return 1;
}

unsigned threads_allowed(void)
{
	return stricter(threads_quota(""), affinity());
}
