/* SPDX-License-Identifier: MIT */
/* The tier, and what the processor can do at most. */
#ifdef __x86_64__
#include "limits.h"

KERNEL_BEGIN(AVX2_TARGET)
/* What the fastest kernels do most of. */
INLINE __m256i word_products(__m256i s, __m256i w, __m256i x)
{
	return _mm256_add_epi16(s, _mm256_maddubs_epi16(w, x));
}

static uint64_t int_peak(size_t n)
{
	return chain_products(n, word_products);
}

uint64_t avx2_float_peak(size_t n)
{
	__m256 s[10], a = _mm256_set1_ps(0.5f);

	UNROLL
	for (int k = 0; k < 10; k++)
		s[k] = _mm256_set1_ps((float)k);
	__asm__ volatile("" : "+x"(a));
	for (size_t i = 0; i < n; i++)
		UNROLL
		for (int k = 0; k < 10; k++)
			s[k] = _mm256_fmadd_ps(s[k], a, a);
	UNROLL
	for (int k = 0; k < 10; k++)
		__asm__ volatile("" : : "x"(s[k]));
	return (uint64_t)n * 10 * 8;
}

void avx2_read(const void *p, size_t n)
{
	const char *at = p;
	__m256i all = _mm256_setzero_si256();

	for (size_t i = 0; i + 64 <= n; i += 64)
		all = _mm256_or_si256(all, _mm256_or_si256(load32(at + i), load32(at + i + 32)));
	__asm__ volatile("" : : "x"(all));
}
KERNEL_END

static const struct kernel_limits limits = { int_peak, avx2_float_peak, avx2_read };

static bool supported(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const struct kernel_tier kernel_avx2 = {
	.name = "avx2",
	.supported = supported,
	.limits = &limits,
	.round = avx2_round,
	.mul_int = avx2_mul_int,
	.mul = {
#define KERNEL(NAME, ...) [GGUF_TYPE_##NAME] = avx2_mul_##NAME,
		AVX2_INT_KERNELS(KERNEL)
#undef KERNEL
		[GGUF_TYPE_F32] = avx2_mul_f32,
		[GGUF_TYPE_F16] = avx2_mul_f16,
		[GGUF_TYPE_BF16] = avx2_mul_bf16,
	},
};
#endif
