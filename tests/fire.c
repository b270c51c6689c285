/* SPDX-License-Identifier: MIT */
/*
 * The daemon under fire: fire MOUNT FILE SCRATCH SECONDS READERS. MOUNT shows FILE, and SCRATCH is a good copy of FILE.
 * Readers pick tensors of the mounted tree at random and read, map, list and stat them, while the parent truncates,
 * overwrites, replaces, hides and restores FILE. A reader may see EIO (or SIGBUS, where it maps) and the right bytes,
 * and nothing else. Prints TAP.
 */
#include "config.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "gguf.h"
#include "tap.h"

enum { MOST = 1 << 20, PATH_MOST = 4096 };

/* What the readers share: counts, and the first wrong thing. */
struct score {
	uint64_t reads, maps, lists, stats, errors;
	uint32_t wrong;
	char first[320];
};

static struct score *score;
static struct gguf *good;
static const char *mount_dir;
static _Thread_local sigjmp_buf bus;

static void on_bus(int sig)
{
	(void)sig;
	siglongjmp(bus, 1);
}

static void wrong(const char *what, const char *path, long long at)
{
	if (__atomic_fetch_add(&score->wrong, 1, __ATOMIC_RELAXED) == 0)
		snprintf(score->first, sizeof score->first, "%s: %.180s at %lld", what, path, at);
}

static void tally(uint64_t *n)
{
	__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
}

/* A file that could not be read: EIO is fair, anything else is not. */
static void failed(const char *what, const char *path)
{
	if (errno == EIO)
		tally(&score->errors);
	else
		wrong(strerror(errno), path, *what);
}

static void compare(const char *path, size_t tensor, const unsigned char *got, size_t n, uint64_t at)
{
	static unsigned char want[MOST];

	if (gguf_tensor_read(good, tensor, want, n, at))
		wrong("the good copy cannot be read", path, (long long)at);
	else if (memcmp(want, got, n))
		wrong("wrong bytes", path, (long long)at);
}

static void read_some(const char *path, size_t tensor, int fd, uint64_t at, size_t n)
{
	static unsigned char got[MOST];
	ssize_t r;

	tally(&score->reads);
	for (size_t done = 0; done < n; done += (size_t)r) {
		r = pread(fd, got, n - done, (off_t)(at + done));
		if (r < 0) {
			failed("read", path);
			return;
		}
		if (r == 0) {
			wrong("end of file", path, (long long)(at + done));
			return;
		}
		compare(path, tensor, got, (size_t)r, at + done);
	}
}

static void map_some(const char *path, size_t tensor, int fd, uint64_t at, size_t n)
{
	static unsigned char got[MOST];
	uint64_t skew = at % (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned char *m = mmap(NULL, n + skew, PROT_READ, at & 1 ? MAP_SHARED : MAP_PRIVATE, fd, (off_t)(at - skew));

	tally(&score->maps);
	if (m == MAP_FAILED) {
		failed("mmap", path);
		return;
	}
	if (sigsetjmp(bus, 1)) {
		tally(&score->errors);
	} else {
		memcpy(got, m + skew, n);
		compare(path, tensor, got, n, at);
	}
	munmap(m, n + skew);
}

static void touch_tensor(unsigned *seed)
{
	size_t i = (size_t)rand_r(seed) % gguf_tensor_count(good);
	const struct gguf_tensor *t = gguf_tensor(good, i);
	char path[PATH_MOST];
	int fd;

	if (!t->size)
		return;
	snprintf(path, sizeof path, "%s/tensors/%.*s/raw", mount_dir, (int)t->name.n, t->name.p);
	fd = open(path, O_RDONLY | (rand_r(seed) % 4 ? 0 : O_DIRECT));
	if (fd < 0) {
		failed("open", path);
		return;
	}
	uint64_t at = (uint64_t)rand_r(seed) % t->size;
	size_t n = 1 + (size_t)rand_r(seed) % MOST;

	n = n < t->size - at ? n : (size_t)(t->size - at);
	if (rand_r(seed) % 2)
		read_some(path, i, fd, at, n);
	else
		map_some(path, i, fd, at, n);
	close(fd);
}

static void list_tensors(void)
{
	char path[PATH_MOST];
	size_t n = 0;

	snprintf(path, sizeof path, "%s/tensors", mount_dir);
	DIR *d = opendir(path);

	tally(&score->lists);
	if (!d) {
		failed("opendir", path);
		return;
	}
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	if (n != gguf_tensor_count(good))
		wrong("entries listed", path, (long long)n);
}

static void stat_tensor(unsigned *seed)
{
	const struct gguf_tensor *t = gguf_tensor(good, (size_t)rand_r(seed) % gguf_tensor_count(good));
	char path[PATH_MOST];
	struct stat st;

	snprintf(path, sizeof path, "%s/tensors/%.*s/raw", mount_dir, (int)t->name.n, t->name.p);
	tally(&score->stats);
	if (stat(path, &st))
		failed("stat", path);
	else if ((uint64_t)st.st_size != t->size)
		wrong("size", path, st.st_size);
}

static void reader(unsigned seed, time_t until)
{
	signal(SIGBUS, on_bus);
	while (time(NULL) < until)
		switch (rand_r(&seed) % 8) {
		case 0: list_tensors(); break;
		case 1: stat_tensor(&seed); break;
		default: touch_tensor(&seed);
		}
}

/* ---- what happens to the file below ---- */

static const char *file, *scratch;
static struct timespec born[2];

/* Puts the good bytes back in place, then the time of change that the mount knows. */
static void restore(void)
{
	static char buf[MOST];
	int in = open(scratch, O_RDONLY), out = open(file, O_WRONLY | O_CREAT, 0644);

	for (ssize_t n; in >= 0 && out >= 0 && (n = read(in, buf, sizeof buf)) > 0;)
		if (write(out, buf, (size_t)n) != n)
			break;
	if (out >= 0)
		futimens(out, born);
	close(in);
	close(out);
	chmod(file, 0644);
}

static void cut(void)
{
	struct stat st;

	if (!stat(file, &st) && truncate(file, st.st_size / 2))
		perror(file);
}

static void scribble(void)
{
	static char junk[MOST];
	int fd = open(file, O_WRONLY);

	memset(junk, 0x5a, sizeof junk);
	if (fd >= 0 && pwrite(fd, junk, sizeof junk, 4096) < 0)
		perror(file);
	close(fd);
}

static void hide(void)
{
	chmod(file, 0);
}

static void move_away(void)
{
	char away[PATH_MOST];

	snprintf(away, sizeof away, "%s.away", file);
	rename(file, away);
	rename(away, file);
}

static void torment(unsigned *seed, time_t until)
{
	static void (*const deeds[])(void) = { cut, scribble, hide, move_away };
	const struct timespec moment = { .tv_nsec = 20 * 1000 * 1000 };

	while (time(NULL) < until) {
		deeds[(size_t)rand_r(seed) % (sizeof deeds / sizeof *deeds)]();
		nanosleep(&moment, NULL);
		restore();
		nanosleep(&moment, NULL);
	}
}

static int start(char **argv)
{
	struct gguf_error e;
	struct stat st;

	mount_dir = argv[1];
	file = argv[2];
	scratch = argv[3];
	if (gguf_open(&good, scratch, &e) || stat(file, &st)) {
		printf("Bail out! %s cannot be opened\n", scratch);
		return -1;
	}
	born[0] = st.st_atim;
	born[1] = st.st_mtim;
	score = mmap(NULL, sizeof *score, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return score == MAP_FAILED ? -1 : 0;
}

int main(int argc, char **argv)
{
	int status, died = 0;
	unsigned seed = 1;

	if (argc != 6 || start(argv))
		return 99;
	time_t until = time(NULL) + atoi(argv[4]);

	for (int i = 0; i < atoi(argv[5]); i++)
		if (fork() == 0) {
			reader((unsigned)i + 2, until);
			_exit(0);
		}
	torment(&seed, until);
	while (wait(&status) > 0)
		died += status != 0;
	restore();
	printf("# %llu reads, %llu mappings, %llu listings, %llu stats; %llu failed with EIO\n",
	       (unsigned long long)score->reads, (unsigned long long)score->maps, (unsigned long long)score->lists,
	       (unsigned long long)score->stats, (unsigned long long)score->errors);
	if (!ok(score->wrong == 0, "every answer was EIO or right"))
		printf("# %u wrong, the first: %s\n", score->wrong, score->first);
	ok(died == 0, "no reader died");
	ok(score->reads && score->maps && score->lists && score->stats, "readers did all they can");
	uint32_t before = score->wrong;

	list_tensors();
	ok(score->wrong == before, "the mount is alive afterwards");
	gguf_close(good);
	done();
}
