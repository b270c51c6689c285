/* SPDX-License-Identifier: MIT */
#ifdef __x86_64__
#include <immintrin.h>
#include "target.h"
#define LANES 16
#include "vec_type.h"

static bool supported(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}

KERNEL_BEGIN("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,f16c")
#include "vec_avx512.h"
#define VEC(name) name##_avx512
#include "vec_body.h"
#include "attend_body.h"
KERNEL_END

VEC_TIER(avx512, supported);
#endif
