/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "sandbox.h"
#include "dropcache.h"
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef HAVE_SECCOMP
#include <seccomp.h>

/* Nothing that opens a file, starts a process or a thread, or reaches the network. */
static const int allowed[] = {
	/* requests, replies and the model's bytes */
	SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(pread64), SCMP_SYS(preadv),
	SCMP_SYS(preadv2), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(statx), SCMP_SYS(lseek), SCMP_SYS(fadvise64),
	SCMP_SYS(mincore), CACHESTAT_CALL, SCMP_SYS(readahead), SCMP_SYS(poll), SCMP_SYS(ppoll),
	/* memory */
	SCMP_SYS(mmap), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(mprotect), SCMP_SYS(madvise), SCMP_SYS(brk),
	/* threads, time and signals */
	SCMP_SYS(futex), SCMP_SYS(sched_yield), SCMP_SYS(rseq), SCMP_SYS(set_robust_list), SCMP_SYS(restart_syscall),
	SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday),
	SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigtimedwait),
	SCMP_SYS(sigaltstack), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(tgkill), SCMP_SYS(getrandom),
	SCMP_SYS(sysinfo), SCMP_SYS(sched_getaffinity), SCMP_SYS(getrusage),
	/* the end */
	SCMP_SYS(close), SCMP_SYS(dup2), SCMP_SYS(dup3), SCMP_SYS(exit), SCMP_SYS(exit_group),
};

static int filter_calls(void)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = ctx ? seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1) : -ENOMEM;

	/* a call that this architecture does not have is no reason to stop */
	for (size_t i = 0; !err && i < sizeof allowed / sizeof *allowed; i++)
		if (seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0) == -ENOMEM)
			err = -ENOMEM;
	/* no signal, but whether a reader is still there */
	if (!err && seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(kill), 1, SCMP_A1(SCMP_CMP_EQ, 0, 0)) == -ENOMEM)
		err = -ENOMEM;
	if (!err)
		err = seccomp_load(ctx);
	if (ctx)
		seccomp_release(ctx);
	return err;
}
#else
static int filter_calls(void)
{
	return -ENOSYS;
}
#endif

/* Of this thread; those that it starts inherit it. */
static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

static void say(void (*says)(const char *line), const char *what, int err)
{
	const char *how = err == -ENOSYS ? "not built in" : err ? strerror(-err) : "given up";
	char line[120];

	snprintf(line, sizeof line, "%s: %s", what, how);
	says(line);
}

void sandbox_enter(void (*says)(const char *line))
{
	say(says, "capabilities", drop_capabilities());
	say(says, "new privileges", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0);
	say(says, "system calls that open, start or connect", filter_calls());
}
