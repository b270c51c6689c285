/* SPDX-License-Identifier: MIT */
#include "ops.h"
#include "node.h"
#include "slow.h"
#include "xattr.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define DAY 86400.0

static struct ops_context *context_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static struct mtree *tree_of(fuse_req_t req)
{
	return context_of(req)->tree;
}

/* Where a thread's replies are made: kept from one request to the next, so that its pages are in use already. */
static __thread struct {
	char *p;
	size_t room;
} reply;

/* n bytes until this thread's next request, or NULL. */
static char *reply_room(size_t n)
{
	if (n <= reply.room)
		return reply.p;
	ops_thread_end();
	reply.p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (reply.p == MAP_FAILED)
		return NULL;
	reply.room = n;
	return reply.p;
}

void ops_thread_end(void)
{
	if (reply.room)
		munmap(reply.p, reply.room);
	reply.room = 0;
}

/* The kernel has said hello: what it can do is in conn, what we want of it goes there. */
static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	struct ops_context *c = userdata;

	conn->max_readahead = OPS_AHEAD;
	conn->max_read = OPS_REQUEST; /* the mount option has to say the same */
	/* files never change here, so there is nothing to look for; pipes cost more than the copy that they save */
	conn->want &= ~(unsigned)(FUSE_CAP_AUTO_INVAL_DATA | FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
				  FUSE_CAP_SPLICE_MOVE);
	conn->want |= conn->capable & FUSE_CAP_CACHE_SYMLINKS;
	if (c->ready)
		c->ready(c->ready_ctx);
}

/* Attributes and entry of a node for as long as the kernel likes. */
static int fill_entry(struct mtree *t, uint64_t ino, struct fuse_entry_param *e)
{
	*e = (struct fuse_entry_param){ .ino = ino, .attr_timeout = DAY, .entry_timeout = DAY };
	return node_stat(t, ino, &e->attr);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param none = { .entry_timeout = DAY }, e;
	uint64_t ino;
	size_t n = strlen(name);
	int err = n > NAME_LONGEST ? -ENAMETOOLONG : node_lookup(tree_of(req), parent, name, n, &ino);

	if (!err)
		err = fill_entry(tree_of(req), ino, &e);
	if (err && err != -ENOENT)
		fuse_reply_err(req, -err);
	else
		fuse_reply_entry(req, err ? &none : &e);
}

/* Nothing is remembered of a lookup. */
static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t nlookup)
{
	(void)ino;
	(void)nlookup;
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	(void)count;
	(void)forgets;
	fuse_reply_none(req);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;
	int err = node_stat(tree_of(req), ino, &st);

	(void)fi;
	if (err)
		fuse_reply_err(req, -err);
	else
		fuse_reply_attr(req, &st, DAY);
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	char target[4096];
	ssize_t n = node_read(tree_of(req), ino, target, sizeof target - 1, 0);

	if (n < 0) {
		fuse_reply_err(req, (int)-n);
		return;
	}
	target[n] = '\0';
	fuse_reply_readlink(req, target);
}

/*
 * While every file is fixed, ENOSYS: the kernel then never asks again, on this connection, and keeps what it read. A
 * file with another policy needs the answer that says so, and then every file gets an answer.
 */
static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct node n;
	int err = node_of(tree_of(req), ino, &n);

	if (!err && !context_of(req)->bulk_direct)
		err = -ENOSYS;
	if (err) {
		fuse_reply_err(req, -err);
		return;
	}
	fi->direct_io = n.file->caching == CACHE_BULK;
	fi->keep_cache = !fi->direct_io;
	fi->noflush = 1;
	fuse_reply_open(req, fi);
}

/* Directories are fixed whatever the files are. */
static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	(void)fi;
	fuse_reply_err(req, ENOSYS);
}

/* The whole answer is made before any of it is sent: a read that fails midway says so. */
ssize_t ops_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, char **buf)
{
	*buf = reply_room(size);
	return *buf ? node_read(tree_of(req), ino, *buf, size, (uint64_t)offset) : -ENOMEM;
}

void ops_reply(fuse_req_t req, const char *buf, ssize_t n)
{
	if (n < 0)
		fuse_reply_err(req, (int)-n);
	else
		fuse_reply_buf(req, buf, (size_t)n);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
	char *buf;
	ssize_t n;
	int err;

	(void)fi;
	if (!node_is_slow(tree_of(req), ino)) {
		n = ops_read(req, ino, size, offset, &buf);
		ops_reply(req, buf, n);
		return;
	}
	err = slow_read(context_of(req)->slow, req, ino, size, offset);
	if (err)
		fuse_reply_err(req, -err);
}

/* Number 0 tells the kernel a name and a type only: of "." and "..", and of what would have to be made to be sized. */
static void fill_listed(struct mtree *t, const struct node_entry *found, struct fuse_entry_param *e)
{
	bool dots = !strcmp(found->name, ".") || !strcmp(found->name, "..");

	if (dots || node_is_costly(t, found->ino) || fill_entry(t, found->ino, e))
		*e = (struct fuse_entry_param){ .attr = { .st_ino = found->ino, .st_mode = found->type } };
}

/* As many entries from offset, a cookie, on as size holds. plus: with attributes. */
static void list(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, bool plus)
{
	char *buf = reply_room(size);
	uint64_t cookie = (uint64_t)offset;
	struct node_entry found;
	struct fuse_entry_param e;
	size_t used = 0;
	int more = buf ? 1 : -ENOMEM;

	while (more > 0 && (more = node_entry(tree_of(req), ino, cookie, &found)) > 0) {
		char *p = buf + used;
		size_t room = size - used, n;

		cookie = found.next;
		if (plus) {
			fill_listed(tree_of(req), &found, &e);
			n = fuse_add_direntry_plus(req, p, room, found.name, &e, (off_t)cookie);
		} else {
			e.attr = (struct stat){ .st_ino = found.ino, .st_mode = found.type };
			n = fuse_add_direntry(req, p, room, found.name, &e.attr, (off_t)cookie);
		}
		if (n > room)
			break;
		used += n;
	}
	if (more < 0)
		fuse_reply_err(req, -more);
	else
		fuse_reply_buf(req, buf, used);
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, offset, false);
}

static void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
	(void)fi;
	list(req, ino, size, offset, true);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	struct statvfs st;

	(void)ino;
	mtree_statvfs(tree_of(req), &st);
	fuse_reply_statfs(req, &st);
}

/* The value, or with no room asked for its length. */
static void reply_xattr(fuse_req_t req, int err, const struct out *o, size_t size)
{
	if (err)
		fuse_reply_err(req, -err);
	else if (!size)
		fuse_reply_xattr(req, o->total);
	else if (o->total > size)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, o->buf, o->used);
}

static void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	struct out o = { .buf = reply_room(size), .room = size };

	reply_xattr(req, size && !o.buf ? -ENOMEM : xattr_get(tree_of(req), ino, name, &o), &o, size);
}

static void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct out o = { .buf = reply_room(size), .room = size };

	reply_xattr(req, size && !o.buf ? -ENOMEM : xattr_list(tree_of(req), ino, &o), &o, size);
}

const struct fuse_lowlevel_ops ops = {
	.init = op_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.readlink = op_readlink,
	.open = op_open,
	.opendir = op_opendir,
	.read = op_read,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.statfs = op_statfs,
	.getxattr = op_getxattr,
	.listxattr = op_listxattr,
};
