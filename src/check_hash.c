/* SPDX-License-Identifier: MIT */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "check.h"
#include <stdlib.h>
#ifdef HAVE_HASHES
#include <openssl/evp.h>
#include <xxhash.h>

struct hash {
	EVP_MD_CTX *sha;
	XXH64_state_t *xxh;
};

static void hash_free(struct hash *h)
{
	if (!h)
		return;
	EVP_MD_CTX_free(h->sha);
	XXH64_freeState(h->xxh);
	free(h);
}

struct hash *hash_new(void)
{
	struct hash *h = calloc(1, sizeof *h);

	if (!h)
		return NULL;
	h->sha = EVP_MD_CTX_new();
	h->xxh = XXH64_createState();
	if (h->sha && h->xxh && EVP_DigestInit_ex(h->sha, EVP_sha256(), NULL) == 1) {
		XXH64_reset(h->xxh, 0);
		return h;
	}
	hash_free(h);
	return NULL;
}

void hash_add(struct hash *h, const void *p, size_t n)
{
	EVP_DigestUpdate(h->sha, p, n);
	XXH64_update(h->xxh, p, n);
}

void hash_end(struct hash *h, struct digest *d)
{
	EVP_DigestFinal_ex(h->sha, d->sha256, NULL);
	d->xxh64 = XXH64_digest(h->xxh);
	hash_free(h);
}
#else
struct hash *hash_new(void)
{
	return NULL;
}

void hash_add(struct hash *h, const void *p, size_t n)
{
	(void)h, (void)p, (void)n;
}

void hash_end(struct hash *h, struct digest *d)
{
	(void)h, (void)d;
}
#endif
