/* SPDX-License-Identifier: MIT */
/* mount.gguf: a GGUF model as a directory. */
#include "config.h"
#include "descriptors.h"
#include "error.h"
#include "mountinfo.h"
#include "ops.h"
#include "options.h"
#include "quote.h"
#include "serve.h"
#include "signals.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

static bool verbose;
static bool told; /* the caller has its answer, and is not to be written to any more */

static void say(const char *line)
{
	if (verbose && !told)
		fprintf(stderr, "mount.gguf: %s\n", line);
}

static int complain(const char *object, const char *reason)
{
	char quoted[4 * PATH_MAX];

	if (!told)
		fprintf(stderr, "mount.gguf: %s: %s\n", gguf_quote(quoted, sizeof quoted, object, strlen(object)), reason);
	return MOUNT_FAILED;
}

/* What libfuse said last while it mounted: the reason, should that fail. */
static char fuse_said[200];
static bool mounted;

/* libfuse's messages have their own newline. */
static void log_fuse(enum fuse_log_level level, const char *fmt, va_list ap)
{
	if (level > FUSE_LOG_WARNING || told)
		return;
	if (!mounted) {
		vsnprintf(fuse_said, sizeof fuse_said, fmt, ap);
		fuse_said[strcspn(fuse_said, "\n")] = '\0';
		return;
	}
	fputs("mount.gguf: ", stderr);
	vfprintf(stderr, fmt, ap);
}

static int complain_with_fuse(const char *object, const char *reason)
{
	char both[600];

	snprintf(both, sizeof both, "%s%s%s", reason, *fuse_said ? ": " : "", fuse_said);
	return complain(object, both);
}

/*
 * Where the caller waits for the daemon: it gets a status of mount(8), or the end of the pipe when the daemon failed.
 */
struct answer {
	int fd; /* -1 in the foreground */
	int null;
};

static bool ready(void *ctx)
{
	struct answer *a = ctx;
	char status = MOUNT_OK;
	ssize_t n;

	mounted = true;
	if (a->fd < 0)
		return true;
	told = true;
	for (int std = 0; std < 3; std++)
		dup2(a->null, std);
	while ((n = write(a->fd, &status, 1)) < 0 && errno == EINTR)
		;
	close(a->fd);
	return n == 1;
}

/* As one would write it from the root; links stay as they are, for a shard's siblings lie beside its link. */
static char *absolute(const char *path)
{
	char here[PATH_MAX], *whole;

	if (*path == '/')
		return strdup(path);
	if (!*path)
		return errno = ENOENT, NULL;
	if (!getcwd(here, sizeof here) || asprintf(&whole, "%s/%s", strcmp(here, "/") ? here : "", path) < 0)
		return NULL;
	return whole;
}

static int enter_namespace(const char *name)
{
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof path, "/proc/%s/ns/mnt", name);
	fd = open(strspn(name, "0123456789") == strlen(name) ? path : name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNS) < 0)
		err = complain(name, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err;
}

/* Whether a model is mounted on dir already: a second one would hide it, from root without a word. */
static bool has_model(const char *dir, const char *subtype)
{
	struct mountinfo m;

	if (mountinfo_find(dir, &m) || strncmp(m.type, "fuse.", 5) != 0)
		return false;
	return !strcmp(m.type + 5, "gguf") || (subtype && !strcmp(m.type + 5, subtype));
}

/* Whether opt->dir can be mounted on; its real path into path. */
static int check_dir(const struct options *opt, char path[PATH_MAX])
{
	const char *dir = opt->dir;
	struct statvfs vfs;
	struct stat st;

	if (!realpath(dir, path) || statvfs(path, &vfs) || stat(path, &st)) {
		if (errno != ENOTCONN)
			return complain(dir, strerror(errno));
		return complain(dir, "a mount whose daemon is dead is here: clear it with umount or fusermount3 -u");
	}
	if (!S_ISDIR(st.st_mode))
		return complain(dir, strerror(ENOTDIR));
	return has_model(path, opt->subtype) ? complain(dir, "a model is mounted here already: umount it first") : 0;
}

/* Whether something is mounted on dir itself. */
static bool is_mount(const char *dir)
{
	char above[PATH_MAX + 4];
	struct stat st, parent;

	snprintf(above, sizeof above, "%s/..", dir);
	return !stat(dir, &st) && !stat(above, &parent) && st.st_dev != parent.st_dev;
}

static int mount_model(const struct options *opt, const struct gguf *g, struct answer *a)
{
	struct gguf_error e = { 0 };
	char dir[PATH_MAX];
	struct serve s = { .g = g, .opt = opt, .dir = dir, .ready = ready, .ready_ctx = a, .says = say };
	int err = opt->namespace ? enter_namespace(opt->namespace) : 0;

	if (!err)
		err = check_dir(opt, dir);
	if (err || opt->fake)
		return err;
	if (chdir("/"))
		return complain("/", strerror(errno));
	fuse_set_log_func(log_fuse);
	if (!serve(&s, &e))
		return MOUNT_OK;
	complain_with_fuse(opt->dir, e.text);
	return is_mount(dir) ? complain(opt->dir, "there is a mount already") : MOUNT_FAILED;
}

/* In the daemon: opens, mounts, serves. Returns a status of mount(8). */
static int mount_source(const struct options *opt, struct answer *a)
{
	struct gguf_error e = { 0 };
	struct gguf *g;
	char *source = absolute(opt->source);
	int status;

	if (!source)
		return complain(opt->source, strerror(errno));
	if (gguf_open(&g, source, &e)) {
		status = complain(opt->source, e.text);
	} else {
		status = mount_model(opt, g, a);
		gguf_close(g);
	}
	free(source);
	return status;
}

/* In the caller: waits for the daemon's word. */
static int wait_for(pid_t pid, int fd)
{
	char status;
	ssize_t n;
	int how;

	do
		n = read(fd, &status, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return status;
	while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(how))
		return WEXITSTATUS(how);
	fprintf(stderr, "mount.gguf: the daemon was killed by signal %d\n", WTERMSIG(how));
	return MOUNT_SYSTEM;
}

static int in_background(const struct options *opt)
{
	struct answer a = { .null = open("/dev/null", O_RDWR | O_CLOEXEC) };
	int fds[2];
	pid_t pid;

	if (a.null < 0 || pipe2(fds, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		complain("daemon", strerror(errno));
		return MOUNT_SYSTEM;
	}
	if (pid) {
		close(fds[1]);
		return wait_for(pid, fds[0]);
	}
	close(fds[0]);
	a.fd = fds[1];
	setsid();
	return mount_source(opt, &a);
}

int main(int argc, char **argv)
{
	struct gguf_error e = { 0 };
	struct options opt;
	int status = MOUNT_OK;

	close_range(3, ~0u, 0); /* nothing that the caller had open is ours */
	hold_descriptors();
	signals_ignore();
	if (options_parse(&opt, argc, argv, &e)) {
		fprintf(stderr, "mount.gguf: %s\nTry 'mount.gguf --help'.\n", e.text);
		status = MOUNT_USAGE;
	} else if (opt.help) {
		options_help(stdout);
	} else if (opt.version) {
		printf("mount.gguf of %s, libfuse %s\n", PACKAGE_STRING, fuse_pkgversion());
	} else {
		struct answer none = { .fd = -1 };

		verbose = opt.verbose;
		if (opt.writable)
			say("mounted read-only: a model is not written to here");
		status = opt.foreground || opt.fake ? mount_source(&opt, &none) : in_background(&opt);
	}
	options_free(&opt);
	if (fflush(stdout) && !status) {
		fprintf(stderr, "mount.gguf: standard output: %s\n", strerror(errno));
		status = MOUNT_SYSTEM;
	}
	return status;
}
