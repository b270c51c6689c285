/* SPDX-License-Identifier: MIT */
/* KERNEL_BEGIN("avx2,fma") .. KERNEL_END: what stands between is compiled for that ISA, whatever CFLAGS say. */
#ifndef KERNEL_TARGET_H
#define KERNEL_TARGET_H
#define KERNEL_STR(...) #__VA_ARGS__
#define KERNEL_PRAGMA(...) _Pragma(KERNEL_STR(__VA_ARGS__))
#ifdef __clang__
#define KERNEL_BEGIN(isa) KERNEL_PRAGMA(clang attribute push(__attribute__((target(isa))), apply_to = function))
#define KERNEL_END _Pragma("clang attribute pop")
#else
#define KERNEL_BEGIN(isa) _Pragma("GCC push_options") KERNEL_PRAGMA(GCC target(isa))
#define KERNEL_END _Pragma("GCC pop_options")
#endif
#endif
