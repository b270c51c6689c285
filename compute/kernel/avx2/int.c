/* SPDX-License-Identifier: MIT */
/* Integer weights, one token: the types that row.c has not, and what it leaves at the end of rows. */
#ifdef __x86_64__
#include "kernel/stream.h"
#include "part.h"

enum { ROWS = 16, HALF = 8, PART = 64 };

KERNEL_BEGIN(AVX2_TARGET)
INLINE int32_t sum4(__m128i v)
{
	v = _mm_add_epi32(v, _mm_shuffle_epi32(v, 0x4e));
	return _mm_cvtsi128_si32(_mm_add_epi32(v, _mm_shuffle_epi32(v, 0xb1)));
}

/* The sum of a block that a float holds exactly. */
INLINE float dot_part(const struct part *o, enum block_kind kind, const int8_t *x)
{
	__m256i v = dot4(o->q, load32(x));
	__m128i first = _mm256_castsi256_si128(v), last = _mm256_extracti128_si256(v, 1);

	if (kind == BLOCK_PAIR || kind == BLOCK_PAIR_MIN)
		return (float)(o->b.s[0] * sum4(first) + o->b.s[1] * sum4(last));
	return (float)sum4(_mm_add_epi32(first, last));
}

/* Sixteen rows: each block's sum and factors, a row in each lane. */
struct sums {
	_Alignas(32) float sum[PART][ROWS], d[PART][ROWS], o[PART][ROWS], m[PART][ROWS];
};

INLINE void sum_row(struct sums *s, size_t r, const uint8_t *row, const struct act_row *x, size_t first, size_t n, uint32_t type,
		    enum block_kind kind)
{
	size_t parts = gguf_type_values(type) / 32, bytes = gguf_type_bytes(type);
	struct part o = { .b = { .d = 0 } };

	for (size_t b = 0; b < n; b++) {
		const uint8_t *p = row + (first + b) / parts * bytes;
		const int32_t *half = x->half + 2 * (first + b);

		for (size_t i = 0; b % 8 == 0 && i < 8 / parts * bytes; i += STREAM_LINE)
			stream_fetch(p + i, STREAM_LINE);
		get_part(&o, type, p, (unsigned)((first + b) % parts));
		s->sum[b][r] = dot_part(&o, kind, x->q + (first + b) * 32);
		s->d[b][r] = o.b.d * x->d[first + b];
		if (kind == BLOCK_OFFSET) {
			s->o[b][r] = o.b.m;
			s->m[b][r] = x->dsum[first + b];
		} else if (kind == BLOCK_PAIR_MIN) {
			s->o[b][r] = (float)((o.b.o[0] * half[0] + o.b.o[1] * half[1]) / -128);
			s->m[b][r] = o.b.m * x->d[first + b];
		}
	}
}

INLINE __m256 add_up(__m256 acc, const struct sums *s, size_t n, size_t at, bool offset)
{
	for (size_t b = 0; b < n; b++) {
		acc = _mm256_fmadd_ps(_mm256_load_ps(&s->sum[b][at]), _mm256_load_ps(&s->d[b][at]), acc);
		if (offset)
			acc = _mm256_fmadd_ps(_mm256_load_ps(&s->o[b][at]), _mm256_load_ps(&s->m[b][at]), acc);
	}
	return acc;
}

/* Blocks from number start on; y has what came before. */
INLINE void mul_one(const struct mat *w, const struct act *a, float *y, size_t from, size_t to, size_t start, uint32_t type,
		    enum block_kind kind)
{
	bool offset = kind == BLOCK_OFFSET || kind == BLOCK_PAIR_MIN;
	struct act_row x = act_row(a, 0);
	struct sums s;

	memset(&s, 0, sizeof s);
	for (size_t row = from; row < to; row += ROWS) {
		size_t count = to - row < ROWS ? to - row : ROWS, n;
		float out[ROWS] = { 0 };

		if (start)
			memcpy(out, y + row, count * sizeof *y);
		__m256 acc[2] = { _mm256_loadu_ps(out), _mm256_loadu_ps(out + HALF) };

		for (size_t first = start; first < a->blocks; first += n) {
			n = a->blocks - first < PART ? a->blocks - first : PART;
			for (size_t r = 0; r < count; r++)
				sum_row(&s, r, (const uint8_t *)w->data + (row + r) * w->row_bytes, &x, first, n, type, kind);
			acc[0] = add_up(acc[0], &s, n, 0, offset);
			acc[1] = add_up(acc[1], &s, n, HALF, offset);
		}
		_mm256_storeu_ps(out, acc[0]);
		_mm256_storeu_ps(out + HALF, acc[1]);
		memcpy(y + row, out, count * sizeof *y);
	}
}

#define REST(NAME, name, kind, ...) \
	void avx2_rest_##NAME(const struct mat *w, const struct act *a, float *y, size_t from, size_t to, size_t start) \
	{ \
		mul_one(w, a, y, from, to, start, GGUF_TYPE_##NAME, kind); \
	}
AVX2_INT_KERNELS(REST)

void avx2_rest_int(const struct mat *w, const struct act *a, float *y, size_t from, size_t to, size_t start)
{
	mul_one(w, a, y, from, to, start, w->type, block_types[w->type].kind);
}
KERNEL_END

#define KERNEL(NAME, ...) \
	void avx2_mul_##NAME(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to) \
	{ \
		avx2_mul_by(w, a, y, stride, from, to, avx2_panels_##NAME, avx2_sum_##NAME, avx2_rest_##NAME); \
	}
AVX2_INT_KERNELS(KERNEL)

void avx2_mul_int(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	avx2_mul_by(w, a, y, stride, from, to, avx2_panels_int, NULL, avx2_rest_int);
}
#endif
