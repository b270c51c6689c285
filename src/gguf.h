/* SPDX-License-Identifier: MIT */
/*
 * libgguf: reads GGUF model files (versions 1 to 3, either byte order, split sets), and writes version 3.
 *
 * Functions that can fail return 0 or a negative errno and, where they take one, fill a struct gguf_error. Results are
 * written through pointers, on success only. Everything handed out belongs to the struct gguf and lives as long as it
 * does. An open model is never changed: any number of threads may read it.
 */
#ifndef GGUF_H
#define GGUF_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct gguf;

/* Where and why: the sentence names the key or tensor, what was found and what was expected. */
struct gguf_error {
	int code;        /* -EINVAL, -ENOMEM, -EIO, ... */
	uint64_t offset; /* bytes from the start of the file */
	char text[240];  /* no newline, no program or file name */
};

/* ---- opening ---- */

/* Fills buf with n bytes from offset. Returns the bytes read (less than n only at the end) or a negative errno. */
typedef ssize_t gguf_read_fn(void *ctx, void *buf, size_t n, uint64_t offset);

/* A source of bytes that is neither a file nor memory: an archive, a network. close may be NULL. */
struct gguf_reader {
	gguf_read_fn *read;
	void (*close)(void *ctx);
	void *ctx;
	uint64_t size; /* bytes */
};

/*
 * Opens the model at path. Of a split set any shard will do: its siblings are looked for beside path as it is written
 * (links are not resolved first), and a missing one is named. The files stay open; nothing stays mapped.
 *
 * -EINVAL for a file that breaks the format, -EPROTONOSUPPORT for another version, -EOVERFLOW for sizes that 63 bits do
 * not count, -EFBIG for a header of more than 2^27 bytes, 2^19 keys or 2^19 tensors, -EIO, -ENOMEM, or what open()
 * said.
 */
int gguf_open(struct gguf **out, const char *path, struct gguf_error *e);
/* The same of one file in memory, which must outlive the model, or behind a reader. A lone shard opens as it is. */
int gguf_open_memory(struct gguf **out, const void *bytes, size_t size, struct gguf_error *e);
int gguf_open_reader(struct gguf **out, const struct gguf_reader *r, struct gguf_error *e);
void gguf_close(struct gguf *g); /* NULL is fine */

/* ---- the files behind a model ---- */

struct gguf_shard {
	const char *path;     /* as opened, NULL for memory and readers */
	uint64_t size;        /* bytes of the file when it was opened */
	uint64_t header_size; /* bytes up to the end of the tensor table */
	uint64_t data;        /* where tensor data starts */
	uint64_t alignment;
	uint64_t tensors;     /* number of tensors in this file */
	uint32_t version;     /* 1 to 3 */
	bool big_endian;
	int fd;               /* -1 for memory and readers; not to be closed */
};
size_t gguf_shard_count(const struct gguf *g);
const struct gguf_shard *gguf_shard(const struct gguf *g, size_t i);
/*
 * Reads n bytes of shard i's file at offset, as they lie there. Returns 0, -EIO when the file is shorter than it was
 * or it was rewritten, replaced or deleted, or the system's error.
 */
int gguf_shard_read(const struct gguf *g, size_t i, void *buf, size_t n, uint64_t offset);

/* ---- metadata: keys and values, in file order ---- */

enum gguf_value_type {
	GGUF_U8, GGUF_I8, GGUF_U16, GGUF_I16, GGUF_U32, GGUF_I32, GGUF_F32,
	GGUF_BOOL, GGUF_STRING, GGUF_ARRAY, GGUF_U64, GGUF_I64, GGUF_F64,
	GGUF_VALUE_TYPES
};
/* "u8", ... "f64", as in the attribute user.gguf.type. NULL for an unknown id. */
const char *gguf_value_type_name(uint32_t type);

/* Bytes that are not terminated. */
struct gguf_bytes {
	const char *p;
	size_t n;
};

struct gguf_key {
	struct gguf_bytes name;
	enum gguf_value_type type;
	enum gguf_value_type item; /* of an array: what its items are */
	uint64_t count;            /* of an array: how many; else 1 */
	uint64_t offset;           /* of the value in the first shard's file */
};

/* A value, or one item of an array. The field in use follows from type. */
struct gguf_value {
	enum gguf_value_type type;
	union {
		uint64_t u;  /* U8 U16 U32 U64 BOOL */
		int64_t i;   /* I8 I16 I32 I64 */
		double f;    /* F32 F64 */
		struct gguf_bytes s;
		struct gguf_array {
			enum gguf_value_type item;
			uint64_t count;
			uint64_t at; /* for gguf_array_item */
		} a;
	};
};

size_t gguf_key_count(const struct gguf *g);
const struct gguf_key *gguf_key(const struct gguf *g, size_t i);
/* Index of the key of that name, or -ENOENT. Constant time. */
ssize_t gguf_find_key(const struct gguf *g, const char *name, size_t n);
/* The value of key i. */
int gguf_value(const struct gguf *g, size_t i, struct gguf_value *v);
/*
 * Items first .. first+n-1 of the array that key i holds. Constant time to reach the first: the index over strings is
 * made on first use. -ERANGE past the end, -EINVAL when the key holds no array.
 */
int gguf_items(const struct gguf *g, size_t i, uint64_t first, size_t n, struct gguf_value *v);
/* Item number k of an array inside an array. Linear in k for arrays of strings or arrays. */
int gguf_array_item(const struct gguf *g, const struct gguf_array *a, uint64_t k, struct gguf_value *v);
/* Takes the first item off *a, which then starts at the next: to walk such an array in linear time. */
int gguf_array_next(const struct gguf *g, struct gguf_array *a, struct gguf_value *v);

/*
 * Typed getters by name. Any integer type that holds the number serves for u64 and i64, any number for f64.
 * -ENOENT without such a key, -EINVAL for another type, -ERANGE for a number that does not fit.
 */
int gguf_get_u64(const struct gguf *g, const char *name, uint64_t *v);
int gguf_get_i64(const struct gguf *g, const char *name, int64_t *v);
int gguf_get_f64(const struct gguf *g, const char *name, double *v);
int gguf_get_bool(const struct gguf *g, const char *name, bool *v);
int gguf_get_string(const struct gguf *g, const char *name, struct gguf_bytes *v);

/* ---- tensors, in file order, shard after shard ---- */

enum gguf_type {
#define T(id, name, len, size) GGUF_TYPE_##name = id,
#include "gguf-types.def"
#undef T
	GGUF_TYPE_LIMIT = 64
};
/* "Q4_K"; NULL for an unknown id. */
const char *gguf_type_name(uint32_t type);
/* The id for a name, in any case, or -ENOENT. */
int gguf_type_find(const char *name);
/* Values and bytes of a block; 0 for an unknown type. */
size_t gguf_type_values(uint32_t type);
size_t gguf_type_bytes(uint32_t type);

struct gguf_tensor {
	struct gguf_bytes name;
	uint32_t type;      /* enum gguf_type, or an id that this version does not know */
	uint32_t dims;      /* 0 to 4 */
	uint64_t extent[4]; /* values; extent[0] is the row length and runs fastest; unused are 1 */
	uint64_t values;    /* product of the extents */
	uint64_t offset;    /* bytes from the start of the shard's file */
	uint64_t size;      /* bytes; of an unknown type: up to the next tensor or the end of the file */
	uint32_t shard;
};
size_t gguf_tensor_count(const struct gguf *g);
const struct gguf_tensor *gguf_tensor(const struct gguf *g, size_t i);
/* Index of the tensor of that name, or -ENOENT. Constant time. */
ssize_t gguf_find_tensor(const struct gguf *g, const char *name, size_t n);
/*
 * n bytes of tensor i from offset within it, little-endian whatever the file is. -ERANGE past the end, else as
 * gguf_shard_read.
 */
int gguf_tensor_read(const struct gguf *g, size_t i, void *buf, size_t n, uint64_t offset);

/* ---- blocks to floats and back ---- */

/* Whether a type can be decoded, and encoded without an importance matrix. */
bool gguf_can_decode(uint32_t type);
bool gguf_can_encode(uint32_t type);
/*
 * nblocks blocks at src, at any address, become nblocks * gguf_type_values(type) floats at dst. -ENOTSUP for a type
 * without a decoder. The fastest code for this processor is chosen by the first call; the environment variable
 * GGUF_KERNEL caps it (scalar, avx2, avx512, neon, or a name of the matrix kernels). All give the same bits.
 */
int gguf_decode(uint32_t type, float *dst, const void *src, size_t nblocks);
/* The other way. Never writes NaN; the same input gives the same blocks. -ENOTSUP for a type without an encoder. */
int gguf_encode(uint32_t type, void *dst, const float *src, size_t nblocks);

/* ---- writing ---- */

struct gguf_writer;
/*
 * Collects keys and tensors, then makes a version 3 little-endian file: header, table, padding. Names and values are
 * copied. A model that was read from such a file in canonical form comes out byte for byte.
 */
int gguf_writer_new(struct gguf_writer **out);
void gguf_writer_free(struct gguf_writer *w); /* NULL is fine */
/* Adds key i of g as it is, arrays whole. */
int gguf_writer_copy_key(struct gguf_writer *w, const struct gguf *g, size_t i);
/* Adds a key; not for arrays. -ERANGE when the value does not fit its type. */
int gguf_writer_key(struct gguf_writer *w, const char *name, size_t n, const struct gguf_value *v);
/* Adds an array of count items of one type (not GGUF_ARRAY). */
int gguf_writer_array(struct gguf_writer *w, const char *name, size_t n, enum gguf_value_type item,
		      const struct gguf_value *items, uint64_t count);
/*
 * Adds a tensor; its offset follows from those added before. -EINVAL for an unknown type or a row that is not whole
 * blocks.
 */
int gguf_writer_tensor(struct gguf_writer *w, const char *name, size_t n, uint32_t type, uint32_t dims,
		       const uint64_t *extent);
/*
 * Adds tensor i of g as it is, also of a type that this version does not know: its bytes follow as gguf_tensor_read
 * gives them.
 */
int gguf_writer_copy_tensor(struct gguf_writer *w, const struct gguf *g, size_t i);
/*
 * The header with table and padding, in memory of the writer until it is changed or freed. -EEXIST when two keys or
 * two tensors have one name, -EFBIG when an alignment asks for more than 64 MiB of padding.
 */
int gguf_writer_header(struct gguf_writer *w, const void **bytes, size_t *size);
/*
 * Offset of tensor i in the finished file, its bytes without padding, and the size of the whole file, padding included.
 */
uint64_t gguf_writer_offset(const struct gguf_writer *w, size_t i);
uint64_t gguf_writer_size(const struct gguf_writer *w, size_t i);
uint64_t gguf_writer_file_size(const struct gguf_writer *w);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
