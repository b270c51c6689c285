/* SPDX-License-Identifier: MIT */
#include "floats.h"
#include "data.h"
#include "out.h"
#include "quant/quant.h"
#include <errno.h>

enum {
	SOURCE = 256 << 10, /* bytes of blocks read at once: every read costs five system calls */
	BLOCK_MOST = 256,    /* values */
	PIECE = 4096,        /* values converted at once */
	NPY_MOST = 256,      /* bytes of a NumPy header */
};

bool floats_present(const struct mtree *t, uint64_t i)
{
	return gguf_can_decode(gguf_tensor(t->g, i)->type);
}

/* ---- values ---- */

/* n whole blocks from block on; dst has room for their values. */
static int decode_blocks(const struct mtree *t, uint64_t i, float *dst, size_t n, uint64_t block)
{
	uint32_t type = gguf_tensor(t->g, i)->type;
	size_t bytes = gguf_type_bytes(type), values = gguf_type_values(type), most = SOURCE / bytes;
	uint8_t source[SOURCE];
	int err = 0;

	for (size_t now; n && !err; n -= now, block += now, dst += now * values) {
		now = n < most ? n : most;
		err = data_tensor(t, i, source, now * bytes, block * bytes);
		if (!err)
			err = gguf_decode(type, dst, source, now);
	}
	return err;
}

int floats_values(const struct mtree *t, uint64_t i, float *dst, size_t n, uint64_t first)
{
	size_t values = gguf_type_values(gguf_tensor(t->g, i)->type);
	int err = 0;

	for (size_t now; n && !err; n -= now, first += now, dst += now) {
		size_t skip = first % values;

		if (!skip && n >= values) {
			now = n - n % values;
			err = decode_blocks(t, i, dst, now / values, first / values);
		} else {
			float one[BLOCK_MOST];

			now = n < values - skip ? n : values - skip;
			err = decode_blocks(t, i, one, 1, first / values);
			if (!err)
				memcpy(dst, one + skip, now * sizeof *dst);
		}
	}
	return err;
}

/* ---- forms of them ---- */

/* A form: bytes of a value, how values become bytes, the tensor type whose bytes are that form already. */
struct form {
	size_t width;
	void (*put)(uint8_t *dst, const float *src, size_t n);
	uint32_t same;
};

static void put_floats(uint8_t *dst, const float *src, size_t n)
{
	for (size_t k = 0; k < n; k++)
		put32(dst + 4 * k, bits_of_float(src[k]));
}

static void put_halves(uint8_t *dst, const float *src, size_t n)
{
	for (size_t k = 0; k < n; k++)
		put16(dst + 2 * k, half_bits(src[k]));
}

/* Nearest, ties to even; NaN stays NaN. */
static void put_bfloats(uint8_t *dst, const float *src, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		uint32_t bits = bits_of_float(src[k]), round = 0x7fff + (bits >> 16 & 1);

		put16(dst + 2 * k, (uint16_t)(src[k] == src[k] ? (bits + round) >> 16 : bits >> 16 | 0x40));
	}
}

static const struct form f32 = { 4, put_floats, GGUF_TYPE_F32 };
static const struct form f16 = { 2, put_halves, GGUF_TYPE_F16 };
static const struct form bf16 = { 2, put_bfloats, GGUF_TYPE_BF16 };

/* Whether buf can take the values themselves, with no copy: f32 is what decoding gives on this machine. */
static bool can_decode_to(const struct form *f, const void *buf)
{
	return f == &f32 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && (uintptr_t)buf % _Alignof(float) == 0;
}

/* Any n bytes of a form from offset on, also from the middle of a value. */
static int form_read(const struct form *f, const struct mtree *t, uint64_t i, uint8_t *buf, size_t n, uint64_t offset)
{
	int err = 0;

	if (gguf_tensor(t->g, i)->type == f->same)
		return data_tensor(t, i, buf, n, offset);
	for (size_t now; n && !err; n -= now, offset += now, buf += now) {
		size_t skip = offset % f->width, values = n / f->width;
		float some[PIECE];
		uint8_t one[4];

		if (skip || !values) {
			now = n < f->width - skip ? n : f->width - skip;
			err = floats_values(t, i, some, 1, offset / f->width);
			if (!err) {
				f->put(one, some, 1);
				memcpy(buf, one + skip, now);
			}
		} else if (can_decode_to(f, buf)) {
			now = values * f->width;
			err = floats_values(t, i, (float *)(void *)buf, values, offset / f->width);
		} else {
			values = values < PIECE ? values : PIECE;
			now = values * f->width;
			err = floats_values(t, i, some, values, offset / f->width);
			if (!err)
				f->put(buf, some, values);
		}
	}
	return err;
}

static int form_size(const struct form *f, const struct mtree *t, uint64_t i, uint64_t *size)
{
	return __builtin_mul_overflow(gguf_tensor(t->g, i)->values, f->width, size) ? -EOVERFLOW : 0;
}

int f32_size(const struct mtree *t, uint64_t i, uint64_t *size)
{
	return form_size(&f32, t, i, size);
}

int f32_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset)
{
	return form_read(&f32, t, i, buf, n, offset);
}

int f16_size(const struct mtree *t, uint64_t i, uint64_t *size)
{
	return form_size(&f16, t, i, size);
}

int f16_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset)
{
	return form_read(&f16, t, i, buf, n, offset);
}

int bf16_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset)
{
	return form_read(&bf16, t, i, buf, n, offset);
}

/* ---- NumPy's file: magic, version 1.0, a length, a Python dictionary padded to a multiple of 64, the data ---- */

/* Returns its length, which is a multiple of 64: the values after it are aligned in a map. */
static size_t npy_header(const struct gguf_tensor *tensor, char header[NPY_MOST])
{
	struct out o = { .buf = header, .room = NPY_MOST };

	out_put(&o, "\x93NUMPY\1\0\0\0", 10);
	out_string(&o, "{'descr': '<f4', 'fortran_order': False, 'shape': (");
	for (uint32_t d = tensor->dims; d--;) {
		out_u64(&o, tensor->extent[d]);
		if (d || tensor->dims == 1)
			out_string(&o, d ? ", " : ",");
	}
	out_string(&o, "), }");
	while (o.used % 64 != 63)
		out_put(&o, " ", 1);
	out_put(&o, "\n", 1);
	put16((uint8_t *)header + 8, (uint16_t)(o.used - 10));
	return o.used;
}

int npy_size(const struct mtree *t, uint64_t i, uint64_t *size)
{
	char header[NPY_MOST];
	int err = f32_size(t, i, size);

	if (!err && __builtin_add_overflow(*size, npy_header(gguf_tensor(t->g, i), header), size))
		err = -EOVERFLOW;
	return err;
}

int npy_read(const struct mtree *t, uint64_t i, void *buf, size_t n, uint64_t offset)
{
	char header[NPY_MOST];
	size_t size = npy_header(gguf_tensor(t->g, i), header), now = 0;

	if (offset < size) {
		now = n < size - offset ? n : size - (size_t)offset;
		memcpy(buf, header + offset, now);
	}
	return now == n ? 0 : f32_read(t, i, (uint8_t *)buf + now, n - now, offset + now - size);
}
