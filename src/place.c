/* SPDX-License-Identifier: MIT */
/* Where the tensors of one file lie: one after the other, in the table's order, each on the alignment. */
#include "error.h"
#include "model.h"
#include <errno.h>
#include <inttypes.h>

bool gguf_extent_size(uint32_t type, const uint64_t extent[4], uint64_t *size)
{
	size_t block = gguf_type_values(type);
	uint64_t n;

	*size = 0;
	if (!block || !extent[0] || !extent[1] || !extent[2] || !extent[3])
		return true;
	if (extent[0] % block)
		return false;
	n = extent[0] / block;
	for (int i = 1; i < 4; i++)
		if (__builtin_mul_overflow(n, extent[i], &n))
			return false;
	return !__builtin_mul_overflow(n, gguf_type_bytes(type), size) && *size <= INT64_MAX;
}

/* Where in the file the offset of a tensor is written: the last field of its row. */
static uint64_t offset_field(const struct file *f, const struct gguf_tensor *t)
{
	uint64_t name_at = (uint64_t)(t->name.p - (const char *)f->header);

	return name_at + t->name.n + 4 + t->dims * (f->about.version == 1 ? 4u : 8u) + 4;
}

/* Where tensor i begins, by the one before it; loose: that one's size is not known, so a gap may follow it. */
static int check_offset(const struct file *f, size_t i, bool loose, struct gguf_error *e)
{
	const struct gguf_tensor *t = &f->tensors[i];
	uint64_t mask = f->about.alignment - 1, next = i ? (t[-1].offset + t[-1].size + mask) & ~mask : 0;
	char quoted[QUOTED];
	uint64_t at = offset_field(f, t);

	if (t->offset & mask)
		return gguf_fail(e, -EINVAL, at, "tensor '%s': offset %" PRIu64 " at byte %" PRIu64
				 ", expected a multiple of the alignment %" PRIu64, name_of(t, quoted), t->offset, at,
				 f->about.alignment);
	if (loose ? t->offset < next : t->offset != next)
		return gguf_fail(e, -EINVAL, at,
				 "tensor '%s': offset %" PRIu64 " at byte %" PRIu64 ", expected %" PRIu64
				 "%s, where the tensor before it ends",
				 name_of(t, quoted), t->offset, at, next, loose ? " or more" : "");
	return 0;
}

/* Whether the end of t, padded, and what lies before it in the file are counted by 63 bits. */
static int check_end(const struct file *f, const struct gguf_tensor *t, uint64_t before, struct gguf_error *e)
{
	uint64_t end;
	char quoted[QUOTED];

	if (!__builtin_add_overflow(t->offset, t->size, &end) && !__builtin_add_overflow(end, before, &end) &&
	    end <= INT64_MAX - (f->about.alignment - 1))
		return 0;
	return gguf_fail(e, -EOVERFLOW, offset_field(f, t), "tensor '%s': offset %" PRIu64 " and %" PRIu64
			 " bytes end beyond 63 bits", name_of(t, quoted), t->offset, t->size);
}

int place_tensor(struct file *f, size_t i, struct gguf_error *e)
{
	struct gguf_tensor *t = &f->tensors[i];
	bool after_unknown = i && !gguf_type_values(t[-1].type);
	int err = check_offset(f, i, after_unknown, e);

	if (err)
		return err;
	if (after_unknown)
		t[-1].size = t->offset - t[-1].offset;
	return check_end(f, t, 0, e);
}

/* Which tensors the file has room for: they follow each other, so all before the first cut one are whole. */
static int check_whole(struct file *f, struct gguf_error *e)
{
	char quoted[QUOTED];

	for (size_t i = 0; i < f->tensor_count; i++) {
		const struct gguf_tensor *t = &f->tensors[i];

		if (!t->size && gguf_type_values(t->type))
			continue;
		if (t->offset <= f->about.size && t->size <= f->about.size - t->offset)
			continue;
		return gguf_fail(e, -EINVAL, t->offset,
				 "tensor '%s': bytes %" PRIu64 " to %" PRIu64
				 " are not within the file, which has %" PRIu64
				 ": it is cut, %zu of %zu tensors are whole",
				 name_of(t, quoted), t->offset, t->offset + t->size, f->about.size, i, f->tensor_count);
	}
	return 0;
}

int place_data(struct file *f, unsigned lenience, struct gguf_error *e)
{
	uint64_t mask = f->about.alignment - 1;
	struct gguf_tensor *last;
	int err;

	f->about.data = f->tensor_count ? (f->about.header_size + mask) & ~mask : f->about.header_size;
	if (!f->tensor_count)
		return 0;
	last = &f->tensors[f->tensor_count - 1];
	err = check_end(f, last, f->about.data, e);
	if (err)
		return err;
	for (size_t i = 0; i < f->tensor_count; i++)
		f->tensors[i].offset += f->about.data;
	if (!gguf_type_values(last->type) && last->offset < f->about.size)
		last->size = f->about.size - last->offset;
	return lenience & GGUF_OPEN_CUT ? 0 : check_whole(f, e);
}

int fail_twins(const struct file *f, const struct gguf_tensor *tensors, const size_t twins[2], struct gguf_error *e)
{
	const struct gguf_tensor *t = &tensors[twins[1]];
	char quoted[QUOTED];

	return gguf_fail(e, -EINVAL, (uint64_t)(t->name.p - (const char *)f->header),
			 "tensor '%s': number %zu has the name of number %zu; expected each once", name_of(t, quoted),
			 twins[1], twins[0]);
}
