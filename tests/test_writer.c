/* SPDX-License-Identifier: MIT */
/* What is written reads back; a canonical file comes out byte for byte. */
#include "build.h"
#include "gguf.h"
#include "tap.h"
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

static struct gguf_writer *copy_of(const struct gguf *g)
{
	struct gguf_writer *w = NULL;
	int err = gguf_writer_new(&w);

	for (size_t i = 0; i < gguf_key_count(g) && !err; i++)
		err = gguf_writer_copy_key(w, g, i);
	for (size_t i = 0; i < gguf_tensor_count(g) && !err; i++)
		err = gguf_writer_copy_tensor(w, g, i);
	if (!err)
		return w;
	gguf_writer_free(w);
	return NULL;
}

static bool comes_out_same(const char *path)
{
	struct gguf *g = NULL;
	struct gguf_writer *w;
	const void *bytes;
	size_t size;
	bool same = false;

	if (gguf_open(&g, path, NULL))
		return false;
	w = copy_of(g);
	if (w && !gguf_writer_header(w, &bytes, &size) && size == gguf_shard(g, 0)->data) {
		char *want = malloc(size);

		same = want && !gguf_shard_read(g, 0, want, size, 0) && !memcmp(want, bytes, size) &&
		       gguf_writer_file_size(w) == gguf_shard(g, 0)->size;
		for (size_t i = 0; i < gguf_tensor_count(g); i++)
			same = same && gguf_writer_offset(w, i) == gguf_tensor(g, i)->offset &&
			       gguf_writer_size(w, i) == gguf_tensor(g, i)->size;
		free(want);
	}
	gguf_writer_free(w);
	gguf_close(g);
	return same;
}

static void check_models(const char *folder, const char *pattern)
{
	char all[512];
	glob_t found;

	snprintf(all, sizeof all, "%s/%s", folder ? folder : "", pattern);
	if (!folder || glob(all, 0, NULL, &found)) {
		skip(pattern, "no such models here");
		return;
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		ok(comes_out_same(found.gl_pathv[i]), "%s comes out byte for byte", strrchr(found.gl_pathv[i], '/') + 1);
	globfree(&found);
}

#define REST " 3 7 key a u8 u8 9 key b string str b%00 key c array arr string 2 str x str yy " \
	     "key d array arr array 2 arr f32 1 f32 2.5 arr string 1 str z key general.alignment u32 u32 64 key e f64 f64 -1e300 " \
	     "key f array arr i16 2 i16 -2 i16 7 ten t 2 4,2 i16 0 ten none 1 0 f32 64 ten u 0 none f32 64 pad 64 zero 128"

/* Every version and byte order becomes the same bytes. */
static void check_versions(void)
{
	static const char *const versions[] = { "1", "2", "3", "1b", "2b", "3b" };
	struct build want = { 0 };

	build(&want, "hdr 3" REST);
	for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
		struct build b = { 0 };
		struct gguf *g = NULL;
		struct gguf_writer *w = NULL;
		const void *bytes = NULL;
		size_t size = 0;
		char script[sizeof REST + 16];

		snprintf(script, sizeof script, "hdr %s%s", versions[i], REST);
		build(&b, script);
		if (!gguf_open_memory(&g, b.p, b.n, NULL))
			w = copy_of(g);
		ok(w && !gguf_writer_header(w, &bytes, &size) && size == want.n - 128 && !memcmp(bytes, want.p, size) &&
			   gguf_writer_file_size(w) == want.n,
		   "version %s becomes version 3", versions[i]);
		gguf_writer_free(w);
		gguf_close(g);
		build_free(&b);
	}
	build_free(&want);
}

static int add(struct gguf_writer *w, const char *name, struct gguf_value v)
{
	return gguf_writer_key(w, name, strlen(name), &v);
}

static void check_keys(void)
{
	struct gguf_writer *w = NULL;
	struct gguf *g = NULL;
	struct gguf_value items[3] = { { GGUF_STRING, .s = { "x", 1 } }, { GGUF_STRING, .s = { "", 0 } }, { GGUF_U8, .u = 1 } };
	struct gguf_value v;
	const void *bytes;
	size_t size;
	uint64_t u;
	double f;

	gguf_writer_new(&w);
	ok(!add(w, "u", (struct gguf_value){ GGUF_U16, .u = 65535 }) && !add(w, "i", (struct gguf_value){ GGUF_I8, .i = -128 }) &&
		   !add(w, "f", (struct gguf_value){ GGUF_F32, .f = 0.5 }) && !add(w, "s", (struct gguf_value){ GGUF_STRING, .s = { "abc", 3 } }) &&
		   !add(w, "b", (struct gguf_value){ GGUF_BOOL, .u = 1 }), "keys are taken");
	ok(add(w, "x", (struct gguf_value){ GGUF_U16, .u = 65536 }) == -ERANGE && add(w, "x", (struct gguf_value){ GGUF_I8, .i = -129 }) == -ERANGE &&
		   add(w, "x", (struct gguf_value){ GGUF_BOOL, .u = 2 }) == -ERANGE && add(w, "x", (struct gguf_value){ GGUF_F32, .f = 1e300 }) == -ERANGE,
	   "values that do not fit are not");
	ok(add(w, "", (struct gguf_value){ .type = GGUF_U8 }) == -EINVAL && add(w, "x", (struct gguf_value){ .type = GGUF_ARRAY }) == -EINVAL &&
		   add(w, "x", (struct gguf_value){ .type = GGUF_VALUE_TYPES }) == -EINVAL, "nor what is no key");
	ok(!gguf_writer_array(w, "a", 1, GGUF_STRING, items, 2) && gguf_writer_array(w, "x", 1, GGUF_STRING, items, 3) == -EINVAL &&
		   gguf_writer_array(w, "x", 1, GGUF_ARRAY, NULL, 0) == -EINVAL && !gguf_writer_array(w, "e", 1, GGUF_I32, NULL, 0),
	   "arrays");
	ok(add(w, "general.alignment", (struct gguf_value){ GGUF_U32, .u = 48 }) == -EINVAL, "no odd alignment");
	ok(!gguf_writer_header(w, &bytes, &size) && !gguf_open_memory(&g, bytes, size, NULL) && gguf_key_count(g) == 7, "they read back");
	ok(!gguf_get_u64(g, "u", &u) && u == 65535 && !gguf_get_f64(g, "f", &f) && f == 0.5 && !gguf_items(g, 5, 1, 1, &v) && v.s.n == 0,
	   "with their values");
	gguf_close(g);
	ok(!add(w, "u", (struct gguf_value){ GGUF_U8, .u = 1 }) && gguf_writer_header(w, &bytes, &size) == -EEXIST, "a name twice is told");
	gguf_writer_free(w);
}

static void check_tensors(void)
{
	struct gguf_writer *w = NULL;
	const uint64_t whole[2] = { 64, 3 }, broken[2] = { 33, 1 }, huge[4] = { 1u << 31, 1u << 31, 1, 1 };
	const void *bytes;
	size_t size;

	gguf_writer_new(&w);
	ok(!gguf_writer_tensor(w, "a", 1, GGUF_TYPE_Q8_0, 2, whole) && !gguf_writer_tensor(w, "b", 1, GGUF_TYPE_F32, 0, NULL), "tensors are taken");
	ok(gguf_writer_tensor(w, "x", 1, GGUF_TYPE_Q8_0, 2, broken) == -EINVAL && gguf_writer_tensor(w, "x", 1, 77, 2, whole) == -EINVAL &&
		   gguf_writer_tensor(w, "x", 1, GGUF_TYPE_F32, 5, whole) == -EINVAL &&
		   gguf_writer_tensor(w, "x", 1, GGUF_TYPE_F64, 2, huge) == -EOVERFLOW, "broken ones are not");
	ok(gguf_writer_size(w, 0) == 204 && gguf_writer_offset(w, 1) - gguf_writer_offset(w, 0) == 224, "each on the alignment");
	ok(!add(w, "general.alignment", (struct gguf_value){ GGUF_U32, .u = 4096 }) && gguf_writer_offset(w, 0) == 4096 &&
		   gguf_writer_offset(w, 1) == 8192 && gguf_writer_file_size(w) == 12288, "an alignment that comes late counts");
	ok(!gguf_writer_header(w, &bytes, &size) && size == 4096, "the header ends where the data starts");
	ok(!gguf_writer_tensor(w, "a", 1, GGUF_TYPE_F16, 1, whole) && gguf_writer_header(w, &bytes, &size) == -EEXIST, "a name twice is told");
	gguf_writer_free(w);
	gguf_writer_new(&w);
	ok(!add(w, "general.alignment", (struct gguf_value){ GGUF_U32, .u = 1u << 31 }) && !gguf_writer_header(w, &bytes, &size) && size < 100 &&
		   !gguf_writer_tensor(w, "a", 1, GGUF_TYPE_F32, 0, NULL) && gguf_writer_header(w, &bytes, &size) == -EFBIG,
	   "no gigabytes of padding");
	gguf_writer_free(w);
}

int main(void)
{
	const char *shared = getenv("shared");
	char demo[512];

	snprintf(demo, sizeof demo, "%s/data", getenv("top_srcdir") ? getenv("top_srcdir") : ".");
	check_models(demo, "*.gguf");
	check_models(shared, "models/*/*.gguf");
	check_models(shared, "vectors/logits*/*/model.gguf");
	check_versions();
	check_keys();
	check_tensors();
	done();
}
