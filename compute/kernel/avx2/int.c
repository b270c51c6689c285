/* SPDX-License-Identifier: MIT */
/*
 * Integer weights. Blocks of the common types are decoded with vectors, the others in plain C; both the sums of one token
 * and the panels for many start from the same 32 bytes.
 */
#ifdef __x86_64__
#include <string.h>
#include "avx2.h"
#include "kernel/panel.h"
#include "kernel/stream.h"
#include "quant/fp4.h"
#include "quant/iq.h"
#include "quant/k.h"

enum { ROWS = PANEL_ROWS, HALF = 8, PART = 64, TOKENS = PANEL_TOKENS };

KERNEL_BEGIN(AVX2_TARGET)
/* A block, with its integers in a register. */
struct part {
	__m256i q;
	struct block b; /* without q */
};

INLINE float half_at(const uint8_t *p)
{
	return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(get16(p))));
}

/* 16 bytes of nibbles, the low ones first. */
INLINE __m256i nibbles(const uint8_t *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)p);

	return _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(v, 4), v), _mm256_set1_epi8(15));
}

/* The nibbles of 32 bytes, low or high ones. */
INLINE __m256i half_nibbles(const uint8_t *p, unsigned high)
{
	return _mm256_and_si256(_mm256_srl_epi16(load32(p), _mm_cvtsi32_si128((int)high * 4)), _mm256_set1_epi8(15));
}

INLINE __m256i look_up(const int8_t *table, __m256i v)
{
	return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)table)), v);
}

INLINE void k_part(struct part *o, const uint8_t *p, unsigned i)
{
	o->b.d = half_at(p) * (float)k_scale(p + 4, (int)i);
	o->b.m = -(half_at(p + 2) * (float)k_min(p + 4, (int)i));
}

INLINE void get_part(struct part *o, uint32_t type, const uint8_t *p, unsigned i)
{
	switch (type) {
	case GGUF_TYPE_Q8_0:
		o->b.d = half_at(p);
		o->q = load32(p + 2);
		return;
	case GGUF_TYPE_Q4_0:
		o->b.d = half_at(p);
		o->q = _mm256_sub_epi8(nibbles(p + 2), _mm256_set1_epi8(8));
		return;
	case GGUF_TYPE_IQ4_NL:
		o->b.d = half_at(p);
		o->q = look_up(iq4_values, nibbles(p + 2));
		return;
	case GGUF_TYPE_MXFP4:
		o->b.d = e8m0_half(p[0]);
		o->q = look_up(fp4_doubled, nibbles(p + 1));
		return;
	case GGUF_TYPE_IQ4_XS:
		o->b.d = half_at(p) * (float)((int)((p[4 + i / 2] >> i % 2 * 4 & 15) | (get16(p + 2) >> 2 * i & 3) << 4) - 32);
		o->q = look_up(iq4_values, nibbles(p + 8 + 16 * i));
		return;
	case GGUF_TYPE_Q4_K:
		k_part(o, p, i);
		o->q = half_nibbles(p + 16 + i / 2 * 32, i % 2);
		return;
	case GGUF_TYPE_Q5_K:
		k_part(o, p, i);
		o->q = _mm256_srl_epi16(load32(p + 16), _mm_cvtsi32_si128((int)i));
		o->q = _mm256_slli_epi16(_mm256_and_si256(o->q, _mm256_set1_epi8(1)), 4);
		o->q = _mm256_or_si256(o->q, half_nibbles(p + 48 + i / 2 * 32, i % 2));
		return;
	case GGUF_TYPE_Q6_K:
		o->b.d = half_at(p + 208);
		memcpy(o->b.s, p + 192 + 2 * i, 2);
		o->q = _mm256_srl_epi16(load32(p + 128 + i / 4 * 32), _mm_cvtsi32_si128((int)(i % 4 * 2)));
		o->q = _mm256_slli_epi16(_mm256_and_si256(o->q, _mm256_set1_epi8(3)), 4);
		o->q = _mm256_or_si256(o->q, half_nibbles(p + i / 4 * 64 + i % 2 * 32, i % 4 / 2));
		o->q = _mm256_sub_epi8(o->q, _mm256_set1_epi8(32));
		return;
	default:
		block_types[type].get(&o->b, p, i);
		o->q = load32(o->b.q);
	}
}

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

/* ---- panels ---- */

/*
 * How integers stand in the panel. Small ones stand without a sign, so much too high, so that words hold the sums of that
 * many steps of four products.
 */
#define FORMS(X) \
	X(SIGNED_SCALE, BLOCK_SCALE, 1, 0) X(SIGNED_OFFSET, BLOCK_OFFSET, 1, 0) X(SIGNED_PAIR, BLOCK_PAIR, 1, 0) \
	X(SIGNED_PAIR_MIN, BLOCK_PAIR_MIN, 1, 0) X(FOUR_BITS_MINUS_8, BLOCK_SCALE, 8, 8) X(FOUR_BITS, BLOCK_OFFSET, 8, 0) \
	X(FIVE_BITS_MINUS_12, BLOCK_SCALE, 4, 12) X(FIVE_BITS, BLOCK_OFFSET, 4, 0)
enum form {
#define FORM(name, ...) name,
	FORMS(FORM)
#undef FORM
};
/* The first forms are those of the kinds, with any bytes. */
_Static_assert((int)SIGNED_PAIR_MIN == (int)BLOCK_PAIR_MIN && (int)SIGNED_OFFSET == (int)BLOCK_OFFSET, "same order");

INLINE enum form form_of(uint32_t type, enum block_kind kind)
{
	switch (type) {
	case GGUF_TYPE_Q4_0:
		return FOUR_BITS_MINUS_8;
	case GGUF_TYPE_MXFP4:
		return FIVE_BITS_MINUS_12;
	case GGUF_TYPE_Q4_K:
		return FOUR_BITS;
	case GGUF_TYPE_Q5_K:
		return FIVE_BITS;
	default:
		return (enum form)kind;
	}
}

INLINE __m256i without_sign(__m256i q, enum form form)
{
	return form == FOUR_BITS_MINUS_8 ? _mm256_add_epi8(q, _mm256_set1_epi8(8)) :
	       form == FIVE_BITS_MINUS_12 ? _mm256_add_epi8(q, _mm256_set1_epi8(12)) : q;
}

INLINE void put_row(struct panel *p, size_t r, const uint8_t *row, size_t first, size_t n, uint32_t type, enum form form)
{
	size_t parts = gguf_type_values(type) / 32, bytes = gguf_type_bytes(type);
	struct part o = { .b = { .d = 0 } };
	_Alignas(32) uint8_t q[8][4];

	for (size_t b = 0; b < n; b++) {
		get_part(&o, type, row + (first + b) / parts * bytes, (unsigned)((first + b) % parts));
		_mm256_store_si256((__m256i *)q, without_sign(o.q, form));
		for (int k = 0; k < 8; k++)
			memcpy(p->q[b][k][r], q[k], 4);
		p->d[b][r] = o.b.d;
		p->m[b][r] = o.b.m;
		for (int i = 0; i < 2; i++) {
			p->s[b][i][r] = o.b.s[i];
			p->o[b][i][r] = o.b.o[i];
		}
	}
}

INLINE __m256i four(const int8_t *x)
{
	int32_t v;

	memcpy(&v, x, sizeof v);
	return _mm256_set1_epi32(v);
}

/* Steps from .. to-1 of a block, four values each, of eight rows and T tokens; the weights have no sign. */
INLINE void dot_words(__m256i s[TOKENS], const struct panel *p, size_t b, size_t lane, const int8_t *x, int from, int to, int T)
{
	__m256i word[TOKENS];

	UNROLL
	for (int k = from; k < to; k++) {
		__m256i w = _mm256_load_si256((const __m256i *)p->q[b][k][lane]);

		UNROLL
		for (int t = 0; t < T; t++) {
			__m256i v = _mm256_maddubs_epi16(w, four(x + 32 * t + 4 * k));

			word[t] = k == from ? v : _mm256_add_epi16(word[t], v);
		}
	}
	UNROLL
	for (int t = 0; t < T; t++)
		s[t] = _mm256_add_epi32(s[t], _mm256_madd_epi16(word[t], _mm256_set1_epi16(1)));
}

/* Steps from .. from+3 of a block, four values each, of eight rows and T tokens. */
INLINE void dot_steps(__m256i s[TOKENS], const struct panel *p, size_t b, size_t lane, const int8_t *x, int from, int T)
{
	UNROLL
	for (int k = from; k < from + 4; k++) {
		__m256i w = _mm256_load_si256((const __m256i *)p->q[b][k][lane]);

		UNROLL
		for (int t = 0; t < T; t++)
			s[t] = _mm256_add_epi32(s[t], dot4(w, four(x + 32 * t + 4 * k)));
	}
}

INLINE __m256 pair_offset(const struct panel *p, size_t b, size_t lane, const int32_t *half)
{
	__m256 first = _mm256_set1_ps((float)half[0] * -0x1p-7f), last = _mm256_set1_ps((float)half[1] * -0x1p-7f);

	return _mm256_fmadd_ps(_mm256_load_ps(&p->o[b][1][lane]), last, _mm256_mul_ps(_mm256_load_ps(&p->o[b][0][lane]), first));
}

INLINE void add_block(__m256 acc[TOKENS], const struct panel *p, size_t b, size_t lane, const struct act_row *x, size_t at,
		      enum block_kind kind, int steps, int offset, int T)
{
	bool pair = kind == BLOCK_PAIR || kind == BLOCK_PAIR_MIN;
	__m256i s[TOKENS] = { _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256() };
	__m256 sum[TOKENS], w = _mm256_load_ps(&p->d[b][lane]);

	UNROLL
	for (int t = 0; t < T && offset; t++)
		s[t] = _mm256_set1_epi32(x->bias[at + (size_t)t] / 128 * offset);
	UNROLL
	for (int k = 0; k < 8 && steps > 1; k += steps)
		dot_words(s, p, b, lane, x->q + at * 32, k, k + steps, T);
	if (steps == 1)
		dot_steps(s, p, b, lane, x->q + at * 32, 0, T);
	UNROLL
	for (int t = 0; t < T && pair; t++) {
		sum[t] = _mm256_mul_ps(_mm256_cvtepi32_ps(s[t]), _mm256_load_ps(&p->s[b][0][lane]));
		s[t] = _mm256_setzero_si256();
	}
	if (steps == 1)
		dot_steps(s, p, b, lane, x->q + at * 32, 4, T);
	UNROLL
	for (int t = 0; t < T; t++) {
		__m256 v = _mm256_cvtepi32_ps(s[t]), d = _mm256_set1_ps(x->d[at + (size_t)t]);

		sum[t] = pair ? _mm256_fmadd_ps(v, _mm256_load_ps(&p->s[b][1][lane]), sum[t]) : v;
		acc[t] = _mm256_fmadd_ps(sum[t], _mm256_mul_ps(w, d), acc[t]);
		if (kind == BLOCK_OFFSET)
			acc[t] = _mm256_fmadd_ps(_mm256_load_ps(&p->m[b][lane]), _mm256_set1_ps(x->dsum[at + (size_t)t]), acc[t]);
		if (kind == BLOCK_PAIR_MIN)
			acc[t] = _mm256_fmadd_ps(pair_offset(p, b, lane, x->half + 2 * (at + (size_t)t)),
						 _mm256_mul_ps(_mm256_load_ps(&p->m[b][lane]), d), acc[t]);
	}
}

/* Eight rows times T tokens, over n blocks from number first on; out has what came before. */
INLINE void mul_tile(float *out, const struct panel *p, size_t lane, const struct act *a, size_t token, size_t first, size_t n,
		     enum block_kind kind, int steps, int offset, int T)
{
	struct act_row x = act_row(a, token);
	__m256 acc[TOKENS];

	UNROLL
	for (int t = 0; t < T; t++)
		acc[t] = first ? _mm256_loadu_ps(out + t * ROWS) : _mm256_setzero_ps();
	for (size_t b = 0; b < n; b++)
		add_block(acc, p, b, lane, &x, (first + b) * x.step, kind, steps, offset, T);
	UNROLL
	for (int t = 0; t < T; t++)
		_mm256_storeu_ps(out + t * ROWS, acc[t]);
}

/* Both halves of the panel's rows. */
#define TILE(form, T, ...) \
	static void tile_##form##_##T(float *out, const struct panel *p, const struct act *a, size_t token, size_t first, size_t n) \
	{ \
		mul_tile(out, p, 0, a, token, first, n, __VA_ARGS__, T); \
		mul_tile(out + HALF, p, HALF, a, token, first, n, __VA_ARGS__, T); \
	}
#define TILES(form, ...) TILE(form, 1, __VA_ARGS__) TILE(form, 2, __VA_ARGS__) TILE(form, 3, __VA_ARGS__)
FORMS(TILES)
#undef TILE
static panel_tile_fn *const tiles[][TOKENS] = {
#define TILE(form, T, ...) [form][T - 1] = tile_##form##_##T,
	FORMS(TILES)
#undef TILE
};

INLINE void mul_panels(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to, uint32_t type,
		       enum block_kind kind)
{
	enum form form = form_of(type, kind);
	struct panel p;

	memset(&p, 0, sizeof p);
	for (size_t row = from; row < to; row += ROWS) {
		size_t count = to - row < ROWS ? to - row : ROWS, n;

		for (size_t first = 0; first < a->blocks; first += n) {
			n = a->blocks - first < PANEL_BLOCKS ? a->blocks - first : PANEL_BLOCKS;
			for (size_t r = 0; r < count; r++)
				put_row(&p, r, (const uint8_t *)w->data + (row + r) * w->row_bytes, first, n, type, form);
			panel_mul(&p, a, y + row, stride, count, first, n, tiles[form]);
		}
	}
}

INLINE void mul_type(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to, uint32_t type,
		     enum block_kind kind, avx2_sum_fn *sum)
{
	size_t done;

	if (a->tokens > 1) {
		mul_panels(w, a, y, stride, from, to, type, kind);
		return;
	}
	done = sum ? sum(w, a, y, from, to) : 0;
	if (done < a->blocks || !done)
		mul_one(w, a, y, from, to, done, type, kind);
}

#define KERNEL(NAME, name, kind, ...) \
	void avx2_mul_##NAME(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to) \
	{ \
		mul_type(w, a, y, stride, from, to, GGUF_TYPE_##NAME, kind, avx2_sum_##NAME); \
	}
AVX2_INT_KERNELS(KERNEL)
#undef KERNEL

void avx2_mul_int(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	mul_type(w, a, y, stride, from, to, w->type, block_types[w->type].kind, NULL);
}
KERNEL_END
#endif
