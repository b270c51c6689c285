/* SPDX-License-Identifier: MIT */
/* threads.c against small trees that look like /proc and /sys. */
#define _GNU_SOURCE
#include "tap.h"
#include "threads.h"
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file { const char *path, *text; };
static const struct {
	const char *what;
	struct file files[6];
	unsigned want;
} cases[] = {
	{ "no cgroup file", { { NULL, NULL } }, 0 },
	{ "v2 without limit", { { "proc/self/cgroup", "0::/\n" }, { "sys/fs/cgroup/cpu.max", "max 100000\n" } }, 0 },
	{ "v2, four of eight", { { "proc/self/cgroup", "0::/\n" }, { "sys/fs/cgroup/cpu.max", "400000 100000\n" } }, 4 },
	{ "v2, a fraction is rounded down",
	  { { "proc/self/cgroup", "0::/a\n" }, { "sys/fs/cgroup/a/cpu.max", "250000 100000\n" } }, 2 },
	{ "v2, less than one is one",
	  { { "proc/self/cgroup", "0::/a\n" }, { "sys/fs/cgroup/a/cpu.max", "10000 100000\n" } }, 1 },
	{ "v2, a group above is stricter",
	  { { "proc/self/cgroup", "0::/a/b/c\n" },
	    { "sys/fs/cgroup/a/b/c/cpu.max", "800000 100000\n" },
	    { "sys/fs/cgroup/a/b/cpu.max", "max 100000\n" },
	    { "sys/fs/cgroup/a/cpu.max", "300000 100000\n" } }, 3 },
	{ "v2, a path that is not visible falls back to what is",
	  { { "proc/self/cgroup", "0::/outer/inner\n" }, { "sys/fs/cgroup/cpu.max", "200000 100000\n" } }, 2 },
	{ "v1, controllers together",
	  { { "proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/x\n" },
	    { "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "500000\n" },
	    { "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n" } }, 5 },
	{ "v1 without limit",
	  { { "proc/self/cgroup", "4:cpu:/\n" },
	    { "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n" },
	    { "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n" } }, 0 },
	{ "cpuset is not cpu",
	  { { "proc/self/cgroup", "3:cpuset:/\n" },
	    { "sys/fs/cgroup/cpuset/cpu.cfs_quota_us", "100000\n" },
	    { "sys/fs/cgroup/cpuset/cpu.cfs_period_us", "100000\n" } }, 0 },
	{ "a line without colons", { { "proc/self/cgroup", "nonsense\n" } }, 0 },
	{ "a period of zero", { { "proc/self/cgroup", "0::/\n" }, { "sys/fs/cgroup/cpu.max", "1000 0\n" } }, 0 },
};

static bool put(const char *root, const struct file *f)
{
	char path[PATH_MAX + 128];
	FILE *out;

	snprintf(path, sizeof path, "%s/%s", root, f->path);
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return false;
		*p = '/';
	}
	out = fopen(path, "w");
	return out && fputs(f->text, out) >= 0 && fclose(out) == 0;
}

int main(void)
{
	char tmp[] = "/tmp/test_threads.XXXXXX", root[PATH_MAX], cmd[PATH_MAX + 16];
	cpu_set_t one;

	if (!mkdtemp(tmp))
		return 99;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bool made = true;

		snprintf(root, sizeof root, "%s/%zu", tmp, i);
		mkdir(root, 0700);
		for (const struct file *f = cases[i].files; f->path; f++)
			made = made && put(root, f);
		ok(made && threads_quota(root) == cases[i].want, "%s: %u", cases[i].what, threads_quota(root));
	}
	snprintf(cmd, sizeof cmd, "rm -rf %s", tmp);
	ok(!system(cmd), "cleaned up");
	ok(threads_allowed() >= 1, "at least one thread: %u", threads_allowed());
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof one, &one))
		skip("an affinity of one CPU", "sched_setaffinity");
	else
		ok(threads_allowed() == 1, "an affinity of one CPU is one thread");
	done();
}
