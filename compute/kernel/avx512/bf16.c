/* SPDX-License-Identifier: MIT */
/* AVX-512 with products of BFloat16 (Cooper Lake, Zen 4 and later). */
#ifdef __x86_64__
#include "fold.h"
#include "kernel/flush.h"
#include "kernel/stream.h"

enum { VALUES = 32 };
enum float_type { AS_F32, AS_BF16 };

KERNEL_BEGIN(AVX512_TARGET ",avx512bf16")
INLINE void add_step(__m512 *acc, const uint8_t *w, size_t row_bytes, const uint8_t *x, size_t x_stride, size_t n,
		     enum float_type type, int R, int T)
{
	__m512bh v[4];

	(void)type;
	UNROLL
	for (int r = 0; r < R; r++) {
		const uint8_t *p = w + (size_t)r * row_bytes;

		if (n >= VALUES)
			v[r] = (__m512bh)_mm512_loadu_si512(p);
		else
			v[r] = (__m512bh)_mm512_maskz_loadu_epi16((__mmask32)((UINT32_C(1) << n) - 1), p);
	}
	UNROLL
	for (int t = 0; t < T; t++) {
		__m512bh xv = (__m512bh)_mm512_loadu_si512(x + (size_t)t * x_stride);

		UNROLL
		for (int r = 0; r < R; r++)
			acc[r * T + t] = _mm512_dpbf16_ps(acc[r * T + t], v[r], xv);
	}
}

#include "float_body.h"
EACH_FEW(FEW_FN, AS_BF16) EACH_TILE(TILE_FN, AS_BF16)

static uint64_t pair_peak(size_t n)
{
	enum { CHAINS = 12 };
	uint64_t done = (uint64_t)n * CHAINS * VALUES;
	__m512bh a = (__m512bh)_mm512_set1_epi32(0x3f003f00);
	__m512 s[CHAINS];

	UNROLL
	for (int k = 0; k < CHAINS; k++)
		s[k] = _mm512_set1_ps((float)k); /* alike, they would be computed once */
	__asm__ volatile("" : "+v"(a));
	for (; n; n--)
		UNROLL
		for (int k = 0; k < CHAINS; k++)
			s[k] = _mm512_dpbf16_ps(s[k], a, a);
	UNROLL
	for (int k = 0; k < CHAINS; k++)
		__asm__ volatile("" : : "v"(s[k]));
	return done;
}
KERNEL_END

static few_fn *const few[FEW] = { EACH_FEW(FEW_ENTRY, AS_BF16) };
static tile_fn *const tile[TOKENS] = { EACH_TILE(TILE_ENTRY, AS_BF16) };

static void mul_bf16(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	unsigned mode = flush_begin();

	mul_matrix(w, a, a->h, sizeof *a->h, y, stride, from, to, few, tile);
	flush_end(mode);
}

static bool supported(void)
{
	return kernel_avx512.supported() && __builtin_cpu_supports("avx512bf16");
}

const struct kernel_tier kernel_avx512bf16 = {
	.name = "avx512bf16",
	.supported = supported,
	.pair_peak = pair_peak,
	.mul = { [GGUF_TYPE_BF16] = mul_bf16 },
};
#endif
