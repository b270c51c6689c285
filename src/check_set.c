/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "error.h"
#include "quote.h"
#include "split.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Number and count by the keys of the file at path. */
static bool read_numbers(const char *path, uint64_t *no, uint64_t *count)
{
	struct gguf *g = NULL;
	bool is_set;

	if (gguf_open_with(&g, path, GGUF_OPEN_CUT | GGUF_OPEN_ALONE, NULL))
		return false;
	is_set = !gguf_get_u64(g, "split.no", no) && !gguf_get_u64(g, "split.count", count) && *count > 1 &&
		 *count <= UINT16_MAX && *no < *count;
	gguf_close(g);
	return is_set;
}

static void check_shard(struct report *r, const char *path, uint64_t i, uint64_t count)
{
	struct gguf *g = NULL;
	struct gguf_error e = { 0 };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char where[WHERE];
	uint64_t no, of;
	int err;

	memcpy(where, "shard '", 7);
	gguf_quote(where + 7, sizeof where - 9, name, strlen(name));
	strcat(where, "'");
	err = gguf_open_with(&g, path, GGUF_OPEN_ALONE, &e);
	if (err == -ENOENT) {
		check_say(r, ERROR, where, 0, "is missing: number %" PRIu64 " of %" PRIu64, i + 1, count);
		return;
	}
	if (err)
		check_say(r, ERROR, where, e.offset, "%s", e.text);
	gguf_close(g);
	if (!err && (!read_numbers(path, &no, &of) || no != i || of != count))
		check_say(r, ERROR, where, 0, "is not number %" PRIu64 " of %" PRIu64 " by its keys", i + 1, count);
}

bool check_set(struct report *r, const char *path)
{
	uint64_t no, count;

	if (!read_numbers(path, &no, &count) || !split_is_named(path, no, count))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		char *sibling = split_sibling(path, i, count);

		if (!sibling)
			return false;
		check_shard(r, sibling, i, count);
		free(sibling);
	}
	return true;
}
