/* SPDX-License-Identifier: MIT */
/*
 * hostile DIR MODEL: makes each spoiled file of cases.h and each patched model of patches.h in DIR, and gives it to our
 * programs in the build directory. None may crash, take 2 s of CPU, or more memory than 64 MiB and four times the file;
 * what is refused is refused in one line that says why, with a status that is not 0.
 */
#include "config.h"

#include "cases.h"
#include "patches.h"
#include "tap.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ARGS = 12, OUTPUT = 1 << 16, WALL = 30 /* s: a loaded machine is no hang */ };

enum { FINDS = 1 /* prints findings on standard output, instead of one line on standard error */,
       TAKES_VOCABULARY = 2, TAKES_NETWORK = 4, /* refuses what is wrong with it, in the words of patches.h */
       TAKES_BOTH = TAKES_VOCABULARY | TAKES_NETWORK,
       PATCHES_ONLY = 8, /* opens files just as one above it does */
       MEASURES = 16 /* the machine, in memory of its own; what the weights are is nothing to it */ };

/* FILE and DIR stand for the file under test and an empty directory. */
static const struct program {
	const char *name, *path;
	unsigned how;
	const char *args[MOST_ARGS];
} programs[] = {
	{ "fsck", "fsck.gguf", FINDS, { "--deep", "FILE" } },
	{ "mount", "mount.gguf", 0, { "FILE", "DIR" } },
	{ "run", "gguf-run", TAKES_BOTH, { "-m", "FILE", "-p", "a", "-n", "1", "-c", "32", "-t", "1" } },
	{ "tokenize", "gguf-tokenize", TAKES_VOCABULARY, { "-m", "FILE", "-p", "a" } },
	{ "perplexity", "gguf-perplexity", TAKES_BOTH | PATCHES_ONLY, { "-m", "FILE", "-p", "a", "-c", "32", "-t", "1" } },
	{ "embed", "gguf-embed", TAKES_BOTH | PATCHES_ONLY, { "-m", "FILE", "-p", "a", "-c", "32", "-t", "1" } },
	{ "bench", "gguf-bench", TAKES_NETWORK | PATCHES_ONLY | MEASURES, { "-m", "FILE", "-p", "4", "-n", "0", "-r", "1", "-t", "1" } },
};

struct outcome {
	int status; /* as wait() gives it */
	double cpu; /* s */
	long memory; /* KiB at most */
	bool late;
	char out[OUTPUT], err[OUTPUT];
};

static char dir[256], file[512], mount_dir[512];

static void exec_program(const struct program *p, int out, int err)
{
	char *argv[MOST_ARGS + 1] = { (char *)p->path };
	char path[64];
	int n = 1;

	for (int i = 0; i < MOST_ARGS - 1 && p->args[i]; i++) {
		const char *a = p->args[i];

		argv[n++] = !strcmp(a, "FILE") ? file : !strcmp(a, "DIR") ? mount_dir : (char *)a;
	}
	dup2(open("/dev/null", O_RDONLY), 0);
	dup2(out, 1);
	dup2(err, 2);
	snprintf(path, sizeof path, "./%s", p->path);
	execv(path, argv);
	_exit(127);
}

/* Appends what is there. False at the end. */
static bool drain(int fd, char *text)
{
	size_t n = strlen(text);
	ssize_t got;
	char spill[4096];

	if (n < OUTPUT - 1) {
		got = read(fd, text + n, OUTPUT - 1 - n);
		if (got > 0)
			text[n + (size_t)got] = 0;
		return got > 0;
	}
	return read(fd, spill, sizeof spill) > 0;
}

static void listen_to(struct outcome *o, int out, int err, pid_t pid)
{
	struct pollfd p[2] = { { .fd = out, .events = POLLIN }, { .fd = err, .events = POLLIN } };
	time_t start = time(NULL);

	while (p[0].fd >= 0 || p[1].fd >= 0) {
		if (poll(p, 2, 1000) < 0 && errno != EINTR)
			break;
		if (p[0].revents && !drain(out, o->out))
			p[0].fd = -1;
		if (p[1].revents && !drain(err, o->err))
			p[1].fd = -1;
		if (time(NULL) - start > WALL) {
			o->late = true;
			kill(pid, SIGKILL);
			break;
		}
	}
}

static void run(const struct program *p, struct outcome *o)
{
	int out[2], err[2];
	struct rusage u;
	pid_t pid;

	memset(o, 0, sizeof *o);
	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC) || (pid = fork()) < 0) {
		printf("Bail out! %s\n", strerror(errno));
		exit(1);
	}
	if (!pid)
		exec_program(p, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	listen_to(o, out[0], err[0], pid);
	wait4(pid, &o->status, 0, &u);
	close(out[0]);
	close(err[0]);
	o->cpu = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
	o->memory = u.ru_maxrss;
}

static bool is_one_line(const char *s)
{
	const char *end = strchr(s, '\n');

	return end && end > s && !end[1] && !strpbrk(s, "\033\r\a");
}

/* What holds of any file. Prints nothing where it does. */
static const char *misbehaves(const struct program *p, const struct outcome *o, size_t size)
{
	if (o->late)
		return "it did not end";
	if (!WIFEXITED(o->status))
		return "it crashed";
	if (WEXITSTATUS(o->status) >= 99)
		return "its status is that of a sanitizer or of no program";
	if (o->cpu > 2)
		return "it took more than 2 s of CPU";
	if (!(p->how & MEASURES) && o->memory / 1024 > 64 + 4 * (long)(size >> 20) + 4)
		return "it took too much memory";
	if (strpbrk(o->out, "\033\a") || strpbrk(o->err, "\033\a"))
		return "control characters reach the terminal";
	return NULL;
}

/* text: what a refusal says; NULL: it need not refuse. */
static void judge(const struct program *p, const char *name, const char *from, size_t size, const char *text, bool may_refuse)
{
	static struct outcome o;
	const char *wrong;
	int status;

	run(p, &o);
	status = WEXITSTATUS(o.status);
	wrong = misbehaves(p, &o, size);
	if (!wrong && text && !status)
		wrong = "it was not refused";
	if (!wrong && text && !strstr(p->how & FINDS ? o.out : o.err, text))
		wrong = "the reason is not told";
	if (!wrong && status && !(p->how & FINDS) && !is_one_line(o.err))
		wrong = "the reason is not one line";
	if (!wrong && !text && status && !may_refuse)
		wrong = "it was refused";
	ok(!wrong, "%s %s (%s)", p->name, name, from);
	if (wrong)
		printf("# %s: status %d, %.2f s, %ld KiB\n# expected: %s\n# %.400s%.400s\n", wrong, o.status, o.cpu, o.memory,
		       text ? text : "to open", o.err, o.out);
}

static void put(const struct build *b, const char *name)
{
	FILE *f;

	snprintf(file, sizeof file, "%s/%s.gguf", dir, name);
	f = fopen(file, "wb");
	if (!f || (b->n && fwrite(b->p, 1, b->n, f) != b->n) || fclose(f)) {
		printf("Bail out! %s cannot be written\n", file);
		exit(1);
	}
}

static bool is_built(const struct program *p)
{
	return !access(p->path, X_OK) && (strcmp(p->name, "mount") || !access("/dev/fuse", R_OK | W_OK));
}

static void unmount(const struct program *p)
{
	char command[1200];

	if (strcmp(p->name, "mount"))
		return;
	snprintf(command, sizeof command, "umount -l '%s' 2>/dev/null || fusermount3 -uqz '%s' 2>/dev/null", mount_dir, mount_dir);
	if (system(command))
		return;
}

static void try_cases(const struct program *p)
{
	for (size_t i = 0; i < gguf_case_count; i++) {
		const struct gguf_case *c = &gguf_cases[i];
		struct build b = { 0 };

		build(&b, c->script);
		put(&b, c->name);
		/* What merely looks odd is no model either: none has a vocabulary. fsck may find fault with it. */
		judge(p, c->name, c->from, b.n, c->text, p->how);
		unmount(p);
		unlink(file);
		build_free(&b);
	}
}

/* What p says of the patch when it refuses it, or NULL. */
static const char *words(const struct program *p, const struct patch *t)
{
	bool vocabulary = !strncmp(t->key, "tokenizer.", strlen("tokenizer."));

	if (p->how & FINDS)
		return t->fsck;
	if (p->how & MEASURES && !strncmp(t->value ? t->value : "", "data ", strlen("data ")))
		return NULL;
	return p->how & (vocabulary ? TAKES_VOCABULARY : TAKES_NETWORK) ? t->run : NULL;
}

static void try_patches(const struct program *p, const struct gguf *g)
{
	for (size_t i = 0; i < patch_count; i++) {
		const struct patch *t = &patches[i];
		struct build b = { 0 };

		patch_model(&b, g, t);
		put(&b, t->name);
		judge(p, t->name, t->from, b.n, words(p, t), p->how);
		unmount(p);
		unlink(file);
		build_free(&b);
	}
}

int main(int argc, char **argv)
{
	struct gguf *g = NULL;

	if (argc != 3 || gguf_open(&g, argv[2], NULL)) {
		printf("Bail out! usage: hostile DIR MODEL\n");
		return 2;
	}
	snprintf(dir, sizeof dir, "%s", argv[1]);
	snprintf(mount_dir, sizeof mount_dir, "%s/m", dir);
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
		if (!is_built(&programs[i])) {
			skip(programs[i].name, "it is not built, or has no device here");
			continue;
		}
		if (!(programs[i].how & PATCHES_ONLY))
			try_cases(&programs[i]);
		try_patches(&programs[i], g);
	}
	gguf_close(g);
	done();
}
