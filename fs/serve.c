/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "serve.h"
#include "error.h"
#include "keeper.h"
#include "ops.h"
#include "readahead.h"
#include "sandbox.h"
#include "signals.h"
#include "slow.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORKERS_LEAST = 2, WORKERS_MOST = 4 };

struct daemon {
	const struct serve *serve;
	struct fuse_session *session;
	struct ops_context context;
	struct keeper keeper;
	pthread_barrier_t start; /* workers begin when what they shall not have is given up */
	pthread_t workers[WORKERS_MOST], slow, signals;
	unsigned worker_count;
	_Atomic unsigned failed; /* workers that ended before the mount did, and why the last of them */
	_Atomic int why;
	_Atomic bool over; /* the next signal is our own: it ends the thread that waits for signals */
};

/* A worker: takes requests until the mount is gone. What it replies with is kept from one to the next. */
static void *work(void *arg)
{
	struct daemon *d = arg;
	struct fuse_buf buf = { 0 };
	int n;

	pthread_barrier_wait(&d->start);
	while ((n = fuse_session_receive_buf(d->session, &buf)) > 0 || n == -EINTR)
		if (n > 0)
			fuse_session_process_buf(d->session, &buf);
	if (n < 0) {
		d->why = n;
		d->failed++;
	}
	free(buf.mem);
	ops_thread_end();
	return NULL;
}

static void *work_slowly(void *arg)
{
	struct daemon *d = arg;

	pthread_barrier_wait(&d->start);
	slow_run(d->context.slow);
	return NULL;
}

/* With the workers gone nobody waits for what the slow one is at. */
static void end_slow(struct daemon *d)
{
	slow_end(d->context.slow);
	pthread_join(d->slow, NULL);
}

/*
 * The first signal unmounts, and the daemon ends with the last open file; the second one does not wait for that. When
 * it cannot be unmounted it goes on: better a mount that stays than a dead one.
 */
static void *wait_for_signals(void *arg)
{
	struct daemon *d = arg;
	bool unmounted = false;
	sigset_t set;

	signals_asking(&set);
	pthread_barrier_wait(&d->start);
	for (int got; !d->over;) {
		if (sigwait(&set, &got) || d->over)
			continue;
		if (unmounted)
			_exit(0);
		unmounted = !keeper_unmount(&d->keeper);
	}
	return NULL;
}

/* Not by pthread_cancel: it would load a library, which the sandbox does not let it. */
static void end_signals(struct daemon *d)
{
	d->over = true;
	pthread_kill(d->signals, SIGTERM);
	pthread_join(d->signals, NULL);
}

/* One for each processor, within bounds: one alone leaves a reader waiting, more than four gained nothing. */
static unsigned worker_count(void)
{
	cpu_set_t cpus;
	int n = sched_getaffinity(0, sizeof cpus, &cpus) < 0 ? WORKERS_LEAST : CPU_COUNT(&cpus);

	return n < WORKERS_LEAST ? WORKERS_LEAST : n > WORKERS_MOST ? WORKERS_MOST : (unsigned)n;
}

/* All wait at d->start, this thread being the last to come there. */
static int start_threads(struct daemon *d)
{
	unsigned n = worker_count();
	int err = pthread_barrier_init(&d->start, NULL, n + 3);

	if (!err)
		err = pthread_create(&d->signals, NULL, wait_for_signals, d);
	if (!err)
		err = pthread_create(&d->slow, NULL, work_slowly, d);
	for (; !err && d->worker_count < n; d->worker_count++)
		err = pthread_create(&d->workers[d->worker_count], NULL, work, d);
	return -err;
}

/* Adds name and value, with value's commas escaped, to a list of mount options. */
static int add_option(char **list, const char *name, const char *value)
{
	char *joined = NULL;
	int err;

	if (asprintf(&joined, "%s%s", name, value) < 0)
		return -ENOMEM;
	err = fuse_opt_add_opt_escaped(list, joined) ? -ENOMEM : 0;
	free(joined);
	return err;
}

/* What libfuse and the kernel are told. */
static int mount_options(const struct serve *s, char **list)
{
	const struct options *opt = s->opt;
	const char *source = gguf_shard(s->g, 0)->path;
	char request[16];
	int err = add_option(list, "ro", "");

	snprintf(request, sizeof request, "%d", OPS_REQUEST);
	if (!err)
		err = add_option(list, "max_read=", request);
	if (!err)
		err = add_option(list, "default_permissions", "");
	if (!err)
		err = add_option(list, "fsname=", opt->fsname ? opt->fsname : source ? source : "gguf");
	if (!err)
		err = add_option(list, "subtype=", opt->subtype ? opt->subtype : "gguf");
	for (size_t i = 0; !err && i < opt->passed_count; i++)
		err = add_option(list, opt->passed[i], "");
	return err;
}

static int new_session(struct daemon *d)
{
	char *list = NULL;
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	int err = mount_options(d->serve, &list);

	if (!err && (fuse_opt_add_arg(&args, "mount.gguf") || fuse_opt_add_arg(&args, "-o") ||
		     fuse_opt_add_arg(&args, list)))
		err = -ENOMEM;
	if (!err)
		d->session = fuse_session_new(&args, &ops, sizeof ops, &d->context);
	fuse_opt_free_args(&args);
	free(list);
	return err ? err : d->session ? 0 : -EINVAL;
}

/* The caller may be gone by now: then it is as if it had asked for the end. */
static void tell_ready(void *ctx)
{
	struct daemon *d = ctx;

	if (!d->serve->ready(d->serve->ready_ctx))
		pthread_kill(d->signals, SIGTERM);
}

/* With context, for what the callbacks need. */
static int new_tree(struct daemon *d)
{
	const struct options *opt = d->serve->opt;
	struct mtree_options tree = { .uid = opt->uid, .gid = opt->gid, .umask = opt->umask,
				      .keep_below = opt->cache != CACHE_ONE };
	int err;

	d->context = (struct ops_context){ .bulk_direct = opt->cache == CACHE_BELOW, .ready = tell_ready,
					   .ready_ctx = d };
	err = mtree_new(&d->context.tree, d->serve->g, &tree);
	return err ? err : slow_new(&d->context.slow, d->context.tree);
}

/* From here on the mount exists; whoever looks into it waits for the workers. */
static int run(struct daemon *d, struct gguf_error *e)
{
	const struct serve *s = d->serve;
	int err;

	keeper_mounted(&d->keeper);
	if (readahead_set(s->dir, OPS_AHEAD))
		s->says("read-ahead stays at 128 KiB: raising it takes root and a /sys that can be written to");
	err = start_threads(d);
	if (err)
		return gguf_fail(e, err, 0, "cannot start threads: %s", strerror(-err));
	if (!s->opt->no_sandbox)
		sandbox_enter(s->says);
	pthread_barrier_wait(&d->start);
	for (unsigned i = 0; i < d->worker_count; i++)
		pthread_join(d->workers[i], NULL);
	end_slow(d);
	end_signals(d);
	/* one that got no memory for requests is no loss, as long as another did */
	return d->failed == d->worker_count ? gguf_fail(e, d->why, 0, "cannot serve: %s", strerror(-d->why)) : 0;
}

/* The keeper comes first: it has none of our threads, nor the mount's descriptor. Returns when the mount is gone. */
static int mount_and_run(struct daemon *d, struct gguf_error *e)
{
	const struct serve *s = d->serve;
	sigset_t set;
	int err = keeper_start(&d->keeper, s->dir, s->opt->auto_unmount);

	if (err)
		return gguf_fail(e, err, 0, "cannot start a process: %s", strerror(-err));
	signals_asking(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	err = fuse_session_mount(d->session, s->dir) ? -EIO : 0;
	if (err)
		gguf_fail(e, err, 0, "cannot be mounted on"); /* what is there is another's: it stays */
	else if ((err = run(d, e)))
		keeper_unmount(&d->keeper);
	keeper_end(&d->keeper);
	fuse_session_unmount(d->session); /* finds it unmounted, and frees what it kept of it */
	return err;
}

int serve(const struct serve *s, struct gguf_error *e)
{
	struct daemon d = { .serve = s, .keeper = { .fd = -1 } };
	int err = new_tree(&d);

	if (!err)
		err = new_session(&d);
	if (err)
		gguf_fail(e, err, 0, err == -EINVAL ? "libfuse refuses the options" : "%s", strerror(-err));
	else
		err = mount_and_run(&d, e);
	if (d.session)
		fuse_session_destroy(d.session);
	slow_free(d.context.slow);
	mtree_free(d.context.tree);
	return err;
}
