/* SPDX-License-Identifier: MIT */
/*
 * hostile DIR MODEL: makes each spoiled file of cases.h, each patched model of patches.h and each set of files and long
 * file below in DIR, and gives it to our programs in the build directory. None may crash, take 2 s, or more memory than 64 MiB and four
 * times the file; what is refused is refused in one line that says why, with a status that is not 0. What mounts is read
 * through, and the daemon's memory counts.
 *
 * Of time two things are asked: 2 s of CPU always, and 2 s on the clock from one run of three, since a run may wait long
 * for a processor of a loaded machine, but a program that sleeps or waits for what never comes does so every time.
 */
#include "config.h"

#include "cases.h"
#include "patches.h"
#include "tap.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define MEMORY_COUNTS false /* the sanitizer's own would be judged */
#define SLOWER 4
#else
#define MEMORY_COUNTS true
#define SLOWER 1
#endif

enum {
	MOST_ARGS = 16, OUTPUT = 1 << 16,
	LIMIT = 2 * SLOWER, TRIES = 3, /* s; runs until one keeps it */
	GIVE_UP = 30          /* s until a run is ended */
};

enum { FINDS = 1 /* prints findings on standard output, instead of one line on standard error */,
       TAKES_VOCABULARY = 2, TAKES_NETWORK = 4, /* refuses what is wrong with it, in the words of patches.h */
       TAKES_BOTH = TAKES_VOCABULARY | TAKES_NETWORK,
       PATCHES_ONLY = 8, /* opens files just as one above it does */
       TALKS = 32, /* patches of the template alone */
       MOUNTS = 64,
       MEASURES = 16 /* the machine, in memory of its own; what the weights are is nothing to it */ };

/* FILE and DIR stand for the file under test and an empty directory. */
static const struct program {
	const char *name, *path;
	unsigned how;
	const char *args[MOST_ARGS];
} programs[] = {
	{ "fsck", "fsck.gguf", FINDS, { "--deep", "FILE" } },
	{ "mount", "mount.gguf", MOUNTS, { "FILE", "DIR" } },
	{ "run", "gguf-run", TAKES_BOTH, { "-m", "FILE", "-p", "a", "-n", "1", "-c", "32", "-t", "1" } },
	{ "tokenize", "gguf-tokenize", TAKES_VOCABULARY, { "-m", "FILE", "-p", "a" } },
	{ "chat", "gguf-run", TALKS | PATCHES_ONLY,
	  { "-m", "FILE", "-cnv", "-st", "-p", "a", "-n", "1", "-c", "64", "-t", "1" } },
	{ "perplexity", "gguf-perplexity", TAKES_BOTH | PATCHES_ONLY, { "-m", "FILE", "-p", "a", "-c", "32", "-t", "1" } },
	{ "embed", "gguf-embed", TAKES_BOTH | PATCHES_ONLY, { "-m", "FILE", "-p", "a", "-c", "32", "-t", "1" } },
	{ "bench", "gguf-bench", TAKES_NETWORK | PATCHES_ONLY | MEASURES, { "-m", "FILE", "-p", "4", "-n", "0", "-r", "1", "-t", "1" } },
};

struct outcome {
	int status; /* as wait() gives it */
	double cpu, wall; /* s */
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

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void listen_to(struct outcome *o, int out, int err, pid_t pid)
{
	struct pollfd p[2] = { { .fd = out, .events = POLLIN }, { .fd = err, .events = POLLIN } };
	double start = now();

	while (p[0].fd >= 0 || p[1].fd >= 0) {
		if (poll(p, 2, 1000) < 0 && errno != EINTR)
			break;
		if (p[0].revents && !drain(out, o->out))
			p[0].fd = -1;
		if (p[1].revents && !drain(err, o->err))
			p[1].fd = -1;
		if (now() - start > GIVE_UP) {
			o->late = true;
			kill(pid, SIGKILL);
			break;
		}
	}
}

static void run(const struct program *p, struct outcome *o)
{
	double start = now();
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
	o->wall = now() - start;
}

/* ---- what is mounted ---- */

static void unmount(void)
{
	char command[1200];

	snprintf(command, sizeof command, "umount -l '%s' 2>/dev/null || fusermount3 -uqz '%s' 2>/dev/null", mount_dir, mount_dir);
	if (system(command))
		return;
}

static size_t files_left;

static int read_file(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	static char piece[1 << 16];
	int fd = kind == FTW_F ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	(void)st;
	(void)at;
	if (fd < 0)
		return 0;
	if (read(fd, piece, sizeof piece) < 0)
		printf("# %s: %s\n", path, strerror(errno));
	close(fd);
	return --files_left == 0;
}

/* The number of kB in line NAME of a process's status, -1 without one. */
static long status_of(const char *pid, const char *name)
{
	char path[300], line[256];
	long v = -1;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%s/status", pid);
	f = fopen(path, "re");
	while (f && v < 0 && fgets(line, sizeof line, f))
		if (!strncmp(line, name, strlen(name)))
			v = strtol(line + strlen(name) + 1, NULL, 10);
	if (f)
		fclose(f);
	return v;
}

static bool serves(const char *pid)
{
	char path[300], args[2048];
	FILE *f;
	size_t n;

	snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
	f = fopen(path, "re");
	n = f ? fread(args, 1, sizeof args - 1, f) : 0;
	args[n] = 0;
	if (f)
		fclose(f);
	return strstr(args, "mount.gguf") && memmem(args, n, mount_dir, strlen(mount_dir));
}

/* The most memory that the daemon had, in KiB; -1 when none is there. */
static long daemon_memory(void)
{
	DIR *d = opendir("/proc");
	long most = -1;

	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && serves(e->d_name)) {
			long v = status_of(e->d_name, "VmHWM");

			most = v > most ? v : most;
		}
	if (d)
		closedir(d);
	return most;
}

/* Reads the start of each file, some hundreds at most, then asks what that took. */
static const char *use_mount(struct outcome *o)
{
	long memory;

	files_left = 300;
	nftw(mount_dir, read_file, 16, FTW_PHYS);
	memory = daemon_memory();
	unmount();
	if (memory < 0)
		return "the daemon is not there";
	o->memory = memory > o->memory ? memory : o->memory;
	return NULL;
}

/* Until a run keeps the time. Returns what is wrong, or NULL. */
static const char *run_in_time(const struct program *p, struct outcome *o)
{
	const char *wrong = NULL;

	for (int i = 0; i < TRIES; i++) {
		run(p, o);
		if (p->how & MOUNTS && !o->status)
			wrong = use_mount(o);
		if (o->late || o->wall <= LIMIT || p->how & MEASURES)
			return wrong;
	}
	return wrong ? wrong : "it took more than 2 s";
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
	if (o->cpu > LIMIT)
		return "it took more than 2 s of CPU";
	if (MEMORY_COUNTS && !(p->how & MEASURES) && o->memory / 1024 > 64 + 4 * (long)(size >> 20) + 4)
		return "it took too much memory";
	if (strpbrk(o->out, "\033\a") || strpbrk(o->err, "\033\a"))
		return "control characters reach the terminal";
	return NULL;
}

/* text: what a refusal says; NULL: it need not refuse. */
static void judge(const struct program *p, const char *name, const char *from, size_t size, const char *text, bool may_refuse)
{
	static struct outcome o;
	const char *late = run_in_time(p, &o), *wrong = misbehaves(p, &o, size);
	int status = WEXITSTATUS(o.status);

	wrong = wrong ? wrong : late;
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
		printf("# %s: status %d, %.2f s of CPU, %.2f s, %ld KiB\n# expected: %s\n# %.400s%.400s\n", wrong, o.status,
		       o.cpu, o.wall, o.memory, text ? text : "to open", o.err, o.out);
}

/* Writes b to a file of that name in dir; file becomes its path. */
static void put(const struct build *b, const char *name)
{
	FILE *f;

	snprintf(file, sizeof file, "%s/%s", dir, name);
	f = fopen(file, "wb");
	if (!f || (b->n && fwrite(b->p, 1, b->n, f) != b->n) || fclose(f)) {
		printf("Bail out! %s cannot be written\n", file);
		exit(1);
	}
}

static void put_model(const struct build *b, const char *name)
{
	char with_end[128];

	snprintf(with_end, sizeof with_end, "%s.gguf", name);
	put(b, with_end);
}

static bool is_built(const struct program *p)
{
	return !access(p->path, X_OK) && (!(p->how & MOUNTS) || !access("/dev/fuse", R_OK | W_OK));
}

/* A mount alone needs nothing of a model but that it is read. */
static bool may_refuse(const struct program *p)
{
	return p->how != MOUNTS;
}

static void try_cases(const struct program *p)
{
	for (size_t i = 0; i < gguf_case_count; i++) {
		const struct gguf_case *c = &gguf_cases[i];
		struct build b = { 0 };

		build(&b, c->script);
		put_model(&b, c->name);
		/* What merely looks odd is no model either: none has a vocabulary. fsck may find fault with it. */
		judge(p, c->name, c->from, b.n, c->text, may_refuse(p));
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

		if (p->how & TALKS && strcmp(t->key, "tokenizer.chat_template"))
			continue;
		patch_model(&b, g, t);
		put_model(&b, t->name);
		judge(p, t->name, t->from, b.n, words(p, t), may_refuse(p));
		unlink(file);
		build_free(&b);
	}
}

/* ---- several files ---- */

#define SHARD(no, tensor) "hdr 3 1 3 key split.no u16 u16 " no " key split.count u16 u16 3 key split.tensors.count i32 i32 3 " \
	"ten " tensor " 1 8 f32 0 pad 32 zero 32"
enum { FILES_MOST = 3 };

/* Of which the first is opened, by its link where it has one. */
static const struct set {
	const char *name, *from;
	const char *files[FILES_MOST], *links[FILES_MOST];
	const char *scripts[FILES_MOST];
	const char *text; /* what each program says; NULL: it opens */
} sets[] = {
	{ "plain-cut", "log 16", { "m.gguf.part1of2" }, { NULL }, { "hdr 3 1 0 ten t 1 8 f32 0 pad 32 zero 8" },
	  "a piece of a file that was cut in plain parts" },
	{ "shard-absent", "log 17", { "s-00001-of-00003.gguf", "s-00003-of-00003.gguf" }, { NULL },
	  { SHARD("0", "a"), SHARD("2", "c") }, "s-00002-of-00003.gguf" },
	{ "shard-second", "log 18", { "s-00002-of-00003.gguf", "s-00001-of-00003.gguf", "s-00003-of-00003.gguf" }, { NULL },
	  { SHARD("1", "b"), SHARD("0", "a"), SHARD("2", "c") }, NULL },
	{ "shard-links", "log 20", { "blob1", "blob2", "blob3" },
	  { "s-00001-of-00003.gguf", "s-00002-of-00003.gguf", "s-00003-of-00003.gguf" },
	  { SHARD("0", "a"), SHARD("1", "b"), SHARD("2", "c") }, NULL },
	{ "shard-1-of-65535", "log 17", { "s-00001-of-65535.gguf" }, { NULL },
	  { "hdr 3 1 2 key split.no u16 u16 0 key split.count u16 u16 65535 ten a 1 8 f32 0 pad 32 zero 32" }, "s-00002-of-65535.gguf" },
	{ "shard-twice", "log 21", { "s-00001-of-00003.gguf", "s-00002-of-00003.gguf", "s-00003-of-00003.gguf" }, { NULL },
	  { SHARD("0", "a"), SHARD("0", "b"), SHARD("2", "c") }, "2 of 3" },
};

/* Puts file i of a set; returns its bytes. file becomes the path by which it is opened. */
static size_t put_of_set(const struct set *s, size_t i)
{
	struct build b = { 0 };
	size_t n;

	build(&b, s->scripts[i]);
	put(&b, s->files[i]);
	n = b.n;
	build_free(&b);
	if (s->links[i]) {
		snprintf(file, sizeof file, "%s/%s", dir, s->links[i]);
		if (symlink(s->files[i], file))
			printf("Bail out! %s: %s\n", file, strerror(errno));
	}
	return n;
}

static void drop_set(const struct set *s)
{
	for (size_t i = 0; i < FILES_MOST && s->files[i]; i++) {
		snprintf(file, sizeof file, "%s/%s", dir, s->files[i]);
		unlink(file);
		snprintf(file, sizeof file, "%s/%s", dir, s->links[i] ? s->links[i] : s->files[i]);
		unlink(file);
	}
}

static void try_sets(const struct program *p)
{
	for (const struct set *s = sets; s < sets + sizeof sets / sizeof *sets; s++) {
		size_t n = 0;

		for (size_t i = FILES_MOST; i-- > 0;)
			n += s->files[i] ? put_of_set(s, i) : 0;
		judge(p, s->name, s->from, n, s->text, may_refuse(p));
		drop_set(s);
	}
}

/* ---- files that are long, or say so: mostly of holes ---- */

static void put_name(struct build *b, unsigned i)
{
	char name[8];

	build_string(b, name, (size_t)snprintf(name, sizeof name, "%06x", i));
}

static void put_tensor(struct build *b, unsigned i)
{
	put_name(b, i);
	build(b, "u32 1 u64 0 u32 0 u64 0"); /* one extent, of no values; F32; offset */
}

static void put_same_tensor(struct build *b, unsigned i)
{
	(void)i;
	put_tensor(b, 0);
}

static void put_key(struct build *b, unsigned i)
{
	put_name(b, i);
	build(b, "u32 0 u8 1");
}

#define TOKENS "hdr 3 0 1 key tokenizer.ggml.tokens array arr string "
#define TOO_LONG "bytes, expected a header of 2^27 at most"

/* head, then rows, then zeros up to size; memory is to be what is on the disk, where the file is refused. */
static const struct many {
	const char *name, *head;
	unsigned rows;
	void (*row)(struct build *b, unsigned i);
	uint64_t size;    /* bytes; 0: what head and rows are */
	const char *text; /* as above */
} manies[] = {
	{ "tensors-of-zeros-8M", "hdr 3 8000000 0", 0, NULL, 24 + 24 * 8000000ull, "tensor count at byte 8 is 8000000, expected 524288 at most" },
	{ "tensors-of-zeros-2^28", "hdr 3 2^28 0", 0, NULL, 24 + (24ull << 28), "tensor count at byte 8 is 268435456, expected 524288 at most" },
	{ "tensors-of-zeros", "hdr 3 524288 0", 0, NULL, 24 + 24 * 524288, "offset 0 at byte 64, expected 32, where the tensor before it ends" },
	{ "tensors-of-one-name", "hdr 3 500000 0", 500000, put_same_tensor, 0, "number 1 has the name of number 0" },
	{ "tensors-500k", "hdr 3 500000 0", 500000, put_tensor, 0, NULL },
	{ "keys-of-zeros-8M", "hdr 3 0 8000000", 0, NULL, 24 + 14 * 8000000ull, "key count at byte 16 is 8000000, expected 524288 at most" },
	{ "keys-of-zeros", "hdr 3 0 524288", 0, NULL, 24 + 14 * 524288, "key number 0: empty name" },
	{ "keys-500k", "hdr 3 0 500000", 500000, put_key, 0, NULL },
	{ "string-2^29", "hdr 3 0 1 key a string len 2^29", 0, NULL, 1ull << 30, TOO_LONG },
	{ "array-u8-2^30", "hdr 3 0 1 key a array arr u8 2^30", 0, NULL, 1100ull << 20, TOO_LONG },
	{ "array-f64-2^30", "hdr 3 0 1 key a array arr f64 2^30", 0, NULL, 9ull << 30, TOO_LONG },
	{ "array-strings-2^30", TOKENS "2^30", 0, NULL, 9ull << 30, TOO_LONG },
	{ "array-arrays-2^28", "hdr 3 0 1 key a array arr array 2^28", 0, NULL, 4ull << 30, TOO_LONG },
	{ "array-u8-2^26", "hdr 3 0 1 key a array arr u8 2^26", 0, NULL, (1ull << 26) + 64, NULL },
	{ "array-strings-2^23", TOKENS "2^23", 0, NULL, (8ull << 23) + 128, NULL },
	{ "array-arrays-2^22", "hdr 3 0 1 key a array arr array 2^22", 0, NULL, (12ull << 22) + 64, NULL },
};

/* Writes the file; returns the bytes by which memory is judged. */
static uint64_t put_many(const struct many *m)
{
	struct build b = { 0 };
	uint64_t n;

	build(&b, m->head);
	for (unsigned i = 0; i < m->rows; i++)
		m->row(&b, i);
	put_model(&b, m->name);
	n = b.n;
	build_free(&b);
	if (m->size && truncate(file, (off_t)m->size)) {
		printf("Bail out! %s: %s\n", file, strerror(errno));
		exit(1);
	}
	return m->size && !m->text ? m->size : n;
}

static void try_manies(void)
{
	for (const struct many *m = manies; m < manies + sizeof manies / sizeof *manies; m++) {
		uint64_t n = put_many(m);

		for (const struct program *p = programs; p < programs + sizeof programs / sizeof *programs; p++)
			if (is_built(p) && !(p->how & PATCHES_ONLY))
				judge(p, m->name, "long", n, m->text, may_refuse(p));
		unlink(file);
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
		if (!(programs[i].how & PATCHES_ONLY)) {
			try_cases(&programs[i]);
			try_sets(&programs[i]);
		}
		try_patches(&programs[i], g);
	}
	try_manies();
	gguf_close(g);
	done();
}
