/* SPDX-License-Identifier: MIT */
/* What fsck.gguf looks at. Nothing here prints: findings go to a report, one call each. */
#ifndef GGUF_CHECK_H
#define GGUF_CHECK_H
#include "model.h"
#include "scan.h"

enum severity { NOTE, WARNING, ERROR, SEVERITIES };

struct report; /* fsck_report.h */

/* One finding: where is a key, a tensor or the file, as it will be printed; offset, of the file, is 0 for one that has none. */
__attribute__((format(printf, 5, 6)))
void check_say(struct report *r, enum severity how, const char *where, uint64_t offset, const char *fmt, ...);

enum { WHERE = 160 }; /* room for a where */
/* "key 'NAME'", "tensor 'NAME'", safe for a terminal. Return out. */
const char *where_key(char out[WHERE], const struct gguf_key *k);
const char *where_tensor(char out[WHERE], const struct gguf_tensor *t);

/* All items of the array that key number key holds, in order: to be started with { .g, .key }. */
struct walk {
	const struct gguf *g;
	size_t key;
	uint64_t next;     /* the item that comes after those in hand */
	size_t have, used; /* of hand */
	struct gguf_value hand[64];
};
/* The next one, until the next call; NULL at the end. */
const struct gguf_value *walk_next(struct walk *w);

/* Keys: names, text that is no UTF-8, odd bools; what kind of file this is. */
void check_keys(struct report *r, const struct gguf *g);
/* The vocabulary against itself, and against the tensors. */
void check_tokens(struct report *r, const struct gguf *g);
/* Settings that divide, multiply or count layers, of a model with tensors. */
void check_settings(struct report *r, const struct gguf *g);
/* Table and layout: names, types, padding, what follows the last tensor. */
void check_layout(struct report *r, const struct gguf *g);

/*
 * The set that the file at path is a shard of: which shards lack, and what is wrong with each. False: it is of no set.
 */
bool check_set(struct report *r, const char *path);

/* ---- the data ---- */

struct digest {
	unsigned char sha256[32];
	uint64_t xxh64;
};
struct deep {
	unsigned threads;
	bool scan, hash;         /* look for values that are no numbers; make digests */
	struct digest *tensors;  /* out, with hash: of each tensor */
	struct digest *files;    /* out, with hash: of each shard's file */
	const volatile int *stop; /* becomes non-zero when the user asks for it */
	/* Called now and then, by one thread: bytes that are done, of how many. May be NULL. */
	void (*progress)(void *ctx, uint64_t done, uint64_t of);
	void *ctx;
};
/* Reads everything. 0, -ECANCELED after stop, -ENOTSUP for hashes that are not built in, -ENOMEM. */
int check_data(struct report *r, const struct gguf *g, const struct deep *d);

/* Streams of two hashes at once; not built in: NULL from hash_new, with -ENOTSUP meant. */
struct hash;
struct hash *hash_new(void);
void hash_add(struct hash *h, const void *p, size_t n);
void hash_end(struct hash *h, struct digest *d); /* frees h */
#endif
