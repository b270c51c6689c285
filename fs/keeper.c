/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "keeper.h"
#include "mountinfo.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum word { MOUNTED = 'm', UNMOUNT = 'u', END = 'e' };

/* Only what the daemon mounted: it may be gone by now, and something else be mounted on dir, or over it. */
static void unmount(const char *dir, const char *device)
{
	char now[DEVICE_SIZE];
	pid_t pid;

	if (*device && (mountinfo_device(dir, now) || strcmp(now, device) != 0))
		return;
	if (!umount2(dir, MNT_DETACH | UMOUNT_NOFOLLOW) || errno != EPERM)
		return;
	pid = fork();
	if (!pid) {
		execlp("fusermount3", "fusermount3", "-u", "-q", "-z", "--", dir, (char *)NULL);
		execl("/usr/bin/fusermount3", "fusermount3", "-u", "-q", "-z", "--", dir, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/*
 * The keeper's life: obeys words until END or the end of the pipe, which is the end of the daemon, whatever ended it.
 * Without a word before that, orphaned says whether dir is unmounted; once it was, what is there is somebody else's.
 */
static void keep(int fd, const char *dir, bool orphaned)
{
	char device[DEVICE_SIZE] = "", word;
	bool mounted = false;
	ssize_t n;

	while ((n = read(fd, &word, 1)) == 1 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		if (word == END)
			return;
		if (word == MOUNTED) {
			mounted = true;
			if (mountinfo_device(dir, device))
				*device = '\0';
		} else if (word == UNMOUNT) {
			unmount(dir, device);
			orphaned = false;
		}
	}
	if (orphaned && mounted)
		unmount(dir, device);
}

/* A terminal's signals and its end are the daemon's affair. Standard error stays open only in the foreground. */
static void become_keeper(int fd)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	int null = open("/dev/null", O_RDWR);

	for (unsigned i = 0; i < sizeof ignored / sizeof *ignored; i++)
		signal(ignored[i], SIG_IGN);
	for (int std = 0; std < 3 && null >= 0; std++)
		dup2(null, std);
	if (dup2(fd, 3) == 3)
		close_range(4, ~0u, 0);
	prctl(PR_SET_NAME, "gguf-unmount");
}

int keeper_start(struct keeper *k, const char *dir, bool orphaned)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (!pid) {
		become_keeper(fds[0]);
		keep(3, dir, orphaned);
		_exit(0);
	}
	close(fds[0]);
	if (pid < 0) {
		close(fds[1]);
		return -EAGAIN;
	}
	k->fd = fds[1];
	return 0;
}

/* Any thread may: one byte is written whole. A keeper that is gone is no error, there is nobody to report it to. */
static void tell(struct keeper *k, char word)
{
	while (k->fd >= 0 && write(k->fd, &word, 1) < 0 && errno == EINTR)
		;
}

void keeper_mounted(struct keeper *k)
{
	tell(k, MOUNTED);
}

void keeper_unmount(struct keeper *k)
{
	tell(k, UNMOUNT);
}

void keeper_end(struct keeper *k)
{
	tell(k, END);
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}
