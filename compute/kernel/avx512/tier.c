/* SPDX-License-Identifier: MIT */
/* AVX-512 with VNNI: Ice Lake, Zen 4 and later. */
#ifdef __x86_64__
#include "avx512.h"
#include "kernel/avx2/avx2.h"

static bool supported(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("fma");
}

const struct kernel_tier kernel_avx512 = {
	.name = "avx512",
	.supported = supported,
	.limits = &avx512_limits,
	.quantize = avx512_quantize,
	.mul_int = avx512_mul_int,
	.mul_float = avx512_mul_float,
	.mul = {
		[GGUF_TYPE_Q8_0] = avx512_mul_q8_0,
		[GGUF_TYPE_Q4_0] = avx512_mul_q4_0,
		[GGUF_TYPE_IQ4_NL] = avx512_mul_iq4_nl,
		[GGUF_TYPE_MXFP4] = avx512_mul_mxfp4,
		[GGUF_TYPE_Q4_K] = avx512_mul_q4_k,
		[GGUF_TYPE_Q5_K] = avx512_mul_q5_k,
		[GGUF_TYPE_Q6_K] = avx512_mul_q6_k,
		[GGUF_TYPE_IQ4_XS] = avx512_mul_iq4_xs,
		[GGUF_TYPE_F32] = avx512_mul_f32,
		[GGUF_TYPE_F16] = avx512_mul_f16,
		[GGUF_TYPE_BF16] = avx2_mul_bf16,
	},
};
#endif
