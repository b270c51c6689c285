/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "keeper.h"
#include "mountinfo.h"
#include "signals.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * UNMOUNT alone is answered, by a byte that is 0 when it was done: a keeper may be killed with the word in its hands.
 */
enum word { MOUNTED = 'm', UNMOUNT = 'u', END = 'e' };

/* An ordinary user's way: a setuid program does it. Returns 0 or -EPERM. */
static int unmount_as_user(const char *dir)
{
	pid_t pid = fork();
	int how = -1;

	if (!pid) {
		execlp("fusermount3", "fusermount3", "-u", "-q", "-z", "--", dir, (char *)NULL);
		execl("/usr/bin/fusermount3", "fusermount3", "-u", "-q", "-z", "--", dir, (char *)NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &how, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && how == 0 ? 0 : -EPERM;
}

/* Only what the daemon mounted: it may be gone by now, and something else be mounted on dir, or over it. */
static int unmount(const char *dir, const char *device)
{
	struct mountinfo now;
	int err = *device ? mountinfo_find(dir, &now) : 0;

	if (err)
		return err == -ENOENT ? 0 : err;
	if (*device && strcmp(now.device, device) != 0)
		return 0;
	if (!umount2(dir, MNT_DETACH | UMOUNT_NOFOLLOW))
		return 0;
	return errno == EPERM ? unmount_as_user(dir) : -errno;
}

static void look_up(const char *dir, struct mountinfo *mine)
{
	if (mountinfo_find(dir, mine))
		*mine->device = '\0';
}

/*
 * The keeper's life: obeys words until END or the end of the line, which is the end of the daemon, whatever ended it.
 * Without a word before that, orphaned says whether dir is unmounted; once it was, what is there is somebody else's.
 */
static void keep(int fd, const char *dir, bool orphaned)
{
	struct mountinfo m = { "", "" };
	char word, done;
	bool mounted = false;
	ssize_t n;

	while ((n = read(fd, &word, 1)) == 1 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		if (word == END)
			return;
		if (word == MOUNTED) {
			mounted = true;
			look_up(dir, &m);
		} else if (word == UNMOUNT) {
			done = unmount(dir, m.device) != 0;
			orphaned = false;
			if (write(fd, &done, 1) < 0)
				return; /* the daemon is gone */
		}
	}
	if (orphaned && mounted)
		unmount(dir, m.device);
}

/* A terminal's signals and its end are the daemon's affair. Standard error stays open only in the foreground. */
static void become_keeper(int fd)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t set;

	signals_asking(&set);
	for (int i = 1; i < SIGRTMIN; i++)
		if (sigismember(&set, i))
			signal(i, SIG_IGN);
	for (int std = 0; std < 3; std++)
		if (null < 0 || dup2(null, std) < 0)
			close(std); /* no descriptors left: the caller's pipes are not to be held all the same */
	if (dup2(fd, 3) == 3)
		close_range(4, ~0u, 0);
	prctl(PR_SET_NAME, "gguf-unmount");
}

int keeper_start(struct keeper *k, const char *dir, bool orphaned)
{
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
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
	*k = (struct keeper){ .fd = fds[1], .dir = dir };
	return 0;
}

/* Any thread may: one byte is written whole. -EPIPE when the keeper is gone. */
static int tell(struct keeper *k, char word)
{
	ssize_t n;

	if (k->fd < 0)
		return -EPIPE;
	do
		n = write(k->fd, &word, 1);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

void keeper_mounted(struct keeper *k)
{
	tell(k, MOUNTED);
	look_up(k->dir, &k->mine);
}

int keeper_unmount(struct keeper *k)
{
	char failed = true;

	if (!tell(k, UNMOUNT))
		while (read(k->fd, &failed, 1) < 0 && errno == EINTR)
			;
	return failed ? unmount(k->dir, k->mine.device) : 0;
}

void keeper_end(struct keeper *k)
{
	tell(k, END);
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}
