/* SPDX-License-Identifier: MIT */
/* The tier, and what the processor can do at most. */
#ifdef __x86_64__
#include <cpuid.h>
#include "avxvnni.h"
#include "kernel/avx2/limits.h"

#ifdef AVXVNNI_KNOWN
/* __builtin_cpu_supports has no name for it in clang 14. */
static bool supported(void)
{
	unsigned a, b, c, d;

	return kernel_avx2.supported() && __get_cpuid_count(7, 0, &a, &b, &c, &d) && a >= 1 &&
	       __get_cpuid_count(7, 1, &a, &b, &c, &d) && a & 1 << 4;
}

#define KERNEL(NAME, row_tier) \
	static void mul_##NAME(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to) \
	{ \
		avx2_mul_by(w, a, y, stride, from, to, avxvnni_panels_##NAME, row_tier##_sum_##NAME, avx2_rest_##NAME); \
	}
#define SIGNED(NAME, ...) KERNEL(NAME, avxvnni)
#define UNSIGNED(NAME, ...) KERNEL(NAME, avx2)
AVX2_SIGNED_KERNELS(SIGNED) AVX2_UNSIGNED_KERNELS(UNSIGNED)
#undef KERNEL

static void mul_int(const struct mat *w, const struct act *a, float *y, size_t stride, size_t from, size_t to)
{
	avx2_mul_by(w, a, y, stride, from, to, avxvnni_panels_int, NULL, avx2_rest_int);
}

KERNEL_BEGIN(AVXVNNI_TARGET)
static uint64_t int_peak(size_t n)
{
	return chain_products(n, unsigned_products);
}
KERNEL_END

static const struct kernel_limits limits = { int_peak, avx2_float_peak, avx2_read };

const struct kernel_tier kernel_avxvnni = {
	.name = "avxvnni",
	.supported = supported,
	.limits = &limits,
	.mul_int = mul_int,
	.mul = {
#define KERNEL(NAME, ...) [GGUF_TYPE_##NAME] = mul_##NAME,
		AVX2_INT_KERNELS(KERNEL)
#undef KERNEL
	},
};
#else
static bool supported(void)
{
	return false;
}

const struct kernel_tier kernel_avxvnni = { .name = "avxvnni", .supported = supported };
#endif
#endif
