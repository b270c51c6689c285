/* SPDX-License-Identifier: MIT */
/*
 * Looks for values that no sound model has: NaN, Inf, and magnitudes that only damage makes. Plain float types are
 * looked at whole; of block types the scales are, since all else in a block is bounded integers.
 */
#include "scan.h"
#include "target.h"
#include <string.h>

enum form { NONE, F16, BF16, F32, F64, E8M0, UE4M3, IQ1M };

struct place {
	uint8_t form, count; /* so many scales in a row */
	uint16_t at;
};

/* Scales of a block; of plain types the value itself. */
static const struct place places[GGUF_TYPE_LIMIT] = {
#define P(type, form, count, at) [GGUF_TYPE_##type] = { form, count, at }
	P(F32, F32, 1, 0),      P(F64, F64, 1, 0),      P(F16, F16, 1, 0),      P(BF16, BF16, 1, 0),
	P(Q4_0, F16, 1, 0),     P(Q4_1, F16, 2, 0),     P(Q5_0, F16, 1, 0),     P(Q5_1, F16, 2, 0),
	P(Q8_0, F16, 1, 0),     P(Q8_1, F16, 1, 0),     P(Q2_K, F16, 2, 80),    P(Q3_K, F16, 1, 108),
	P(Q4_K, F16, 2, 0),     P(Q5_K, F16, 2, 0),     P(Q6_K, F16, 1, 208),   P(Q8_K, F32, 1, 0),
	P(IQ2_XXS, F16, 1, 0),  P(IQ2_XS, F16, 1, 0),   P(IQ2_S, F16, 1, 0),    P(IQ3_XXS, F16, 1, 0),
	P(IQ3_S, F16, 1, 0),    P(IQ1_S, F16, 1, 0),    P(IQ1_M, IQ1M, 1, 48),  P(IQ4_NL, F16, 1, 0),
	P(IQ4_XS, F16, 1, 0),   P(TQ1_0, F16, 1, 52),   P(TQ2_0, F16, 1, 64),   P(MXFP4, E8M0, 1, 0),
	P(NVFP4, UE4M3, 4, 0),  P(Q1_0, F16, 1, 0),     P(Q2_0, F16, 1, 0),
	P(I8, NONE, 1, 0),      P(I16, NONE, 1, 0),     P(I32, NONE, 1, 0),     P(I64, NONE, 1, 0),
#undef P
};

/* Of a form: its bytes, the bits of Inf, and the least magnitude that is called huge. */
static const struct form_fact {
	uint8_t width;
	uint64_t infinity, huge, mask;
} facts[] = {
	[F16] = { 2, 0x7c00, 0x6c00 /* 4096 */, 0x7fff },
	[BF16] = { 2, 0x7f80, 0x4b80 /* 2^24 */, 0x7fff },
	[F32] = { 4, 0x7f800000, 0x4b800000 /* 2^24 */, 0x7fffffff },
	[F64] = { 8, 0x7ff0000000000000, 0x4170000000000000 /* 2^24 */, 0x7fffffffffffffff },
	[E8M0] = { 1, 0xfe + 1 /* only NaN */, 127 + 24, 0xff },
	[UE4M3] = { 1, 0x80 /* none: 0x7f means NaN, but is read as 0 */, 0x7f, 0x7f },
	[IQ1M] = { 2, 0x7c00, 0x6c00, 0x7fff },
};

bool scan_counts_blocks(uint32_t type)
{
	return gguf_type_values(type) > 1;
}

static uint64_t load(const uint8_t *p, unsigned form)
{
	uint64_t v = 0;
	uint16_t s[4];

	if (form == IQ1M) { /* the scale is spread over the top bits of four words */
		memcpy(s, p, sizeof s);
		return (uint64_t)(s[0] >> 12 | (s[1] >> 8 & 0xf0) | (s[2] >> 4 & 0xf00) | (s[3] & 0xf000));
	}
	for (unsigned i = 0; i < facts[form].width; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v;
}

/* Plain floats are matrices and half may be large activations' weights; 65504 is as far as F16 goes. */
static uint64_t huge_of(uint32_t type, unsigned form)
{
	return form == F16 && !scan_counts_blocks(type) ? facts[form].infinity : facts[form].huge;
}

static void judge(struct tally *t, const struct form_fact *f, uint64_t v, uint64_t huge, uint64_t number)
{
	bool only_nan = f->width == 1;

	v &= f->mask;
	if (v < huge)
		return;
	if (v < f->infinity) {
		t->huge++;
		t->first_huge = number < t->first_huge ? number : t->first_huge;
		return;
	}
	if (v > f->infinity || only_nan)
		t->nan++;
	else
		t->inf++;
	t->first = number < t->first ? number : t->first;
}

/* ---- quick answers: does a run of blocks hold anything to judge? ---- */

enum {
	RUN = 256,    /* blocks, or plain values */
	AHEAD = 4096, /* bytes that memory is asked for before they are looked at: it stops calling in by itself at a page's end */
};

typedef uint32_t __attribute__((may_alias, aligned(1))) loose_u32;
typedef uint16_t __attribute__((may_alias, aligned(1))) loose_u16;

#define BODY static inline __attribute__((always_inline)) bool

BODY any_f32(const uint8_t *p, int32_t huge)
{
	const loose_u32 *v = (const loose_u32 *)p;
	int32_t most = 0;

	for (int i = 0; i < RUN; i++) {
		int32_t m = (int32_t)(v[i] & 0x7fffffff);

		most = m > most ? m : most;
	}
	return most >= huge;
}

BODY any_u16(const uint8_t *p, int16_t huge)
{
	const loose_u16 *v = (const loose_u16 *)p;
	int16_t most = 0;

	for (int i = 0; i < RUN; i++) {
		int16_t m = (int16_t)(v[i] & 0x7fff);

		most = m > most ? m : most;
	}
	return most >= huge;
}

/* Halves at fixed places of RUN blocks. A sum has its top bit exactly where the magnitude is huge or more. */
BODY any_half(const uint8_t *p, size_t block, uint16_t huge)
{
	const uint32_t more = 0x8000u - huge;
	uint32_t any = 0;

	for (int i = 0; i < RUN; i += 4, p += 4 * block) {
		for (size_t line = 0; line < 4 * block; line += 64)
			__builtin_prefetch(p + AHEAD + line);
		any |= ((*(const loose_u16 *)p & 0x7fffu) + more) |
		       ((*(const loose_u16 *)(p + block) & 0x7fffu) + more) |
		       ((*(const loose_u16 *)(p + 2 * block) & 0x7fffu) + more) |
		       ((*(const loose_u16 *)(p + 3 * block) & 0x7fffu) + more);
	}
	return any & 0x8000;
}

static bool any_scale(const uint8_t *p, size_t block, unsigned count, uint16_t huge)
{
	return any_half(p, block, huge) || (count > 1 && any_half(p + 2, block, huge));
}

/* One body, for the compiler's own ISA and for vectors twice as wide. */
#define VARIANT(isa) \
	static bool any_f32_##isa(const uint8_t *p, int32_t huge) { return any_f32(p, huge); } \
	static bool any_u16_##isa(const uint8_t *p, int16_t huge) { return any_u16(p, huge); }
VARIANT(plain)
#ifdef __x86_64__
KERNEL_BEGIN("avx2")
VARIANT(avx2)
KERNEL_END
#define BEST(f) (__builtin_cpu_supports("avx2") ? f##_avx2 : f##_plain)
#else
#define BEST(f) f##_plain
#endif

static bool is_quiet(const uint8_t *p, const struct place *w, size_t block, uint64_t huge)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	if (w->form == F32 && block == 4)
		return !BEST(any_f32)(p, (int32_t)huge);
	if ((w->form == F16 || w->form == BF16) && block == 2)
		return !BEST(any_u16)(p, (int16_t)huge);
	if (w->form == F16)
		return !any_scale(p + w->at, block, w->count, (uint16_t)huge);
#endif
	return false;
}

bool scan_blocks(uint32_t type, const void *blocks, size_t n, uint64_t start, struct tally *t)
{
	size_t block = gguf_type_bytes(type), count = block ? n / block : 0;
	const struct place *w = type < GGUF_TYPE_LIMIT ? &places[type] : NULL;
	const uint8_t *p = blocks;
	uint64_t huge;

	if (!block || !w->count)
		return false;
	if (w->form == NONE)
		return true;
	huge = huge_of(type, w->form);
	for (size_t i = 0; i < count; i++) {
		if (i % RUN == 0 && count - i >= RUN && is_quiet(p + i * block, w, block, huge)) {
			i += RUN - 1;
			continue;
		}
		for (unsigned k = 0; k < w->count; k++)
			judge(t, &facts[w->form], load(p + i * block + w->at + k * facts[w->form].width, w->form), huge,
			      start + i);
	}
	return true;
}
