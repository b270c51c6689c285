/* SPDX-License-Identifier: MIT */
/* AVX2 with vpdpbusd on registers of 32 bytes: Alder Lake, Sierra Forest and later, where there is no AVX-512. */
#ifndef KERNEL_AVXVNNI_H
#define KERNEL_AVXVNNI_H
#include "kernel/avx2/avx2.h"

/* What an older compiler makes has the name only. */
#if defined __clang__ ? __clang_major__ >= 12 : __GNUC__ >= 11
#define AVXVNNI_KNOWN
#endif
#define AVXVNNI_TARGET AVX2_TARGET ",avxvnni"

/* panel.c, row.c */
#define AVXVNNI_PANELS(NAME, ...) kernel_mul_fn avxvnni_panels_##NAME;
#define AVXVNNI_SUM(NAME, ...) avx2_sum_fn avxvnni_sum_##NAME;
AVX2_INT_KERNELS(AVXVNNI_PANELS) AVX2_SIGNED_KERNELS(AVXVNNI_SUM)
kernel_mul_fn avxvnni_panels_int;

#ifdef AVXVNNI_KNOWN
KERNEL_BEGIN(AVXVNNI_TARGET)
/* w has no sign. */
INLINE __m256i unsigned_products(__m256i s, __m256i w, __m256i x)
{
	return _mm256_dpbusd_avx_epi32(s, w, x);
}
KERNEL_END
#endif
#endif
